public import ChatDomain
import EventJournal
import Projections

/// A message or a reply with its history: where it stands, who wrote it, what was changed, and who could read it when it was posted.
public struct PostDetails: Hashable, Sendable, Encodable {
    /// Where the post was posted.
    public var position: Position
    /// Which post it is.
    public var post: PostID
    /// The thread.
    public var thread: ThreadID
    /// The thread's name, nil if it has been erased.
    public var threadName: String?
    /// The message that a reply answers, nil for a message.
    public var answered: MessageID?
    /// Who wrote it.
    public var author: UserSummary
    /// The text, nil as in ``TimelineEntry/body``.
    public var body: String?
    /// When it was created, as shown.
    public var createdAt: Timestamp
    /// When it was edited last, nil if never.
    public var editedAt: Timestamp?
    /// Whether it was retracted.
    public var isRetracted: Bool
    /// How many replies exist that are not retracted; 0 for a reply.
    public var replyCount: Int
    /// The event that posted it, its latest edits and its retraction, as the viewer is shown them, oldest first.
    public var history: [RecordedEvent]
    /// The users who could read it when it was posted, in the order in which they joined; nil for a viewer, whom this is not told.
    public var readers: [ThreadMember]?

    private enum CodingKeys: String, CodingKey {
        case position, id, thread, threadName, message, author, body, createdAt, editedAt
        case isRetracted = "retracted"
        case replyCount, history, readers
    }

    /// Writes every field, ``post`` as `id` and ``answered`` as `message`; what is not there is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        switch post {
        case .message(let id): try container.encode(id, forKey: .id)
        case .reply(let id): try container.encode(id, forKey: .id)
        }
        try container.encode(thread, forKey: .thread)
        try container.encode(threadName, forKey: .threadName)
        try container.encode(answered, forKey: .message)
        try container.encode(author, forKey: .author)
        try container.encode(body, forKey: .body)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(editedAt, forKey: .editedAt)
        try container.encode(isRetracted, forKey: .isRetracted)
        try container.encode(replyCount, forKey: .replyCount)
        try container.encode(history, forKey: .history)
        try container.encode(readers, forKey: .readers)
    }
}
