public import ChatDomain
import EventJournal
public import Projections

/// Pages with the ways on from them.
///
/// The first page is where a ``Projections/Page`` says: the latest entries, those around a position, or those from a time (``position(before:)``). From there on a cursor leads,
/// either way: it takes the place of the page's bounds, and of the page only the limit counts. Nothing that arrives meanwhile is shown twice or left out; only the list of threads
/// is in the order of their latest events, and a thread in which something happens moves to its end.
///
/// What the pages throw is what ``timeline(_:_:viewer:asOf:)`` and its like throw, and ``ChatError/foreignCursor`` for a cursor of another journal or another list,
/// `invalidPosition` for one from beyond the last durable position.
extension ChatStore {
    /// A page of a thread's messages, and where it goes on.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread` and for the cursor `invalidPosition`; with a viewer also `unknownUser` and `notAMember`;
    ///   ``ChatError/foreignCursor``; ``ChatError/journal(_:)`` if the text cannot be read.
    public func timelinePage(
        _ thread: ThreadID, _ page: PageRequest = PageRequest(), at cursor: PageCursor? = nil, viewer: UserID? = nil,
        asOf moment: AsOf = .now
    ) throws(ChatError) -> Page<TimelineEntry> {
        let page = try self.page(page, at: cursor, of: .timeline(thread))
        let stretch = try query(moment, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return Stretch(page, asOf: view.position, position: \.position) {
                models.withheld(models.messages(of: thread, $0, asOf: view.position), from: view)
            }
        }
        return pageOf(try entries(stretch.rows, in: thread), stretch, of: .timeline(thread))
    }

    /// A page of the replies to a message, and where it goes on.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownMessage` and for the cursor `invalidPosition`; with a viewer also `unknownUser` and `notAMember`;
    ///   ``ChatError/foreignCursor``; ``ChatError/journal(_:)`` if the text cannot be read.
    public func repliesPage(
        to message: MessageID, _ page: PageRequest = PageRequest(), at cursor: PageCursor? = nil, viewer: UserID? = nil,
        asOf moment: AsOf = .now
    ) throws(ChatError) -> Page<ReplyEntry> {
        let page = try self.page(page, at: cursor, of: .replies(message))
        let stretch = try query(moment, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(message, from: view)
            return Stretch(page, asOf: view.position, position: \.position) {
                models.withheld(models.replies(to: message, $0, asOf: view.position), from: view)
            }
        }
        return pageOf(try entries(stretch.rows, to: message), stretch, of: .replies(message))
    }

    /// A page of the threads, ordered by their latest events, and where it goes on; a viewer is shown the threads that they may read.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser` if there is no such viewer, and for the cursor `invalidPosition`; ``ChatError/foreignCursor``.
    public func threadsPage(
        _ page: PageRequest = PageRequest(), at cursor: PageCursor? = nil, viewer: UserID? = nil, asOf moment: AsOf = .now
    ) throws(ChatError) -> Page<ThreadSummary> {
        let page = try self.page(page, at: cursor, of: .threads)
        let (places, sections) = try threadPlaces(viewer, moment)
        let stretch = Stretch(page, asOf: sections.view.position, position: \.lastPosition) { sections.threads($0.slice(of: places)) }
        return pageOf(stretch.rows.map(ThreadSummary.init), stretch, of: .threads)
    }

    /// The page that a cursor leads to, if there is one.
    private func page(_ page: PageRequest, at cursor: PageCursor?, of list: PageCursor.List) throws(ChatError) -> PageRequest {
        guard let cursor else { return page }
        guard cursor.journal == log.id, cursor.list == list else { throw .foreignCursor }
        let end = shownPosition
        switch cursor.direction {
        case .older:
            // What is older than what comes next is all there is.
            guard cursor.bound <= end + 1 else { throw .rejected(.invalidPosition) }
            return PageRequest(limit: page.limit, before: cursor.bound)
        case .newer:
            guard cursor.bound <= end else { throw .rejected(.invalidPosition) }
            return PageRequest(limit: page.limit, after: cursor.bound)
        }
    }

    private func pageOf<Row, Entry>(_ entries: [Entry], _ stretch: Stretch<Row>, of list: PageCursor.List) -> Page<Entry> {
        func cursor(_ direction: PageCursor.Direction, _ bound: Position) -> PageCursor {
            PageCursor(journal: log.id, list: list, direction: direction, bound: bound)
        }
        return Page(entries: entries, older: stretch.older.map { cursor(.older, $0) }, newer: cursor(.newer, stretch.newer))
    }
}

/// The rows of a page, and the bounds of the pages on either side.
private struct Stretch<Row> {
    let rows: [Row]
    /// Something stands before this position; nil if nothing stands before the page.
    let older: Position?
    let newer: Position

    init(_ page: PageRequest, asOf now: Position, position: (Row) -> Position, _ find: (PageRequest) -> [Row]) {
        rows = find(page)
        let start: Position
        if let first = rows.first, let last = rows.last {
            (start, newer) = (position(first), position(last))
        } else {
            // An empty page stands where it would begin.
            newer = min(now, page.after ?? (page.before ?? page.around).map { max($0, 1) - 1 } ?? now)
            start = newer + 1
        }
        older = find(PageRequest(limit: 1, before: start)).isEmpty ? nil : start
    }
}
