public import ChatDomain
import Primitives

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
