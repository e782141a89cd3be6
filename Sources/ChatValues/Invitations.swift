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
