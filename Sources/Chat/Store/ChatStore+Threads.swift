public import ChatDomain
import EventJournal
import Projections

/// Threads and their names.
extension ChatStore {
    /// Returns a page of the threads, ordered by latest event.
    ///
    /// A viewer receives the threads that they may read.
    ///
    /// - Parameters:
    ///   - page: The part of the list.
    ///   - viewer: Who asks.
    ///   - point: The point in the history to read as of.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    /// - Complexity: O(*n* log *n* + *m* log *k*), where *n* is the number of threads that the
    ///   viewer ever joined; for the host and operators, of all threads. *m* is the size of the
    ///   page, *k* the number of messages in a thread.
    public func threads(
        page: PageRequest = PageRequest(), as viewer: Viewer, asOf point: AsOf = .now
    ) throws(ChatError) -> Page<ThreadSummary> {
        let (keys, sections) = try threadSortKeys(viewer, point)
        return sections.threads(page, of: keys)
    }

    /// Returns one thread.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(log *n*) in the number of messages in the thread.
    public func thread(_ id: ThreadID, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError) -> ThreadSummary {
        try query(point, as: viewer) { models, view throws(ChatError) in
            let start = try models.requireReadable(id, from: view)
            var names = ShownNames(from: view)
            guard let thread = models.shownThread(id, after: start, from: view, &names) else {
                throw .rejected(.unknownThread)
            }
            return ThreadSummary(thread)
        }
    }

    /// Returns the threads with a name, in opening order; a postcode thread is named by its outward
    /// code.
    ///
    /// Threads with the exact spelling take precedence. If none exist, names are compared by
    /// canonical caseless matching (`soup` finds `Soup`). A viewer receives the threads that they
    /// may read.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    /// - Complexity: O(*n*), where *n* is the number of threads that the viewer ever joined; for
    ///   the host and operators, of all threads.
    public func threadIDs(named name: String, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError)
        -> [ThreadID]
    {
        let (list, sections) = try shownThreads(viewer, point)
        for match in ThreadNameMatch.allCases {
            let found = sections.compactMap(list) { models, row in
                sections.shownThread(models, row).flatMap { thread in
                    models.opening(thread, asOf: sections.viewpoint.position) { match.matches($0, name) }
                }
            }
            if !found.isEmpty { return found.sorted { $0.position < $1.position }.map(\.id) }
        }
        return []
    }
}

extension ThreadSummary {
    init(_ thread: ThreadRecord) {
        self.init(
            id: thread.id, name: thread.name, people: thread.people, outwardCode: thread.id.outwardCode,
            memberCount: thread.memberCount,
            messageCount: thread.messageCount, lastPosition: thread.lastPosition, createdAt: thread.createdAt,
            policy: thread.policy,
            history: thread.history, isLocked: thread.isLocked, isClosed: thread.isClosed)
    }
}
