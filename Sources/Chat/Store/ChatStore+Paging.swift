public import ChatDomain
import EventJournal
public import Projections

// Pages with cursors.

extension ChatStore {
    /// Returns a page of a thread's messages with cursors in both directions.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - page: The part of the list. With a cursor, only its limit applies.
    ///   - cursor: A cursor of an earlier page of the same list, in either direction; nil for
    ///     `page`.
    ///   - viewer: The user who asks; nil for the host.
    ///   - point: The point in the history to read as of.
    /// - Throws: As ``timeline(_:_:viewer:asOf:)``; for the cursor, ``ChatError/foreignCursor`` and
    ///   ``ChatError/rejected(_:)`` with `invalidPosition`.
    /// - Complexity: As ``timeline(_:_:viewer:asOf:)``.
    public func timelinePage(
        _ thread: ThreadID, _ page: PageRequest = PageRequest(), at cursor: PageCursor? = nil, viewer: UserID? = nil,
        asOf point: AsOf = .now
    ) throws(ChatError) -> Page<TimelineEntry> {
        let page = try self.request(page, at: cursor, of: .timeline(thread))
        let found = try query(point, for: viewer) { models, view throws(ChatError) in
            let start = try models.requireReadable(thread, from: view)
            return PageRows(page, asOf: view.position, position: \.position) {
                models.marking(models.messages(of: thread, $0, asOf: view.position, after: start), in: thread, from: view)
            }
        }
        return makePage(try entries(found.rows, in: thread), found, of: .timeline(thread))
    }

    /// Returns a page of the replies to a message with cursors in both directions.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - page: The part of the list. With a cursor, only its limit applies.
    ///   - cursor: A cursor of an earlier page of the same list, in either direction; nil for
    ///     `page`.
    ///   - viewer: The user who asks; nil for the host.
    ///   - point: The point in the history to read as of.
    /// - Throws: As ``replies(to:_:viewer:asOf:)``; for the cursor, ``ChatError/foreignCursor`` and
    ///   ``ChatError/rejected(_:)`` with `invalidPosition`.
    /// - Complexity: As ``replies(to:_:viewer:asOf:)``.
    public func repliesPage(
        to message: MessageID, _ page: PageRequest = PageRequest(), at cursor: PageCursor? = nil, viewer: UserID? = nil,
        asOf point: AsOf = .now
    ) throws(ChatError) -> Page<ReplyEntry> {
        let page = try self.request(page, at: cursor, of: .replies(message))
        let found = try query(point, for: viewer) { models, view throws(ChatError) in
            let thread = try models.requireReadable(message, from: view)
            return PageRows(page, asOf: view.position, position: \.position) {
                models.marking(models.replies(to: message, $0, asOf: view.position), in: thread, from: view)
            }
        }
        return makePage(try entries(found.rows, to: message), found, of: .replies(message))
    }

    /// Returns a page of the threads, ordered by latest event, with cursors in both directions.
    ///
    /// A viewer receives the threads that they may read.
    ///
    /// - Parameters:
    ///   - page: The part of the list. With a cursor, only its limit applies.
    ///   - cursor: A cursor of an earlier page of the same list, in either direction; nil for
    ///     `page`.
    ///   - viewer: The user who asks; nil for the host.
    ///   - point: The point in the history to read as of.
    /// - Throws: As ``threads(_:viewer:asOf:)``; for the cursor, ``ChatError/foreignCursor`` and
    ///   ``ChatError/rejected(_:)`` with `invalidPosition`.
    /// - Complexity: As ``threads(_:viewer:asOf:)``.
    public func threadsPage(
        _ page: PageRequest = PageRequest(), at cursor: PageCursor? = nil, viewer: UserID? = nil, asOf point: AsOf = .now
    ) throws(ChatError) -> Page<ThreadSummary> {
        let page = try self.request(page, at: cursor, of: .threads)
        let (keys, sections) = try threadSortKeys(viewer, point)
        let found = PageRows(page, asOf: sections.viewpoint.position, position: \.lastPosition) { sections.threads($0.slice(of: keys)) }
        return makePage(found.rows.map(ThreadSummary.init), found, of: .threads)
    }

    /// Returns the request for the cursor's page, or the given request without a cursor.
    private func request(_ page: PageRequest, at cursor: PageCursor?, of list: PageCursor.List) throws(ChatError) -> PageRequest {
        guard let cursor else { return page }
        guard cursor.journal == log.id, cursor.list == list else { throw .foreignCursor }
        let end = applyDurableEvents()
        switch cursor.direction {
        case .older:
            // A bound of `end + 1` is valid: it selects the latest entries.
            guard cursor.bound <= end + 1 else { throw .rejected(.invalidPosition) }
            return PageRequest(limit: page.limit, before: cursor.bound)
        case .newer:
            guard cursor.bound <= end else { throw .rejected(.invalidPosition) }
            return PageRequest(limit: page.limit, after: cursor.bound)
        }
    }

    private func makePage<Row, Entry>(_ entries: [Entry], _ found: PageRows<Row>, of list: PageCursor.List) -> Page<Entry> {
        func cursor(_ direction: PageCursor.Direction, _ bound: Position) -> PageCursor {
            PageCursor(journal: log.id, list: list, direction: direction, bound: bound)
        }
        return Page(entries: entries, older: found.older.map { cursor(.older, $0) }, newer: cursor(.newer, found.newer))
    }
}

/// The rows of a page, with the bounds of the adjacent pages.
private struct PageRows<Row> {
    let rows: [Row]
    /// The exclusive bound of the older entries; nil if no older entries exist.
    let older: Position?
    let newer: Position

    init(_ page: PageRequest, asOf now: Position, position: (Row) -> Position, _ find: (PageRequest) -> [Row]) {
        rows = find(page)
        let start: Position
        if let first = rows.first, let last = rows.last {
            (start, newer) = (position(first), position(last))
        } else {
            // An empty page is placed at its requested bound: `after` at the bound itself, `before`
            // and `around` in front of the position, no bound at the end.
            newer = min(now, page.after ?? (page.before ?? page.around).map { max($0, 1) - 1 } ?? now)
            start = newer + 1
        }
        older = find(PageRequest(limit: 1, before: start)).isEmpty ? nil : start
    }
}
