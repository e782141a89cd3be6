public import ChatDomain
import Primitives

/// An invitation to a thread that the user has neither accepted nor declined.
///
/// One by a user whom the viewer blocks is listed with a mark, and a client of the invited user
/// counts it nowhere.
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
    /// Whether the viewer has blocked the user who invited.
    public var isFromBlockedUser = false

    /// Creates an invitation, for example in a test.
    public init(
        thread: ThreadID, name: String? = nil, user: UserSummary, by: UserSummary, position: Position,
        invitedAt: Timestamp,
        isFromBlockedUser: Bool = false
    ) {
        (self.thread, self.name, self.user, self.by, self.position, self.invitedAt, self.isFromBlockedUser) = (
            thread, name, user, by, position, invitedAt, isFromBlockedUser
        )
    }

    private enum CodingKeys: String, AbsentAsNullKey {
        case thread, name, user, by, position, invitedAt
        case isFromBlockedUser = "blocked"
        static let omittedIfFalse = [isFromBlockedUser]
    }
}

extension ThreadInvitation: PageEntry {
    /// The position that bounds its pages: ``position``.
    public var pageKey: Position { position }
}

/// The invitations of a user, oldest first.
public struct InvitationsQuery: OwnQuery, PageQuery {
    /// The answer.
    public typealias Answer = Page<ThreadInvitation>
    /// The name and the path.
    public static let name = "invitations", path = "/v1/invitations"

    /// The user who is invited; nil for the viewer.
    public var user: UserID?
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(user: UserID? = nil, page: PageRequest = .latest()) { (self.user, self.page) = (user, page) }

    private enum CodingKeys: CodingKey { case page }
}

/// The invitations to a thread, oldest first; for its moderators.
public struct ThreadInvitationsQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<ThreadInvitation>
    /// The name and the path.
    public static let name = "threadInvitations", path = "/v1/threads/{thread}/invitations"

    /// The thread.
    public var thread: ThreadID
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(thread: ThreadID, page: PageRequest = .latest()) { (self.thread, self.page) = (thread, page) }
}
