public import ChatDomain
import Primitives

/// A mute or a ban of a user in a thread.
public struct ThreadSanction: Hashable, Sendable, Codable {
    /// The kinds of sanction.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The user cannot post, reply, edit or append custom events.
        case mute
        /// The user is no member and cannot join.
        case ban
    }

    /// The user.
    public var user: UserSummary
    /// The kind of sanction.
    public var kind: Kind
    /// The position of its event.
    public var position: Position
    /// The time of its event.
    public var imposedAt: Timestamp
    /// The end; nil if it does not end by itself.
    public var until: Timestamp?
    /// The user who imposed it.
    public var by: UserSummary
    /// The reason; nil if erased.
    public var reason: String?

    /// Creates a sanction, for example in a test.
    public init(
        user: UserSummary, kind: Kind, position: Position, imposedAt: Timestamp, until: Timestamp? = nil,
        by: UserSummary,
        reason: String? = nil
    ) {
        (self.user, self.kind, self.position, self.imposedAt, self.until, self.by, self.reason) = (
            user, kind, position, imposedAt, until, by, reason
        )
    }

    private enum CodingKeys: AbsentAsNullKey { case user, kind, position, imposedAt, until, by, reason }
}

/// A user's standing in a thread: the role, what moderators have done to the user, and what
/// notifies them.
///
/// It is for the user, also if they can no longer read the thread, so that a page can say why. It
/// contains nothing else of the thread.
public struct ThreadStanding: Hashable, Sendable, Codable {
    /// What a moderator did to the user.
    public struct Act: Hashable, Sendable, Codable {
        /// The position of its event.
        public var position: Position
        /// The time of its event.
        public var imposedAt: Timestamp
        /// The end; nil if it does not end by itself.
        public var until: Timestamp?
        /// The reason; nil if erased.
        public var reason: String?

        /// Creates an act, for example in a test.
        public init(position: Position, imposedAt: Timestamp, until: Timestamp? = nil, reason: String? = nil) {
            (self.position, self.imposedAt, self.until, self.reason) = (position, imposedAt, until, reason)
        }

        private enum CodingKeys: AbsentAsNullKey { case position, imposedAt, until, reason }
    }

    /// The role; nil if the user is no member.
    public var role: ThreadRole?
    /// The position since which the user has the role.
    public var since: Position?
    /// The mute that is in effect.
    public var mute: Act?
    /// The ban that is in effect.
    public var ban: Act?
    /// The removal that ended the latest membership; nil for a member, and for a user who left.
    public var removal: Act?
    /// What of the thread notifies the user, who may have left it.
    public var notifications: ThreadNotifications
    /// The people of a direct thread, with whom a user who has left opens it again; nil for another
    /// thread.
    public var people: [UserID]?

    /// Creates a standing, for example in a test.
    public init(
        role: ThreadRole? = nil, since: Position? = nil, mute: Act? = nil, ban: Act? = nil, removal: Act? = nil,
        notifications: ThreadNotifications = ThreadNotifications(), people: [UserID]? = nil
    ) {
        (self.role, self.since, self.mute, self.ban, self.removal) = (role, since, mute, ban, removal)
        (self.notifications, self.people) = (notifications, people)
    }

    private enum CodingKeys: AbsentAsNullKey {
        case role, since, mute, ban, removal, notifications, people
        static let omittedIfNil = [people]
    }
}

extension ThreadSanction: PageEntry {
    /// The position that bounds its pages: ``position``.
    public var pageKey: Position { position }
}

/// The mutes and bans of a thread that are in effect, oldest first; for its moderators.
public struct SanctionsQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<ThreadSanction>
    /// The name and the path.
    public static let name = "sanctions", path = "/v1/threads/{thread}/sanctions"

    /// The thread.
    public var thread: ThreadID
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(thread: ThreadID, page: PageRequest = .latest()) { (self.thread, self.page) = (thread, page) }
}

/// A user's standing in a thread.
public struct StandingQuery: OwnQuery {
    /// The answer.
    public typealias Answer = ThreadStanding
    /// The name and the path.
    public static let name = "standing", path = "/v1/threads/{thread}/standing"

    /// The thread.
    public var thread: ThreadID
    /// The user whose standing it is; nil for the viewer.
    public var user: UserID?

    /// Creates the query.
    public init(thread: ThreadID, user: UserID? = nil) { (self.thread, self.user) = (thread, user) }

    private enum CodingKeys: CodingKey { case thread }
}
