import ChatDomain
import EventJournal
import Projections

extension ChatStore {
    /// Returns the request for the cursor's page, or the given request without a cursor.
    func request(_ page: PageRequest, at cursor: PageCursor?, of list: PageCursor.List) throws(ChatError) -> PageRequest {
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

    /// Returns a page with the cursors of the adjacent pages.
    ///
    /// - Parameters:
    ///   - found: The entries of the page.
    ///   - request: The request of the page.
    ///   - list: The list that the cursors belong to.
    ///   - now: The position that the list was read as of.
    ///   - position: Returns the position of an entry.
    func makePage<Entry>(
        _ found: PartialList<Entry>, _ request: PageRequest, of list: PageCursor.List, asOf now: Position, position: (Entry) -> Position
    ) -> Page<Entry> {
        func cursor(_ direction: PageCursor.Direction, _ bound: Position) -> PageCursor {
            PageCursor(journal: log.id, list: list, direction: direction, bound: bound)
        }
        let (first, last): (Position, Position)
        if let firstEntry = found.items.first, let lastEntry = found.items.last {
            (first, last) = (position(firstEntry), position(lastEntry))
        } else {
            // An empty page is placed at its requested bound: `after` at the bound itself, `before`
            // and `around` in front of the position, no bound at the end.
            last = min(now, request.after ?? (request.before ?? request.around).map { max($0, 1) - 1 } ?? now)
            first = last + 1
        }
        return Page(entries: found.items, older: found.hasOlder ? cursor(.older, first) : nil, newer: cursor(.newer, last))
    }
}

extension PageRequest {
    /// Returns a page of the items of rows, ordered by position; a row whose item is nil has none.
    ///
    /// Calls `item` for the rows of the page, and for older rows until one has an item.
    func items<Row, Item>(
        of rows: [Row], by position: (Row) -> Position, _ item: (Row) throws(ChatError) -> Item?
    ) throws(ChatError) -> PartialList<Item> {
        let rows = rows.sorted { position($0) < position($1) }
        func indices(_ limit: Int) -> Range<Int> {
            PageRequest(limit: limit, before: before, after: after, around: around).indices(count: rows.count) { position(rows[$0]) }
        }
        // The older items are those from the start of an empty page down, the newer ones from it up.
        let (start, bounds, limit) = (indices(0).lowerBound, indices(.max), max(0, limit))
        let olderLimit = around != nil ? limit / 2 : after != nil ? 0 : limit
        var (older, newer, first, hasOlder): ([Item], [Item], Int, Bool) = ([], [], start, false)
        while older.count < olderLimit, first > bounds.lowerBound {
            first -= 1
            if let item = try item(rows[first]) { older.append(item) }
        }
        for row in rows[start..<bounds.upperBound] {
            if newer.count == limit - olderLimit { break }
            if let item = try item(row) { newer.append(item) }
        }
        while !hasOlder, first > 0 {
            first -= 1
            hasOlder = try item(rows[first]) != nil
        }
        return PartialList(items: older.reversed() + newer, hasOlder: hasOlder)
    }
}
