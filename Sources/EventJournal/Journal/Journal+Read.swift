internal import Locking

extension Journal {
    /// The last position, for a reading of the files apart from the journal's state.
    func snapshotForVerifying() throws(JournalError) -> Position {
        try change { (state) throws(JournalError) in
            if state.isClosed { throw JournalError(.closed, "The journal has been closed.", path: directory.path) }
            try state.writePending()
            return state.lastPosition
        }
    }

    /// Calls a closure with the records at some positions, in order, each with its position.
    ///
    /// Every record's checksum is verified each time. A record that cannot be delivered as it was written ends the reading with an error that
    /// names the place; none is ever skipped. The spans are valid only during the call of `body`.
    ///
    /// - Parameters:
    ///   - positions: Within 1 and ``lastPosition``. What is beyond ``durablePosition`` must not be shown to anybody.
    ///   - body: Is given the position, what the record still holds, the kept part and the erasable part (empty unless the record is whole);
    ///     returns whether to go on.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: Linear in the bytes of the records read, and one small read more. Memory is one buffer of about 1 MiB at most.
    public func forEachRecord(
        in positions: ClosedRange<Position>,
        _ body: (_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) -> Bool
    ) throws(JournalError) {
        try read([positions]) { place, state, kept, erasable in body(place.position, state, kept, erasable) }
    }

    /// Calls a closure with the records at some positions and with the last position of the commit of each; otherwise as ``forEachRecord(in:_:)``.
    package func forEachCommittedRecord(
        in positions: ClosedRange<Position>,
        _ body: (_ position: Position, _ commitEnd: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) -> Bool
    ) throws(JournalError) {
        try read([positions]) { place, state, kept, erasable in
            body(place.position, place.position + Position(place.recordsLeft) - 1, state, kept, erasable)
        }
    }

    /// Calls a closure with the records at each of some positions, which ascend.
    ///
    /// As ``forEachRecord(in:_:)`` for each of them, and less work where there are many.
    ///
    /// - Parameters:
    ///   - positions: Each within 1 and ``lastPosition`` and not below the one before it.
    ///   - body: As for ``forEachRecord(in:_:)``.
    /// - Throws: `outOfRange` (one is not there, or below the one before it; nothing was delivered), `closed`, `damaged`, `ioFailed`. What lies between positions that
    ///   are read together has to be readable too.
    /// - Complexity: For each position one read, seldom two, of some 4 KiB before the record and as much as its neighbours let expect of it; those that lie close
    ///   together share a read.
    public func forEachRecord(
        at positions: [Position],
        _ body: (_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) -> Bool
    ) throws(JournalError) {
        if positions.isEmpty { return }
        try checkAscending(positions)
        try read(positions.map { $0...$0 }) { place, state, kept, erasable in body(place.position, state, kept, erasable) }
    }

    private func read(
        _ positions: [ClosedRange<Position>], _ body: (RecordPlace, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) {
        var rest = PositionList(positions)
        while !rest.isEmpty {
            let place = try find { (published) throws(JournalError) in try published.place(&rest, in: directory) }
            let stretch: Stretch =
                switch place {
                case .active(let stretch): stretch
                case .sealed(let start, let next, let positions): try Stretch(try sealed.segment(from: start, to: next), positions)
                }
            do throws(JournalError) {
                guard try read(stretch, body) else { return }
            } catch {
                // Whoever reads it next opens it again and finds what is under the name by then.
                sealed.forget(stretch.segment)
                throw error
            }
        }
    }

    /// Returns what a search of the written commits finds.
    ///
    /// The search returns nil for commits that are only in memory; they are written, and it runs again.
    func find<Result: Sendable>(
        _ search: (borrowing PublishedState) throws(JournalError) -> Result?
    ) throws(JournalError) -> Result {
        while true {
            if let result = try published.withLock({ (published) throws(JournalError) in try search(published) }) { return result }
            try change { (state) throws(JournalError) in try state.writePending() }
        }
    }

    /// Reads the stretch of one segment; false when `body` ended the reading.
    private func read(
        _ stretch: Stretch, _ body: (RecordPlace, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) -> Bool {
        let size = stretch.runs.reduce(0) { max($0, Int(min(max($1.ahead, $1.bound) - UInt64($1.start.offset), UInt64(FileWindow.chunk)))) }
        var window = FileWindow(stretch.segment.file, buffer: buffers.take(size))
        defer { buffers.give(window.buffer) }
        return try withoutActuallyEscaping(body) { (body) throws(JournalError) in
            var delivery = Delivery(body: body)
            guard let first = stretch.runs.first else { return true }
            var walk = CommitWalk(of: first, in: stretch.segment)
            for run in stretch.runs {
                guard try read(run, of: stretch.segment, &walk, &window, &delivery) else { return false }
            }
            return true
        }
    }

    /// Reads a run of records, by going on with the walk of the run before it where that has come far enough; false when the delivery ended the reading.
    private func read(
        _ run: Stretch.Run, of segment: Segment, _ walk: inout CommitWalk, _ window: inout FileWindow, _ delivery: inout Delivery
    ) throws(JournalError) -> Bool {
        if walk.offset >= UInt64(run.start.offset), walk.position <= run.positions.lowerBound {
            walk.range = run.positions
        } else {
            walk = CommitWalk(of: run, in: segment)
        }
        let outcome: CommitWalk.Outcome
        do throws(JournalError) {
            outcome = try walk.run(&window, ahead: run.ahead, bound: run.bound, &delivery)
        } catch {
            throw error.inSegment(segment.name)
        }
        switch outcome {
        case .done: return true
        case .stopped: return false
        case .bad(let problem):
            throw JournalError(
                .damaged, problem.message, path: directory.file(segment.name), segment: segment.name, bytes: problem.bytes,
                positions: problem.positions)
        case .end, .sealed, .need:
            // The walk ends only where its last position is; a zero length before that was not there when the segment was opened.
            if walk.position > run.positions.upperBound { return true }
            throw JournalError(
                .damaged, "A commit that was there has gone.", path: directory.file(segment.name),
                segment: segment.name, bytes: walk.offset..<max(walk.offset, segment.end),
                positions: walk.position...run.positions.upperBound)
        }
    }
}

extension CommitWalk {
    /// Begins where a run of records is looked for.
    fileprivate init(of run: Stretch.Run, in segment: Segment) {
        self.init(
            segment: segment, from: UInt64(run.start.offset), position: segment.header.firstPosition + UInt64(run.start.relativePosition),
            recordsLeft: run.start.recordsLeft, through: run.positions)
    }
}

/// Hands records to a closure.
private struct Delivery: CommitVisitor {
    let body: (RecordPlace, RecordContentState, RawSpan, RawSpan) -> Bool

    mutating func begin(_ header: CommitHeader, at offset: UInt64) -> Bool { true }

    mutating func record(_ place: RecordPlace, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool {
        body(place, layout.state, bytes.extracting(layout.kept), bytes.extracting(layout.erasable))
    }

    mutating func end(_ header: CommitHeader, at offset: UInt64) {}
}
