public import ChatDomain
import EventJournal
import Projections

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

extension SectionedQuery {
    /// Returns a page of the threads with these sort keys, which ascend.
    func threads(_ page: PageRequest, of keys: [ThreadSortKey]) -> Page<ThreadSummary> {
        let shown = page.slice(of: keys)
        var names = ShownNames(from: viewpoint)
        let threads = map(shown) { models, key in
            let id = models.threadID(key)
            var thread = models.record(
                key, asOf: viewpoint.position, after: models.readingStart(id, from: viewpoint) ?? viewpoint.position)
            names.show(&thread.people, ofDirect: id, models)
            return thread
        }
        return Page(
            threads.map(ThreadSummary.init), from: shown.first?.lastPosition, to: shown.last?.lastPosition,
            hasOlder: shown.startIndex > 0, page, asOf: viewpoint.position)
    }
}

extension ThreadsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<ThreadSummary> {
        let (keys, sections) = try reader.store.threadSortKeys(reader.viewer, reader.point)
        return sections.threads(page, of: keys)
    }
}

extension ChatReader {
    /// Returns a page of the threads, ordered by latest event.
    ///
    /// A viewer receives the threads that they may read.
    ///
    /// - Parameters:
    ///   - page: The part of the list.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    /// - Complexity: O(*n* log *n* + *m* log *k*), where *n* is the number of threads that the
    ///   viewer ever joined; for the host and operators, of all threads. *m* is the size of the
    ///   page, *k* the number of messages in a thread.
    public func threads(page: PageRequest = .latest()) throws(ChatError) -> Page<ThreadSummary> {
        try answer(ThreadsQuery(page: page))
    }
}

extension ThreadQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> ThreadSummary {
        try reader.query { models, view throws(ChatError) in
            let start = try models.requireReadable(thread, from: view)
            var names = ShownNames(from: view)
            guard let found = models.shownThread(thread, after: start, from: view, &names) else {
                throw .rejected(.unknownThread)
            }
            return ThreadSummary(found)
        }
    }
}

extension ChatReader {
    /// Returns one thread.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(log *n*) in the number of messages in the thread.
    public func thread(_ id: ThreadID) throws(ChatError) -> ThreadSummary {
        try answer(ThreadQuery(thread: id))
    }
}

extension ChatReader {
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
    public func threadIDs(named name: String) throws(ChatError) -> [ThreadID] {
        let (list, sections) = try store.shownThreads(viewer, point)
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
