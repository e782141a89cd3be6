/// Who may join a thread.
public enum ThreadPolicy: String, CaseIterable, Hashable, Sendable, Codable {
    /// Every user who knows the thread's id may join.
    case open
    /// Users who live in the thread's outward code may join; the policy of exactly these threads.
    case residents
    /// Users with an invitation may join.
    case inviteOnly
    /// Every user may join, and finds the thread in the directory.
    case listed
}

/// The posts of a thread that users who join it may read.
///
/// The history at the join counts: a later change does not concern who is a member.
public enum ThreadHistory: String, CaseIterable, Hashable, Sendable, Codable {
    /// Members may read every post.
    case all
    /// Members may read the messages after their latest join, and the replies to those.
    case sinceJoining
}

/// A member's role in a thread; a later case has the rights of the earlier ones.
public enum ThreadRole: String, CaseIterable, Hashable, Sendable, Codable, Comparable {
    /// Reads and posts.
    case member
    /// Moderates the posts and the members.
    case moderator
    /// Moderates, gives roles and closes the thread.
    case owner

    /// Compares roles by their rights.
    public static func < (first: ThreadRole, second: ThreadRole) -> Bool { first.code < second.code }
}

extension ThreadPolicy {
    /// The policy's number in the encoding of an event.
    package var code: UInt64 {
        switch self {
        case .open: 0
        case .inviteOnly: 1
        case .residents: 2
        case .listed: 3
        }
    }

    package init?(code: UInt64) {
        guard let policy = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = policy
    }
}

extension ThreadHistory {
    /// The history's number in the encoding of an event.
    package var code: UInt64 { self == .all ? 0 : 1 }

    package init?(code: UInt64) {
        guard let history = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = history
    }
}

extension ThreadRole {
    /// The role's number in the encoding of an event.
    package var code: UInt64 {
        switch self {
        case .member: 1
        case .moderator: 2
        case .owner: 3
        }
    }

    package init?(code: UInt64) {
        guard let role = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = role
    }
}
