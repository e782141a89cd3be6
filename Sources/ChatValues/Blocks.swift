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

extension UserBlock: PageEntry {
    /// The position that bounds its pages: ``since``.
    public var pageKey: Position { since }
}

/// The users whom a user has blocked, in the order of the blocks.
public struct BlocksQuery: OwnQuery, PageQuery {
    /// The answer.
    public typealias Answer = Page<UserBlock>
    /// The name and the path.
    public static let name = "blocks", path = "/v1/me/blocks"

    /// The user who blocks; nil for the viewer.
    public var user: UserID?
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(user: UserID? = nil, page: PageRequest = .latest()) { (self.user, self.page) = (user, page) }

    private enum CodingKeys: CodingKey { case page }
}
