public import ChatDomain
import Projections

extension ReportsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<PostReport> {
        let ((scan, start), sections) = try reader.sections { models, view throws(ChatError) in
            let start = try models.requireReportsShown(of: thread, from: view)
            return (models.scan(reportsOf: thread), start)
        }
        let position = sections.viewpoint.position
        var names = ShownNames(from: sections.viewpoint)
        let rows = sections.compactMap(scan) { $0.openReport($1, in: thread, asOf: position, after: start) }
        return try sections.readPage(page, of: rows, by: \.position) { row throws(ChatError) in
            let event = try reader.store.event(at: row.position)
            let found = sections.withSection { models -> (author: UserSummary, isRemoved: Bool, text: Position?)? in
                guard let post = models.post(row.post, asOf: position) else { return nil }
                let author = names.summary(of: post.author, in: thread, at: post.position, models)
                // A viewer is shown the current text only, as everywhere.
                let asOf = reader.viewer == .host ? position : sections.viewpoint.currentPosition
                let text = models.textPosition(of: row.post, includesRemoved: true, asOf: asOf)
                return (author, models.removalPosition(of: row.post, asOf: position) != nil, text)
            }
            // In a forged checkpoint, the search for the id of a reported post can fail.
            guard let (author, isRemoved, text) = found else { return nil }
            let body = if let text { try reader.store.event(at: text).body } else { nil as String? }
            return PostReport(
                position: row.position, post: row.post, author: author, body: body, isRemoved: isRemoved,
                by: sections.userSummary(row.reporter, in: thread, at: row.position, &names), reason: event.reason,
                reportedAt: event.createdAt)
        }
    }
}

extension ChatReader {
    /// Returns a page of the open reports of a thread's posts, oldest first, by default all; for
    /// its moderators.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember` and
    ///   `notAModerator`.
    /// - Complexity: O(*n* log *n*) in the number of reports that were ever made in the thread;
    ///   reads one event, and the text of the post, for each report of the page and the one before
    ///   it.
    public func reports(in thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<PostReport> {
        try answer(ReportsQuery(thread: thread, page: page))
    }
}
