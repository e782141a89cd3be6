internal import Locking

extension Journal {
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

/// A part of a reading that lies in one segment.
struct Stretch {
    /// Records that follow one another.
    struct Run {
        var start: SparseIndex.Entry
        /// Up to where it is worth reading at once.
        var ahead: UInt64
        /// The offset at which the last position has been passed.
        var bound: UInt64
        var positions: ClosedRange<Position>
    }

    /// The segment, with an empty index: the journal's own may grow meanwhile.
    var segment: Segment
    var runs: [Run]

    init(_ segment: Segment, _ positions: [ClosedRange<Position>]) throws(JournalError) {
        let first = segment.header.firstPosition
        runs = []
        runs.reserveCapacity(positions.count)
        let end = (relativePosition: segment.lastPosition + 1 - first, offset: segment.end)
        var hint = 0
        for positions in positions {
            guard
                let found = segment.index.lookUp(positions.lowerBound - first, positions.upperBound - first, end: end, from: &hint)
            else {
                throw JournalError(
                    .damaged, "The segment's index does not cover its records.", segment: segment.name, positions: positions)
            }
            runs.append(Run(start: found.start, ahead: found.estimate, bound: found.bound, positions: positions))
        }
        // Reading what lies between neighbours takes less time than another system call.
        for index in runs.indices.dropLast().reversed()
        where UInt64(runs[index + 1].start.offset) <= runs[index].ahead + UInt64(SparseIndex.spacing) {
            runs[index].ahead = runs[index + 1].ahead
        }
        self.segment = segment
        self.segment.index = SparseIndex()
    }
}

/// Where a part of a reading is to be found.
enum Place {
    case active(Stretch)
    /// At these positions in the sealed segment that begins at the first place and ends where the next one begins.
    case sealed(SegmentStart, next: SegmentStart, [ClosedRange<Position>])
}

extension PublishedState {
    /// Where to read the first of these positions, and with it as many of the next as its segment has, which are taken out.
    ///
    /// Nil when one of them is only in memory.
    func place(_ list: inout PositionList, in directory: JournalDirectory) throws(JournalError) -> Place? {
        let positions = list.bounds
        guard try isWritten(positions, in: directory) else { return nil }
        if positions.lowerBound >= active.header.firstPosition {
            return .active(try Stretch(active, list.take(through: positions.upperBound)))
        }
        let (start, next) = sealed(at: positions.lowerBound)
        return .sealed(start, next: next, list.take(through: next.position - 1))
    }
}

/// What of a reading is still to be done: ranges of positions, none of which begins before the one before it does.
struct PositionList {
    /// How many ranges are taken out together at most: they are looked up under the journal's lock.
    static let portion = 256

    private var ranges: [ClosedRange<Position>]
    private var next = 0

    init(_ ranges: [ClosedRange<Position>]) { self.ranges = ranges }

    var isEmpty: Bool { next == ranges.count }

    /// From the first position to the last; there has to be one.
    var bounds: ClosedRange<Position> { ranges[next].lowerBound...ranges[ranges.count - 1].upperBound }

    /// Takes out what does not lie beyond a position, or a portion of it.
    mutating func take(through last: Position) -> [ClosedRange<Position>] {
        let first = next
        let end = min(first + Self.portion, ranges.count)
        while next < end, ranges[next].upperBound <= last { next += 1 }
        var taken = Array(ranges[first..<next])
        if next < end, ranges[next].lowerBound <= last {
            taken.append(ranges[next].lowerBound...last)
            ranges[next] = last + 1...ranges[next].upperBound
        }
        return taken
    }
}

/// Buffers that reads leave for the next ones: a random read takes less time than making a buffer for it.
final class ReadBuffers: Sendable {
    /// Up to this size a buffer counts as small.
    private static let small = 64 << 10

    private struct Idle {
        var small: [[UInt8]] = []
        var large: [[UInt8]] = []
    }

    private let idle = Lock(Idle())

    func take(_ count: Int) -> [UInt8] {
        let buffer = idle.withLock { idle in count <= Self.small ? idle.small.popLast() : idle.large.popLast() }
        if let buffer, buffer.count >= count { return buffer }
        return [UInt8](repeating: 0, count: max(count, 8 << 10))
    }

    func give(_ buffer: [UInt8]) {
        idle.withLock { idle in
            if buffer.count <= Self.small {
                if idle.small.count < 16 { idle.small.append(buffer) }
            } else if idle.large.count < 2 {
                idle.large.append(buffer)
            }
        }
    }
}
