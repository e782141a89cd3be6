public import ChatDomain

/// An open report of a message or a reply.
public struct PostReport: Hashable, Sendable, Codable {
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

    /// Creates a report, for example in a test.
    public init(
        position: Position, post: PostID, author: UserSummary, body: String? = nil, isRemoved: Bool, by: UserSummary,
        reason: String? = nil,
        reportedAt: Timestamp
    ) {
        (self.position, self.post, self.author, self.body, self.isRemoved, self.by, self.reason, self.reportedAt) = (
            position, post, author, body, isRemoved, by, reason, reportedAt
        )
    }

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
        try container.encode(post.idText, forKey: post.isReply ? .reply : .message)
        try container.encode(author, forKey: .author)
        try container.encode(body, forKey: .body)
        if isRemoved { try container.encode(true, forKey: .isRemoved) }
        try container.encode(by, forKey: .by)
        try container.encode(reason, forKey: .reason)
        try container.encode(reportedAt, forKey: .reportedAt)
    }

    /// Decodes the form that `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            position: try container.decode(Position.self, forKey: .position),
            post: try container.decodeIfPresent(MessageID.self, forKey: .message).map(PostID.message)
                ?? .reply(container.decode(ReplyID.self, forKey: .reply)),
            author: try container.decode(UserSummary.self, forKey: .author),
            body: try container.decodeIfPresent(String.self, forKey: .body),
            isRemoved: try container.decodeIfPresent(Bool.self, forKey: .isRemoved) ?? false,
            by: try container.decode(UserSummary.self, forKey: .by),
            reason: try container.decodeIfPresent(String.self, forKey: .reason),
            reportedAt: try container.decode(Timestamp.self, forKey: .reportedAt))
    }
}

extension PostReport: PageEntry {
    /// The position that bounds its pages: ``position``.
    public var pageKey: Position { position }
}

/// The open reports of a thread's posts, oldest first; for its moderators.
public struct ReportsQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<PostReport>
    /// The name and the path.
    public static let name = "reports", path = "/v1/threads/{thread}/reports"

    /// The thread.
    public var thread: ThreadID
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(thread: ThreadID, page: PageRequest = .latest()) { (self.thread, self.page) = (thread, page) }
}
