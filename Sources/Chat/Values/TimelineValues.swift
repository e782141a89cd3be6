public import ChatDomain

/// A user's id and current name, shown beside the user's posts.
public struct UserSummary: Hashable, Sendable, Codable {
    /// The id.
    public var id: UserID
    /// The current name; nil if erased.
    public var username: String?

    private enum CodingKeys: CodingKey { case id, username }

    /// Encodes both fields; an erased name is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(username, forKey: .username)
    }
}

/// A message of a timeline, ready for display.
public struct TimelineEntry: Hashable, Sendable, Codable, Identifiable {
    /// The position of the event that posted it; the key of pagination.
    public var position: Position
    /// The id.
    public var id: MessageID
    /// The thread.
    public var thread: ThreadID
    /// The author.
    public var author: UserSummary
    /// The text; nil if it is retracted, erased or withheld from the viewer.
    ///
    /// A query as of an earlier point withholds a text that another user has edited or retracted
    /// since.
    public var body: String?
    /// The display time of creation.
    public var createdAt: Timestamp
    /// The time of the latest edit; nil if never edited.
    public var editedAt: Timestamp?
    /// Whether it was retracted.
    public var isRetracted: Bool
    /// The number of replies that are not retracted.
    public var replyCount: Int

    private enum CodingKeys: String, CodingKey {
        case position, id, thread, author, body, createdAt, editedAt
        case isRetracted = "retracted"
        case replyCount
    }

    /// Encodes every field; absent values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        try container.encode(id, forKey: .id)
        try container.encode(thread, forKey: .thread)
        try container.encode(author, forKey: .author)
        try container.encode(body, forKey: .body)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(editedAt, forKey: .editedAt)
        try container.encode(isRetracted, forKey: .isRetracted)
        try container.encode(replyCount, forKey: .replyCount)
    }
}

/// A reply to a message, ready for display.
public struct ReplyEntry: Hashable, Sendable, Codable, Identifiable {
    /// The position of the event that posted it; the key of pagination.
    public var position: Position
    /// The id.
    public var id: ReplyID
    /// The message that it answers.
    public var message: MessageID
    /// The author.
    public var author: UserSummary
    /// The text; nil if it is retracted, erased or withheld from the viewer.
    ///
    /// A query as of an earlier point withholds a text that another user has edited or retracted
    /// since.
    public var body: String?
    /// The display time of creation.
    public var createdAt: Timestamp
    /// The time of the latest edit; nil if never edited.
    public var editedAt: Timestamp?
    /// Whether it was retracted.
    public var isRetracted: Bool

    private enum CodingKeys: String, CodingKey {
        case position, id, message, author, body, createdAt, editedAt
        case isRetracted = "retracted"
    }

    /// Encodes every field; absent values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        try container.encode(id, forKey: .id)
        try container.encode(message, forKey: .message)
        try container.encode(author, forKey: .author)
        try container.encode(body, forKey: .body)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(editedAt, forKey: .editedAt)
        try container.encode(isRetracted, forKey: .isRetracted)
    }
}

/// A thread in the list of threads.
public struct ThreadSummary: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: ThreadID
    /// The name; nil if erased.
    public var name: String?
    /// The outward code of a postcode thread; nil for a named thread.
    public var outwardCode: OutwardCode?
    /// The current number of members.
    public var members: Int
    /// The number of messages in the timeline, including retracted ones and excluding replies.
    public var messages: Int
    /// The position of the latest event other than a read marker; the key of pagination.
    public var lastPosition: Position
    /// The display time of creation.
    public var createdAt: Timestamp

    private enum CodingKeys: CodingKey { case id, name, outwardCode, members, messages, lastPosition, createdAt }

    /// Encodes every field; absent values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(outwardCode, forKey: .outwardCode)
        try container.encode(members, forKey: .members)
        try container.encode(messages, forKey: .messages)
        try container.encode(lastPosition, forKey: .lastPosition)
        try container.encode(createdAt, forKey: .createdAt)
    }
}
