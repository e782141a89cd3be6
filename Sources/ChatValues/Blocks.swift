public import ChatDomain
import Primitives

/// A block of a user, as the user who blocks is shown it.
public struct UserBlock: Hashable, Sendable, Codable {
    /// The user who is blocked.
    public var user: UserSummary
    /// The position of the block; the key of pagination.
    public var since: Position

    /// Creates a block, for example in a test.
    public init(user: UserSummary, since: Position) { (self.user, self.since) = (user, since) }
}
