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

    /// Calls a closure with the records at some positions, each with the last position of its commit.
    ///
    /// Otherwise as ``forEachRecord(in:_:)``.
    ///
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    public func forEachCommittedRecord(
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
        var rest = ReadRanges(positions)
        while !rest.isEmpty {
            let place = try find { (published) throws(JournalError) in try published.place(&rest, in: directory) }
            let part: SegmentPart =
                switch place {
                case .active(let part): part
                case .sealed(let start, let next, let positions): try SegmentPart(try sealed.segment(from: start, to: next), positions)
                }
            do throws(JournalError) {
                guard try read(part, body) else { return }
            } catch {
                // The next reader opens the segment again and finds what is under the name by then.
                sealed.forget(part.segment)
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

    /// Reads the part of a reading that lies in one segment; false when `body` ended the reading.
    private func read(
        _ part: SegmentPart, _ body: (RecordPlace, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) -> Bool {
        guard let first = part.runs.first else { return true }
        let size = part.runs.reduce(0) { max($0, Int(min(max($1.ahead, $1.bound) - UInt64($1.start.offset), UInt64(FileWindow.chunk)))) }
        var reader = CommitReader(of: first.positions, in: part.segment, from: first.start, buffer: buffers.take(size))
        defer { buffers.give(reader.buffer) }
        return try withoutActuallyEscaping(body) { (body) throws(JournalError) in
            var delivery = Delivery(body: body)
            for run in part.runs {
                reader.seek(to: run.positions, in: part.segment, from: run.start)
                let last = run.positions.upperBound
                guard try reader.readKnown(through: last, of: directory, &delivery, ahead: run.ahead, bound: run.bound) else {
                    return false
                }
            }
            return true
        }
    }
}

/// Hands records to a closure.
private struct Delivery: CommitVisitor {
    let body: (RecordPlace, RecordContentState, RawSpan, RawSpan) -> Bool

    mutating func record(_ place: RecordPlace, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool {
        body(place, layout.state, bytes.extracting(layout.kept), bytes.extracting(layout.erasable))
    }
}

/// The part of a reading that lies in one segment.
struct SegmentPart {
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

/// Where the next part of a reading lies.
enum ReadPlace {
    case active(SegmentPart)
    /// At these positions in the sealed segment that begins at the first place and ends where the next one begins.
    case sealed(SegmentStart, next: SegmentStart, [ClosedRange<Position>])
}

extension PublishedState {
    /// Where to read the first of these positions, and with it as many of the next as its segment has, which are taken out.
    ///
    /// Nil when one of them is only in memory.
    func place(_ list: inout ReadRanges, in directory: JournalDirectory) throws(JournalError) -> ReadPlace? {
        let positions = list.bounds
        guard try isWritten(positions, in: directory) else { return nil }
        if positions.lowerBound >= active.header.firstPosition {
            return .active(try SegmentPart(active, list.take(through: positions.upperBound)))
        }
        let (start, next) = sealed(at: positions.lowerBound)
        return .sealed(start, next: next, list.take(through: next.position - 1))
    }
}

/// Ranges of positions left to read, in ascending order of their beginnings.
struct ReadRanges {
    /// The maximum of ranges taken out together: they are looked up under the journal's lock.
    static let batch = 256

    private var ranges: [ClosedRange<Position>]
    private var next = 0

    init(_ ranges: [ClosedRange<Position>]) { self.ranges = ranges }

    var isEmpty: Bool { next == ranges.count }

    /// From the first position to the last; there has to be one.
    var bounds: ClosedRange<Position> { ranges[next].lowerBound...ranges[ranges.count - 1].upperBound }

    /// Takes out what does not lie beyond a position, or a batch of it.
    mutating func take(through last: Position) -> [ClosedRange<Position>] {
        let first = next
        let end = min(first + Self.batch, ranges.count)
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
