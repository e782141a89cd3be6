public import ChatDomain
import Primitives

/// A listed thread, which every user may join who is not banned from it.
public struct DirectoryEntry: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: ThreadID
    /// The name; nil if erased.
    public var name: String?
    /// The number of members.
    public var memberCount: Int
    /// The display time of the latest message or reply, also of a withdrawn one; nil if there is
    /// none.
    public var latestPostAt: Timestamp?
    /// The position of the latest post or, if there is none, of the opening; the key of pagination.
    public var position: Position

    /// Creates an entry, for example in a test.
    public init(id: ThreadID, name: String? = nil, memberCount: Int, latestPostAt: Timestamp? = nil, position: Position)
    {
        (self.id, self.name, self.memberCount, self.latestPostAt, self.position) = (
            id, name, memberCount, latestPostAt, position
        )
    }

    private enum CodingKeys: String, AbsentAsNullKey {
        case id, name
        case memberCount = "members"
        case latestPostAt, position
    }
}

extension DirectoryEntry: PageEntry {
    /// The position that bounds its pages: ``position``.
    public var pageKey: Position { position }
}

/// The threads that every user may find, ordered by their latest post.
public struct DirectoryQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<DirectoryEntry>
    /// The name and the path.
    public static let name = "directory", path = "/v1/directory"

    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(page: PageRequest = .latest()) { self.page = page }
}
