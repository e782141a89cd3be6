public import ChatDomain

/// A user's id and present name, as they stand beside what the user wrote.
public struct UserSummary: Hashable, Sendable, Codable {
    /// The id.
    public var id: UserID
    /// nil if the name has been erased.
    public var username: String?

    private enum CodingKeys: CodingKey { case id, username }

    /// Writes the fields; a name that is not there is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(username, forKey: .username)
    }
}

/// A message of a timeline, as it is to be shown.
public struct TimelineEntry: Hashable, Sendable, Codable, Identifiable {
    /// Where the message was posted: the key of pages.
    public var position: Position
    /// The id.
    public var id: MessageID
    /// The thread.
    public var thread: ThreadID
    /// Who wrote it.
    public var author: UserSummary
    /// nil if the message was retracted, its text erased, or, as of an earlier moment, if another than the viewer has edited or retracted it since.
    public var body: String?
    /// When it was created, as shown.
    public var createdAt: Timestamp
    /// When it was edited last, nil if never.
    public var editedAt: Timestamp?
    /// Whether it was retracted.
    public var isRetracted: Bool
    /// How many replies there are that are not retracted.
    public var replyCount: Int

    private enum CodingKeys: String, CodingKey {
        case position, id, thread, author, body, createdAt, editedAt
        case isRetracted = "retracted"
        case replyCount
    }

    /// Writes every field; what is not there is null.
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

/// A reply to a message, as it is to be shown.
public struct ReplyEntry: Hashable, Sendable, Codable, Identifiable {
    /// Where the reply was posted: the key of pages.
    public var position: Position
    /// The id.
    public var id: ReplyID
    /// The message.
    public var message: MessageID
    /// Who wrote it.
    public var author: UserSummary
    /// nil if the reply was retracted, its text erased, or, as of an earlier moment, if another than the viewer has edited or retracted it since.
    public var body: String?
    /// When it was created, as shown.
    public var createdAt: Timestamp
    /// When it was edited last, nil if never.
    public var editedAt: Timestamp?
    /// Whether it was retracted.
    public var isRetracted: Bool

    private enum CodingKeys: String, CodingKey {
        case position, id, message, author, body, createdAt, editedAt
        case isRetracted = "retracted"
    }

    /// Writes every field; what is not there is null.
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
    /// nil if the name has been erased.
    public var name: String?
    /// The outward code whose thread it is, nil for a named thread.
    public var outwardCode: OutwardCode?
    /// How many members it has now.
    public var members: Int
    /// How many messages its timeline shows, retracted ones included, replies not.
    public var messages: Int
    /// The position of its latest event, read markers aside: the key of pages.
    public var lastPosition: Position
    /// When it was created, as shown.
    public var createdAt: Timestamp

    private enum CodingKeys: CodingKey { case id, name, outwardCode, members, messages, lastPosition, createdAt }

    /// Writes every field; what is not there is null.
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
