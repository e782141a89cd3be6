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

extension ChatStore {
    /// A message or a reply with its history.
    ///
    /// - Parameters:
    ///   - post: The message or the reply.
    ///   - limit: How many edits the history shows at most, the latest ones.
    ///   - viewer: Who asks, nil for the operator, who is also told who could read the post when it was posted.
    ///   - moment: What came later is not shown.
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownMessage` or `unknownReply`; with a viewer also `unknownUser` and `notAMember`;
    ///   ``ChatError/journal(_:)`` if the journal cannot be read.
    /// - Complexity: O(log *n* + *m*) in the messages of the thread and in the edits and readers.
    public func details(
        of post: PostID, edits limit: Int = 50, viewer: UserID? = nil, asOf moment: AsOf = .now
    ) throws(ChatError) -> PostDetails {
        let (found, sections) = try sections(moment, for: viewer) { models, view throws(ChatError) in
            try Found(post, limit, in: models, from: view)
        }
        var history: [RecordedEvent] = []
        for position in found.changes {
            let recorded = RecordedEvent(position: position, event: try event(at: position))
            if let shown = shown(recorded, through: EventFilter(viewer: viewer)) { history.append(shown) }
        }
        let messages = try entries(found.message, in: found.thread)
        let replies = try entries(found.reply, to: found.answered)
        guard let position = messages.first?.position ?? replies.first?.position,
            let author = messages.first?.author ?? replies.first?.author,
            let createdAt = messages.first?.createdAt ?? replies.first?.createdAt
        else { preconditionFailure("a post that was found has an entry") }
        return PostDetails(
            position: position, post: post, thread: found.thread, threadName: found.threadName,
            answered: replies.isEmpty ? nil : found.answered, author: author, body: messages.first?.body ?? replies.first?.body,
            createdAt: createdAt, editedAt: messages.first?.editedAt ?? replies.first?.editedAt,
            isRetracted: messages.first?.isRetracted ?? replies.first?.isRetracted ?? false, replyCount: messages.first?.replyCount ?? 0,
            history: history,
            readers: found.memberships.map { sections.readers(of: found.thread, $0, asOf: position) })
    }
}

/// What the read models know of a post.
private struct Found {
    let thread: ThreadID
    let threadName: String?
    /// The message itself, or the one that the reply answers.
    let answered: MessageID
    /// The row of a message, or else of a reply.
    let message: [PostRecord<MessageID>]
    let reply: [PostRecord<ReplyID>]
    /// The positions of the events of its history.
    let changes: [Position]
    /// The memberships of the thread, for the operator.
    let memberships: Scan?

    init(_ post: PostID, _ limit: Int, in models: borrowing ReadModels, from view: Viewpoint) throws(ChatError) {
        let now = view.position
        let posted: Position
        switch post {
        case .message(let id):
            guard let row = models.message(id, asOf: now) else { throw .rejected(.unknownMessage) }
            (answered, message, reply, posted) = (id, models.withheld([row], from: view), [], row.position)
        case .reply(let id):
            guard let row = models.reply(id, asOf: now), let answered = models.message(answeredBy: id, asOf: now) else {
                throw .rejected(.unknownReply)
            }
            (self.answered, message, reply, posted) = (answered, [], models.withheld([row], from: view), row.position)
        }
        guard let thread = models.thread(of: answered, asOf: now) else { throw .rejected(.unknownMessage) }
        try models.requireReadable(thread, from: view)
        self.thread = thread
        threadName = models.thread(thread, asOf: now)?.name
        // Sorted, because a history that no command decided can hold edits after the retraction.
        changes =
            ([posted] + models.edits(of: post, limit: limit, asOf: now) + (models.retraction(of: post, asOf: now).map { [$0] } ?? []))
            .sorted()
        memberships = view.viewer == nil ? models.scan(membershipsOf: thread) : nil
    }
}
