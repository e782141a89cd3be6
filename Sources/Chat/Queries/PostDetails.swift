public import ChatDomain
import Projections

/// A post in the read models.
private struct FoundPost {
    let thread: ThreadID
    let threadName: String?
    let row: PostRecord
    /// The positions of the events in its history, ascending.
    let historyPositions: [Position]
    /// The memberships of the thread; nil for a viewer.
    let memberships: Scan?

    init(_ post: PostID, _ limit: Int, in models: borrowing ReadModels, from view: Viewpoint) throws(ChatError) {
        let now = view.position
        thread = try models.requireReadable(post, from: view)
        guard let found = models.post(post, asOf: now) else { throw .rejected(.unknown(post)) }
        row = models.marking([found], in: thread, from: view)[0]
        threadName = models.thread(thread, asOf: now)?.name
        // Sorted, because an imported history can contain edits after the retraction.
        historyPositions =
            ([row.position] + models.editPositions(of: post, limit: limit, asOf: now)
            + [models.retractionPosition(of: post, asOf: now), models.removalPosition(of: post, asOf: now)].compactMap {
                $0
            })
            .sorted()
        memberships = view.viewer == .host ? models.scan(membershipsOf: thread) : nil
    }
}

extension ChatReader {
    /// Returns a message or a reply with its history; for the host also the users who could read it
    /// when it was posted.
    ///
    /// - Parameters:
    ///   - post: The message or the reply.
    ///   - limit: The maximum number of edits in the history; the latest ones are returned.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownMessage` or `unknownReply`; with a viewer also
    ///   `notAMember`.
    /// - Complexity: O(log *n* + *m*), where *n* is the number of messages in the thread and *m*
    ///   the number of edits and readers.
    public func details(of post: PostID, edits limit: Int = 50) throws(ChatError) -> PostDetails {
        let (found, sections) = try sections { models, view throws(ChatError) in
            try FoundPost(post, limit, in: models, from: view)
        }
        var history: [RecordedEvent] = []
        for position in found.historyPositions {
            let recorded = RecordedEvent(position: position, event: try store.event(at: position))
            if let shown = store.visibleEvent(recorded, through: EventFilter(as: viewer)) { history.append(shown) }
        }
        let shown = try store.posts([found.row], in: post.isReply ? nil : found.thread)[0]
        return PostDetails(
            post: shown, thread: found.thread, threadName: found.threadName, history: history,
            readers: found.memberships.map { sections.readers(of: found.thread, $0, asOf: shown.position) })
    }
}
