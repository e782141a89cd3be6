import ChatDomain
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Queries the read models as of a point, in one shared section of their lock.
    ///
    /// Texts are read from the journal afterwards, outside the lock.
    ///
    /// - Parameters:
    ///   - point: The point in the history to read as of.
    ///   - viewer: Who asks.
    ///   - body: Receives the read models and the viewpoint.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` if the point lies beyond the
    ///   last durable position; ``ChatError/journal(_:)`` with ``ChatStore/failure`` if the store
    ///   has stopped or was closed.
    func query<Value>(
        _ point: AsOf, as viewer: Viewer, _ body: (borrowing ReadModels, Viewpoint) throws(ChatError) -> Value
    ) throws(ChatError) -> Value {
        let asked: Position?
        switch point {
        case .now: asked = nil
        case .position(let position): asked = position
        case .time(let time): asked = try lastPosition(at: time)
        }
        // Applies durable events first: the caller may ask for a durable position that is not
        // applied yet.
        if let asked { readSide.apply(log, through: asked) }
        try requireRunning()
        return try readSide.withShared { shown throws(ChatError) in
            if let asked, asked > shown.position { throw .rejected(.invalidPosition) }
            let viewpoint = Viewpoint(
                viewer: viewer, position: asked ?? shown.position, currentPosition: shown.position)
            return try body(shown.models, viewpoint)
        }
    }

    /// Starts a query that takes several sections of the read models' lock.
    ///
    /// - Parameter body: Runs in the first section and throws the errors of ``query(_:as:_:)``.
    /// - Returns: The body's result, and the sections that continue as of the same point.
    func sections<Value>(
        _ point: AsOf, as viewer: Viewer, _ body: (borrowing ReadModels, Viewpoint) throws(ChatError) -> Value
    ) throws(ChatError) -> (Value, SectionedQuery) {
        try query(point, as: viewer) { models, view throws(ChatError) in
            (try body(models, view), SectionedQuery(readSide: readSide, viewpoint: view))
        }
    }

    /// Queries the read models as of now, also after a close.
    func withCurrentModels<Value, Failure: Error>(
        _ body: (borrowing ReadModels, Position) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try readSide.withShared { (side) throws(Failure) in try body(side.models, side.position) }
    }
}

/// A query split into several short sections, so that commands never wait long.
///
/// A section is one critical section of the read models' lock.
///
/// The views are versioned. Every section reads as of the position of the first section, and the
/// viewer's rights are those of the first section too, so the result is consistent. A query that
/// began before a close is answered.
struct SectionedQuery {
    let readSide: ReadSide
    let viewpoint: Viewpoint
    /// Whether a list of threads scans every thread, not only the viewer's memberships.
    var listsAllThreads = false

    /// The maximum number of rows read per section.
    static let rowCount = 512
    /// The maximum number of unread counts per section, with the first unread messages.
    static let unreadCount = 8

    /// Runs one section; the body must read at most some hundred rows.
    func withSection<Value>(_ body: (borrowing ReadModels) -> Value) -> Value {
        readSide.willBeginSection.withLock { $0 }?()
        return readSide.withShared { body($0.models) }
    }

    /// Returns the non-nil results of transforming the rows of a scan, in no particular order.
    func compactMap<Value>(_ scan: Scan, _ transform: (borrowing ReadModels, Int) -> Value?) -> [Value] {
        var (scan, values) = (scan, [] as [Value])
        while !scan.isAtEnd {
            withSection { models in
                models.forEach(&scan, limit: Self.rowCount) { row in
                    if let value = transform(models, row) { values.append(value) }
                }
            }
        }
        return values
    }

    /// Returns the transformed elements, in order.
    ///
    /// - Parameter count: The number of elements per section; lower for elements that cost more
    ///   than a row.
    func map<Element, Value>(
        _ elements: some RandomAccessCollection<Element>, per count: Int = rowCount,
        _ transform: (borrowing ReadModels, Element) -> Value
    ) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        var rest = elements[...]
        while !rest.isEmpty {
            withSection { models in for element in rest.prefix(count) { values.append(transform(models, element)) } }
            rest = rest.dropFirst(count)
        }
        return values
    }
}

// MARK: Shared parts of queries

extension SectionedQuery {
    /// Returns a page of the transformed elements, ordered by position.
    ///
    /// - Parameter count: The number of elements per section; lower for elements that cost more
    ///   than a row.
    func page<Element, Value>(
        _ page: PageRequest, of elements: [Element], by position: (Element) -> Position, per count: Int = rowCount,
        _ transform: (borrowing ReadModels, Element) -> Value
    ) -> Page<Value> {
        let sorted = elements.sorted { position($0) < position($1) }
        let shown = sorted[page.indices(count: sorted.count) { position(sorted[$0]) }]
        return Page(
            map(shown, per: count, transform), from: shown.first.map(position), to: shown.last.map(position),
            hasOlder: shown.startIndex > 0, page, asOf: viewpoint.position)
    }

    /// Returns a page of the entries of rows, ordered by position; a row whose entry is nil has
    /// none.
    ///
    /// Calls `read` for the rows of the page, and for older rows until one has an entry.
    func readPage<Row, Entry>(
        _ page: PageRequest, of rows: [Row], by position: (Row) -> Position, _ read: (Row) throws(ChatError) -> Entry?
    ) throws(ChatError) -> Page<Entry> {
        let rows = rows.sorted { position($0) < position($1) }
        return try readPage(
            page, count: rows.count, older: { $0.reversed().makeIterator() }, position: { position(rows[$0]) },
            { (index) throws(ChatError) in try read(rows[index]) })
    }

    /// Returns a page of the entries of rows with ascending positions; a row whose entry is nil has
    /// none.
    ///
    /// - Parameters:
    ///   - count: The number of rows.
    ///   - limit: The maximum number of calls of `read`. A page for which it is not enough has
    ///     fewer entries than were asked for, and continues after the rows that were read.
    ///   - older: Returns the rows of a range in the order in which a page of older entries reads
    ///     them, all or some.
    ///   - position: Returns the position of the row at an index.
    ///   - read: Returns the entry of the row at an index.
    func readPage<Entry>(
        _ page: PageRequest, count: Int, reading limit: Int = .max, older: (Range<Int>) -> some IteratorProtocol<Int>,
        position: (Int) -> Position, _ read: (Int) throws(ChatError) -> Entry?
    ) throws(ChatError) -> Page<Entry> {
        func indices(_ limit: Int) -> Range<Int> {
            var request = page
            request.limit = limit
            return request.indices(count: count, position: position)
        }
        // The page grows from its centre in both directions, because a row without an entry does
        // not count.
        let (centre, bounds, size) = (indices(0).lowerBound, indices(.max), max(0, page.limit))
        let olderSize = page.around != nil ? size / 2 : page.after != nil ? 0 : size
        var (found, first, last, hasOlder): ([(row: Int, entry: Entry)], Int, Int, Bool) = ([], centre, centre, false)
        // A page around a row leaves half of the calls to what follows.
        var rest = page.around == nil ? limit : limit / 2
        var rows = older(bounds.lowerBound..<centre)
        var isOlderCut = false
        while found.count < olderSize, let row = rows.next() {
            if rest == 0 {
                // Every row was read if the last one was, and the others were passed over.
                isOlderCut = first > bounds.lowerBound
                break
            }
            (first, rest) = (min(first, row), rest - 1)
            if let entry = try read(row) { found.append((row, entry)) }
        }
        found.sort { $0.row < $1.row }
        let olderCount = found.count
        if page.around != nil { rest += limit - limit / 2 }
        while found.count - olderCount < size - olderSize, last < bounds.upperBound, rest > 0 {
            if let entry = try read(last) { found.append((last, entry)) }
            (last, rest) = (last + 1, rest - 1)
        }
        let isNewerCut = found.count - olderCount < size - olderSize && last < bounds.upperBound
        if !isOlderCut {
            rows = older(0..<first)
            while !hasOlder, let row = rows.next() {
                // Nothing is known of the rows that were not read.
                if rest == 0 { hasOlder = true } else { hasOlder = try read(row) != nil }
                rest -= 1
            }
        }
        var result = Page(
            found.map(\.entry), from: isOlderCut ? position(first) : found.first.map { position($0.row) },
            to: isNewerCut ? position(last - 1) : found.last.map { position($0.row) },
            hasOlder: hasOlder || isOlderCut, page, asOf: viewpoint.position)
        result.isTruncated = isOlderCut || isNewerCut
        return result
    }

    /// Returns the sort keys of the threads that the viewer may see, ascending.
    func threadSortKeys(_ threads: Scan) -> [ThreadSortKey] {
        compactMap(threads) { models, row in
            shownThread(models, row).flatMap { models.sortKey(ofThread: $0, asOf: viewpoint.position) }
        }.sorted { $0.lastPosition < $1.lastPosition }
    }

    /// Returns the thread of a row; nil if the viewer may not see it.
    ///
    /// The rows are those of ``ChatStore/shownThreads(_:_:)``.
    func shownThread(_ models: borrowing ReadModels, _ row: Int) -> Int? {
        guard viewpoint.viewer != .host else { return row }
        let thread = listsAllThreads ? row : models.thread(ofMembership: row)
        return models.mayRead(models.threadID(ofThread: thread), from: viewpoint) ? thread : nil
    }
}

extension ChatStore {
    /// Scans the threads that the viewer may see: their memberships, or every thread without a
    /// viewer and for an operator of the community.
    func shownThreads(_ viewer: Viewer, _ point: AsOf) throws(ChatError) -> (Scan, SectionedQuery) {
        var (scan, sections) = try sections(point, as: viewer) { models, view throws(ChatError) -> Scan? in
            try models.requireViewer(of: view)
            guard let user = viewer.user, !models.isOperator(user, asOf: view.currentPosition) else { return nil }
            return models.scan(membershipsOf: user)
        }
        guard let scan else {
            sections.listsAllThreads = true
            return (sections.withSection { $0.threadScan() }, sections)
        }
        return (scan, sections)
    }

    /// Sections as of now, also after a close.
    var currentSections: SectionedQuery {
        withCurrentModels { _, now in
            SectionedQuery(readSide: readSide, viewpoint: Viewpoint(viewer: .host, position: now, currentPosition: now))
        }
    }

    /// Returns the threads of a user as of a position, in no particular order; also after a close.
    func threads(of user: UserID, asOf position: Position) -> [ThreadID] {
        let sections = currentSections
        return sections.compactMap(sections.withSection { $0.scan(membershipsOf: user) }) { models, row in
            models.indexedMembership(ofMembership: row, asOf: position).map { models.threadID($0) }
        }
    }

    /// Returns the sort keys of the threads that the viewer may see, ascending.
    func threadSortKeys(_ viewer: Viewer, _ point: AsOf) throws(ChatError) -> ([ThreadSortKey], SectionedQuery) {
        let (scan, sections) = try shownThreads(viewer, point)
        return (sections.threadSortKeys(scan), sections)
    }
}

extension SectionedQuery {
    /// Returns a user's id and the name that the viewer is shown.
    func userSummary(_ user: UserID, in thread: ThreadID, at event: Position, _ names: inout ShownNames) -> UserSummary
    {
        withSection { names.summary(of: user, in: thread, at: event, $0) }
    }
}
