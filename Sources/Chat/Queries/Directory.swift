import ChatDomain
import EventJournal
import Projections

/// The directory of threads.
extension ChatStore {
    /// Whether there is a ban, by the event at a position, that has not ended by itself at a time.
    fileprivate func isInEffect(ban position: Position?, at time: Timestamp) throws(ChatError) -> Bool {
        guard let position else { return false }
        guard case .sanction(_, _, _, _, let until?) = try event(at: position).shape else { return true }
        return until > time
    }
}

extension DirectoryQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<DirectoryEntry> {
        let (scan, sections) = try reader.sections { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            return models.policyScan()
        }
        let viewpoint = sections.viewpoint
        let found = sections.compactMap(scan) {
            models, row -> (thread: ListedThread, bans: (then: Position?, now: Position?))? in
            let thread = models.thread(ofPolicy: row)
            guard models.isListed(thread, from: viewpoint) else { return nil }
            return models.listedThread(thread, asOf: viewpoint.position).map {
                ($0, models.banPositions(thread, from: viewpoint))
            }
        }
        let (then, now) = (
            try reader.store.time(of: reader.point, viewpoint), try reader.store.time(of: .now, viewpoint)
        )
        var rows: [ListedThread] = []
        for (thread, bans) in found where try !reader.store.isInEffect(ban: bans.then, at: then) {
            if try !reader.store.isInEffect(ban: bans.now, at: now) { rows.append(thread) }
        }
        return try sections.readPage(page, of: rows, by: \.position) { row throws(ChatError) in
            DirectoryEntry(
                id: row.id, name: row.name, memberCount: row.memberCount,
                latestPostAt: row.latestPost == nil ? nil : try reader.store.event(at: row.position).createdAt,
                position: row.position)
        }
    }
}

extension ChatReader {
    /// Returns a page of the threads that every user may find, ordered by their latest post.
    ///
    /// A thread is in the directory while its policy is `listed` and it is not closed. A user finds
    /// it if it was as of the point and is now, the host if it was as of the point. A ban of the
    /// user that is in effect at either point hides the thread. An entry has the time of the latest
    /// post, and nothing else of it.
    ///
    /// - Parameters:
    ///   - page: The part of the list; the position of an entry is that of the thread's latest post
    ///     or, if there is none, of its opening.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    /// - Complexity: O(*n* log *n*) in the number of threads whose policy was ever set; reads one
    ///   event for each entry of the page, and for each ban of the viewer from a listed thread.
    public func directory(page: PageRequest = .latest()) throws(ChatError) -> Page<DirectoryEntry> {
        try answer(DirectoryQuery(page: page))
    }
}
