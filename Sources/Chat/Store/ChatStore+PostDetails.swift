public import ChatDomain
import Projections

extension ChatStore {
    /// Returns a message or a reply with its history.
    ///
    /// - Parameters:
    ///   - post: The message or the reply.
    ///   - limit: The maximum number of edits in the history; the latest ones are returned.
    ///   - viewer: The user who asks; nil for the host, which also receives the users who could
    ///     read the post when it was posted.
    ///   - point: The point in the history to read as of.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownMessage` or `unknownReply`; with a viewer also
    ///   `notAMember`.
    /// - Complexity: O(log *n* + *m*), where *n* is the number of messages in the thread and *m*
    ///   the number of edits and readers.
    public func details(
        of post: PostID, edits limit: Int = 50, viewer: UserID? = nil, asOf point: AsOf = .now
    ) throws(ChatError) -> PostDetails {
        let (found, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try PostRows(post, limit, in: models, from: view)
        }
        var history: [RecordedEvent] = []
        for position in found.historyPositions {
            let recorded = RecordedEvent(position: position, event: try event(at: position))
            if let shown = visibleEvent(recorded, through: EventFilter(viewer: viewer)) { history.append(shown) }
        }
        let messages = try entries(found.message, in: found.thread)
        let replies = try entries(found.reply, to: found.rootMessage)
        guard let position = messages.first?.position ?? replies.first?.position,
            let author = messages.first?.author ?? replies.first?.author,
            let createdAt = messages.first?.createdAt ?? replies.first?.createdAt
        else { preconditionFailure("A post that was found has an entry.") }
        return PostDetails(
            position: position, post: post, thread: found.thread, threadName: found.threadName,
            answeredMessage: replies.isEmpty ? nil : found.rootMessage, author: author, body: messages.first?.body ?? replies.first?.body,
            createdAt: createdAt, editedAt: messages.first?.editedAt ?? replies.first?.editedAt,
            isRetracted: messages.first?.isRetracted ?? replies.first?.isRetracted ?? false,
            isRemoved: messages.first?.isRemoved ?? replies.first?.isRemoved ?? false,
            isFromBlockedUser: messages.first?.isFromBlockedUser ?? replies.first?.isFromBlockedUser ?? false,
            replyCount: messages.first?.replyCount ?? 0,
            history: history,
            readers: found.memberships.map { sections.readers(of: found.thread, $0, asOf: position) })
    }
}

/// The rows of a post in the read models.
private struct PostRows {
    let thread: ThreadID
    let threadName: String?
    /// The message itself, or the message that the reply answers.
    let rootMessage: MessageID
    /// The row of a message; empty for a reply.
    let message: [PostRecord<MessageID>]
    let reply: [PostRecord<ReplyID>]
    /// The positions of the events in its history, ascending.
    let historyPositions: [Position]
    /// The memberships of the thread; nil for a viewer.
    let memberships: Scan?

    init(_ post: PostID, _ limit: Int, in models: borrowing ReadModels, from view: Viewpoint) throws(ChatError) {
        let now = view.position
        let posted: Position
        let thread: ThreadID
        switch post {
        case .message(let id):
            thread = try models.requireReadable(id, from: view)
            guard let row = models.message(id, asOf: now) else { throw .rejected(.unknownMessage) }
            (rootMessage, message, reply, posted) = (id, models.marking([row], in: thread, from: view), [], row.position)
        case .reply(let id):
            let readable = try models.requireReadable(id, from: view)
            guard let row = models.reply(id, asOf: now) else { throw .rejected(.unknownReply) }
            thread = readable.thread
            (rootMessage, message, reply, posted) = (readable.message, [], models.marking([row], in: thread, from: view), row.position)
        }
        self.thread = thread
        threadName = models.thread(thread, asOf: now)?.name
        // Sorted, because an imported history can contain edits after the retraction.
        historyPositions =
            ([posted] + models.editPositions(of: post, limit: limit, asOf: now)
            + [models.retractionPosition(of: post, asOf: now), models.removalPosition(of: post, asOf: now)].compactMap { $0 })
            .sorted()
        memberships = view.viewer == nil ? models.scan(membershipsOf: thread) : nil
    }
}
