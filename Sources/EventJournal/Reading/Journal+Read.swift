internal import Locking

extension Journal {
    /// The last position, for a reading of the files apart from the journal's state.
    func snapshotForVerifying() throws(JournalError) -> Position {
        try state.withLock { (state) throws(JournalError) in
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
        _ body: (_ position: Position, _ state: RecordState, _ kept: RawSpan, _ erasable: RawSpan) -> Bool
    ) throws(JournalError) {
        var next = positions.lowerBound
        while true {
            let place = try state.withLock { (state) throws(JournalError) in
                try state.place(next...positions.upperBound, in: directory)
            }
            let stretch: Stretch =
                switch place {
                case .active(let stretch): stretch
                case .sealed(let start, let next, let positions): try Stretch(try sealed.segment(from: start, to: next), positions)
                }
            do throws(JournalError) {
                guard try read(stretch, body), stretch.positions.upperBound < positions.upperBound else { return }
            } catch {
                // Whoever reads it next opens it again and finds what is under the name by then.
                sealed.forget(stretch.segment)
                throw error
            }
            next = stretch.positions.upperBound + 1
        }
    }

    /// Reads the stretch of one segment; false when `body` ended the reading.
    private func read(
        _ stretch: Stretch, _ body: (Position, RecordState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) -> Bool {
        let size = Int(min(stretch.bound - UInt64(stretch.start.offset), UInt64(FileWindow.chunk)))
        var window = FileWindow(stretch.segment.file, buffer: buffers.take(size))
        defer { buffers.give(window.buffer) }
        var walk = CommitWalk(
            segment: stretch.segment, from: UInt64(stretch.start.offset),
            position: stretch.segment.header.firstPosition + UInt64(stretch.start.relativePosition),
            recordsLeft: stretch.start.recordsLeft, through: stretch.positions)
        let outcome: CommitWalk.Outcome
        do throws(JournalError) {
            outcome = try withoutActuallyEscaping(body) { (body) throws(JournalError) in
                var delivery = Delivery(body: body)
                return try walk.run(&window, bound: stretch.bound, &delivery)
            }
        } catch {
            throw error.inSegment(stretch.segment.name)
        }
        switch outcome {
        case .done: return true
        case .stopped: return false
        case .bad(let problem):
            throw JournalError(
                .damaged, problem.message, path: directory.file(stretch.segment.name), segment: stretch.segment.name,
                bytes: problem.bytes, positions: problem.positions)
        case .end, .sealed, .need:
            // The walk ends only where its last position is; a zero length before that was not there when the segment was opened.
            if walk.position > stretch.positions.upperBound { return true }
            throw JournalError(
                .damaged, "A commit that was there has gone.", path: directory.file(stretch.segment.name),
                segment: stretch.segment.name, bytes: walk.offset..<max(walk.offset, stretch.segment.end),
                positions: walk.position...stretch.positions.upperBound)
        }
    }
}

/// A part of a reading that lies in one segment.
struct Stretch {
    /// The segment, with an empty index: the journal's own may grow meanwhile.
    var segment: Segment
    var start: SparseIndex.Entry
    /// The offset at which the last position has been passed.
    var bound: UInt64
    var positions: ClosedRange<Position>

    init(_ segment: Segment, _ positions: ClosedRange<Position>) throws(JournalError) {
        let first = segment.header.firstPosition
        guard let (start, bound) = segment.index.lookUp(positions.lowerBound - first, positions.upperBound - first) else {
            throw JournalError(
                .damaged, "The segment's index does not cover its records.", segment: segment.name, positions: positions)
        }
        self.segment = segment
        self.segment.index = SparseIndex()
        self.start = start
        self.bound = bound ?? segment.end
        self.positions = positions
    }
}

/// Where a part of a reading is to be found.
enum Place {
    case active(Stretch)
    /// At these positions in the sealed segment that begins at the first place and ends where the next one begins.
    case sealed(SegmentStart, next: SegmentStart, ClosedRange<Position>)
}

extension JournalState {
    /// Where to read the first of these positions, and as many of the next as its segment has.
    mutating func place(_ positions: ClosedRange<Position>, in directory: JournalDirectory) throws(JournalError) -> Place {
        if isClosed { throw JournalError(.closed, "The journal has been closed.", path: directory.path) }
        guard positions.lowerBound >= 1, positions.upperBound <= lastPosition else {
            throw JournalError(
                .outOfRange, "The journal holds the positions from 1 to \(lastPosition).", path: directory.path, positions: positions)
        }
        if pending.byteCount > 0, positions.upperBound > pending.base { try writePending() }
        if positions.lowerBound >= active.header.firstPosition { return .active(try Stretch(active, positions)) }
        var low = 0
        var high = sealedStarts.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if sealedStarts[middle].position <= positions.lowerBound { low = middle } else { high = middle - 1 }
        }
        let next = low + 1 < sealedStarts.count ? sealedStarts[low + 1] : SegmentStart(active.header)
        return .sealed(sealedStarts[low], next: next, positions.lowerBound...min(positions.upperBound, next.position - 1))
    }
}

/// Hands records to a closure.
private struct Delivery: CommitVisitor {
    let body: (Position, RecordState, RawSpan, RawSpan) -> Bool

    mutating func begin(_ header: CommitHeader, at offset: UInt64) -> Bool { true }

    mutating func record(_ place: RecordPlace, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool {
        body(place.position, layout.state, bytes.extracting(layout.kept), bytes.extracting(layout.erasable))
    }

    mutating func end(_ header: CommitHeader, at offset: UInt64) {}
}
