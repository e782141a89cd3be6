public import ChatDomain
import Primitives

/// A moderator or an owner of a thread.
public struct RoleHolder: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserSummary
    /// The role.
    public var role: ThreadRole
    /// The position of the event that gave the role.
    public var since: Position
}

/// An operator of the community.
public struct CommunityOperator: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserSummary
    /// The position of the event that made the user an operator.
    public var since: Position
}

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

    private enum CodingKeys: AbsentAsNullKey { case user, kind, position, imposedAt, until, by, reason }
}

/// A user's standing in a thread: the role, and what moderators have done to the user.
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

    private enum CodingKeys: AbsentAsNullKey { case role, since, mute, ban, removal }
}

/// An open report of a message or a reply.
public struct PostReport: Hashable, Sendable, Encodable {
    /// The position of the report.
    public var position: Position
    /// The message or the reply.
    public var post: PostID
    /// The author of the post.
    public var author: UserSummary
    /// The text of the post, also if it was removed since; nil if it is retracted or erased.
    public var body: String?
    /// Whether a moderator removed the post.
    public var isRemoved: Bool
    /// The user who reported it.
    public var by: UserSummary
    /// The reason; nil if erased.
    public var reason: String?
    /// The time of the report.
    public var reportedAt: Timestamp

    private enum CodingKeys: String, CodingKey {
        case position, message, reply, author, body
        case isRemoved = "removed"
        case by, reason, reportedAt
    }

    /// Encodes ``post`` as `message` or `reply`, ``isRemoved`` only if it is true, and every other
    /// field; absent values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        switch post {
        case .message(let id): try container.encode(id, forKey: .message)
        case .reply(let id): try container.encode(id, forKey: .reply)
        }
        try container.encode(author, forKey: .author)
        try container.encode(body, forKey: .body)
        if isRemoved { try container.encode(true, forKey: .isRemoved) }
        try container.encode(by, forKey: .by)
        try container.encode(reason, forKey: .reason)
        try container.encode(reportedAt, forKey: .reportedAt)
    }
}

/// An invitation to a thread that the user has neither accepted nor declined.
///
/// One by a user whom the invited user blocks is listed with a mark, and a client counts it nowhere.
public struct ThreadInvitation: Hashable, Sendable, Codable {
    /// The thread.
    public var thread: ThreadID
    /// The thread's name; nil if erased.
    public var name: String?
    /// The user who is invited.
    public var user: UserSummary
    /// The user who invited.
    public var by: UserSummary
    /// The position of the invitation.
    public var position: Position
    /// The time of the invitation.
    public var invitedAt: Timestamp
    /// Whether the viewer, who is the invited user, has blocked the user who invited.
    public var isFromBlockedUser = false

    private enum CodingKeys: String, AbsentAsNullKey {
        case thread, name, user, by, position, invitedAt
        case isFromBlockedUser = "blocked"
        static let omittedIfFalse = [isFromBlockedUser]
    }
}
