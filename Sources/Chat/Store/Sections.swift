public import ChatDomain
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Asks the read models as of a moment, in a shared section of their lock; the text is read from the journal afterwards, outside it.
    ///
    /// - Parameters:
    ///   - moment: As of when.
    ///   - viewer: Who asks, nil for the operator.
    ///   - body: Is lent the read models, and told from where it looks at them.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` if the moment lies beyond the last durable position; `closed` after a close.
    func query<Value>(
        _ moment: AsOf, for viewer: UserID? = nil, _ body: (borrowing ReadModels, Viewpoint) throws(ChatError) -> Value
    ) throws(ChatError) -> Value {
        let asked: Position?
        switch moment {
        case .now: asked = nil
        case .position(let position): asked = position
        case .time(let time): asked = try position(asOf: time)
        }
        // What is durable may be shown: the head that a caller has been told is a moment.
        if let asked { readSide.apply(log, through: asked) }
        return try readSide.withShared { shown throws(ChatError) in
            if shown.isClosed { throw .journal(JournalError(.closed, "The store has been closed.")) }
            if let asked, asked > shown.position { throw .rejected(.invalidPosition) }
            let viewpoint = Viewpoint(viewer: viewer, position: asked ?? shown.position, present: shown.position)
            return try body(shown.models, viewpoint)
        }
    }

    /// Asks the read models as of a moment a question that takes more than one section of their lock.
    ///
    /// - Parameter body: Asks in the first section; throws what ``query(_:for:_:)`` does.
    /// - Returns: What it answers, and the sections that go on as of the same moment.
    func sections<Value>(
        _ moment: AsOf, for viewer: UserID? = nil, _ body: (borrowing ReadModels, Viewpoint) throws(ChatError) -> Value
    ) throws(ChatError) -> (Value, Sections) {
        try query(moment, for: viewer) { models, view throws(ChatError) in
            (try body(models, view), Sections(readSide: readSide, view: view))
        }
    }

    /// Asks the read models as of now, also after a close.
    func present<Value>(_ body: (borrowing ReadModels, Position) -> Value) -> Value {
        readSide.withShared { body($0.models, $0.position) }
    }

    /// The position of the last event that was recorded at a time or earlier, 0 if there was none.
    ///
    /// - Throws: ``ChatError`` if the journal cannot be read.
    /// - Complexity: O(log *n*) reads of single events, whose times never decrease along the journal.
    public func position(asOf time: Timestamp) throws(ChatError) -> Position { try lastPosition { $0 <= time } }

    /// The position of the last event that was recorded before a time, 0 if there was none: the bound of a page that begins at that time.
    ///
    /// `PageRequest(after: try store.position(before: time))` begins with the first entry that was recorded at that time or later. A thread is in the order of the journal, so for
    /// imports too it is the time of recording that counts, not the one that is shown.
    ///
    /// - Throws: ``ChatError`` if the journal cannot be read.
    /// - Complexity: As ``position(asOf:)``.
    public func position(before time: Timestamp) throws(ChatError) -> Position { try lastPosition { $0 < time } }

    /// The last position whose time satisfies a condition that holds up to some time and not after it.
    private func lastPosition(where condition: (Timestamp) -> Bool) throws(ChatError) -> Position {
        var lower: Position = 0
        var upper = readSide.position
        while lower < upper {
            let middle = lower + (upper - lower + 1) / 2
            if condition(try event(at: middle).recordedAt) { lower = middle } else { upper = middle - 1 }
        }
        return lower
    }
}

/// A question that the read models are asked in several short sections of their lock, so that no command waits for all of it.
///
/// The views are versioned: every section asks as of the position of the first one, and what a viewer may see is decided as of that one's present, so the answer
/// is of one moment. A question that has begun before a close is answered.
struct Sections {
    let readSide: ReadSide
    let view: Viewpoint

    /// How many rows are read in a section.
    static let rowCount = 512
    /// How many unread counts.
    static let unreadCount = 16

    /// Is called before each section after the first; for tests.
    @TaskLocal static var willBegin: (@Sendable () -> Void)?

    /// Asks in one section; the body reads no more than some hundred rows.
    func ask<Value>(_ body: (borrowing ReadModels) -> Value) -> Value {
        Self.willBegin?()
        return readSide.withShared { body($0.models) }
    }

    /// What a closure makes of the rows of a scan, in no order.
    func compactMap<Value>(_ scan: Scan, _ transform: (borrowing ReadModels, Int) -> Value?) -> [Value] {
        var (scan, values) = (scan, [] as [Value])
        while !scan.isAtEnd {
            ask { models in
                models.forEach(&scan, limit: Self.rowCount) { row in
                    if let value = transform(models, row) { values.append(value) }
                }
            }
        }
        return values
    }

    /// What a closure makes of elements, in their order.
    ///
    /// - Parameter count: How many elements are read in a section: fewer where one costs more than a row.
    func map<Element, Value>(
        _ elements: some RandomAccessCollection<Element>, per count: Int = rowCount, _ transform: (borrowing ReadModels, Element) -> Value
    ) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        var rest = elements[...]
        while !rest.isEmpty {
            ask { models in for element in rest.prefix(count) { values.append(transform(models, element)) } }
            rest = rest.dropFirst(count)
        }
        return values
    }
}

// MARK: What several queries ask

extension Sections {
    /// Who had a membership of a scan, in the order in which they joined.
    func members(_ scan: Scan) -> [Membership] {
        memberships(of: compactMap(scan) { $0.stay(ofMembership: $1, asOf: view.position) }, asOf: view.position)
    }

    /// Who could read a thread as of a position, by the scan of its memberships, in the order in which they joined.
    func readers(of thread: ThreadID, _ scan: Scan, asOf position: Position) -> [ThreadMember] {
        let stays = compactMap(scan) { models, row in
            models.stay(ofMembership: row, asOf: position).flatMap { models.mayRead(models.userID($0), thread, asOf: position) ? $0 : nil }
        }
        return memberships(of: stays, asOf: position).map { ThreadMember(user: UserSummary($0), since: $0.since) }
    }

    /// Who lived in an outward code, in the order in which they moved there.
    func residents(_ scan: Scan) -> [Membership] {
        memberships(of: compactMap(scan) { $0.stay(ofResidence: $1, asOf: view.position) }, asOf: view.position)
    }

    private func memberships(of stays: [Stay], asOf position: Position) -> [Membership] {
        map(stays.sorted { $0.since < $1.since }) { $0.membership($1, asOf: position) }
    }

    /// When a user gained and lost each thread, in the order in which they were gained.
    func access(_ scan: Scan) -> [ThreadAccess] {
        let rows = compactMap(scan) { (row: $1, count: $0.changeCount(ofMembership: $1, asOf: view.position)) }
        // An even number of changes, so that none begins with an end.
        let runs = rows.flatMap { row, count in
            stride(from: 1, through: count, by: 32).map { (row: row, changes: $0..<min(count, $0 + 31) + 1) }
        }
        let access = map(runs, per: Self.rowCount / 32) { $0.access(ofMembership: $1.row, changes: $1.changes) }
        return map(access.joined().sorted { $0.from < $1.from }) { models, access in
            ThreadAccess(
                thread: access.thread, name: models.thread(access.thread, asOf: view.position)?.name, from: access.from, to: access.to)
        }
    }

    /// The threads that the viewer may be shown, in the order of their latest events.
    func places(_ threads: Scan) -> [ThreadPlace] {
        compactMap(threads) { models, row in
            shownThread(models, row).flatMap { models.place(ofThread: $0, asOf: view.position) }
        }.sorted { $0.last < $1.last }
    }

    /// The thread of a row, nil if the viewer may not be shown it: for a viewer the rows are of their memberships.
    func shownThread(_ models: borrowing ReadModels, _ row: Int) -> Int? {
        guard view.viewer != nil else { return row }
        let thread = models.thread(ofMembership: row)
        return models.mayRead(models.threadID(ofThread: thread), from: view) ? thread : nil
    }

    /// The threads at some places.
    func threads(_ places: ArraySlice<ThreadPlace>) -> [ThreadRecord] { map(places) { $0.record($1, asOf: view.position) } }
}

extension ChatStore {
    /// The threads that a viewer may be shown, for the operator all of them: a viewer's are those of their memberships.
    func shownThreads(_ viewer: UserID?, _ moment: AsOf) throws(ChatError) -> (Scan, Sections) {
        try sections(moment, for: viewer) { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            return viewer.map { models.scan(membershipsOf: $0) } ?? models.scanOfThreads()
        }
    }

    /// Sections as of now, also after a close.
    var presentSections: Sections {
        present { _, now in Sections(readSide: readSide, view: Viewpoint(viewer: nil, position: now, present: now)) }
    }

    /// The threads that a user was in, in no order; also after a close.
    func threads(of user: UserID, asOf position: Position) -> [ThreadID] {
        let sections = presentSections
        return sections.compactMap(sections.ask { $0.scan(membershipsOf: user) }) { models, row in
            models.stay(ofMembership: row, asOf: position).map { models.threadID($0) }
        }
    }

    /// The places of those threads, in the order of their latest events.
    func threadPlaces(_ viewer: UserID?, _ moment: AsOf) throws(ChatError) -> ([ThreadPlace], Sections) {
        let (scan, sections) = try shownThreads(viewer, moment)
        return (sections.places(scan), sections)
    }
}
