public import ChatDomain
import Primitives

/// A block of a user, as the user who blocks is shown it.
///
/// Without the name: one may block a user whom one is not shown, or no longer.
public struct UserBlock: Hashable, Sendable, Codable {
    /// The user who is blocked.
    public var user: UserID
    /// The position of the block; the key of pagination.
    public var since: Position

    /// Creates a block, for example in a test.
    public init(user: UserID, since: Position) { (self.user, self.since) = (user, since) }
}
