public import ChatDomain
import EventJournal
import Projections

/// A message or a reply with its full history and the users who could read it when it was posted.
public struct PostDetails: Hashable, Sendable, Encodable {
    /// The position of the event that posted it.
    public var position: Position
    /// The id of the message or reply.
    public var post: PostID
    /// The thread.
    public var thread: ThreadID
    /// The thread's name; nil if erased.
    public var threadName: String?
    /// The message that a reply answers; nil for a message.
    public var answeredMessage: MessageID?
    /// The author.
    public var author: UserSummary
    /// The text; nil in the same cases as ``TimelineEntry/body``.
    public var body: String?
    /// The display time of creation.
    public var createdAt: Timestamp
    /// The time of the latest edit; nil if never edited.
    public var editedAt: Timestamp?
    /// Whether its author retracted it.
    public var isRetracted: Bool
    /// Whether a moderator removed it; the history has the event, and for moderators the text.
    public var isRemoved = false
    /// Whether the viewer has blocked its author.
    public var isFromBlockedUser = false
    /// The number of replies that are neither retracted nor removed; 0 for a reply.
    public var replyCount: Int
    /// The events that posted, edited, retracted and removed it, oldest first, redacted for the
    /// viewer.
    ///
    /// Limited to the latest edits.
    public var history: [RecordedEvent]
    /// The users who could read the post when it was posted, in joining order; nil for a viewer.
    public var readers: [ThreadMember]?

    private enum CodingKeys: String, CodingKey {
        case position, id, thread, threadName, message, author, body, createdAt, editedAt
        case isRetracted = "retracted"
        case isRemoved = "removed"
        case isFromBlockedUser = "blocked"
        case replyCount, history, readers
    }

    /// Encodes every field, ``post`` as `id` and ``answeredMessage`` as `message`; absent values
    /// are null, and `removed` and `blocked` are encoded only if they are true.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        switch post {
        case .message(let id): try container.encode(id, forKey: .id)
        case .reply(let id): try container.encode(id, forKey: .id)
        }
        try container.encode(thread, forKey: .thread)
        try container.encode(threadName, forKey: .threadName)
        try container.encode(answeredMessage, forKey: .message)
        try container.encode(author, forKey: .author)
        try container.encode(body, forKey: .body)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(editedAt, forKey: .editedAt)
        try container.encode(isRetracted, forKey: .isRetracted)
        if isRemoved { try container.encode(true, forKey: .isRemoved) }
        if isFromBlockedUser { try container.encode(true, forKey: .isFromBlockedUser) }
        try container.encode(replyCount, forKey: .replyCount)
        try container.encode(history, forKey: .history)
        try container.encode(readers, forKey: .readers)
    }
}
