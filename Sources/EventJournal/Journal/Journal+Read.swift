internal import Locking
private import Primitives
private import Synchronization

extension Journal {
    /// Calls a closure with each record in a range of positions, in order.
    ///
    /// Each read verifies the record's checksum. A record that is not as it was written ends the
    /// read with an error that gives its location; no record is skipped. The spans are valid only
    /// during the call of `body`.
    ///
    /// - Parameters:
    ///   - positions: Within 1 and ``lastPosition``. Records beyond ``durablePosition`` must not be
    ///     shown to users.
    ///   - body: Receives the position, the state of the record's content, the kept part and the
    ///     erasable part (empty unless the record is whole). Returns whether to continue.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: Linear in the bytes of the records read, plus one small read. Uses one buffer
    ///   of at most about 1 MiB.
    public func forEachRecord(in positions: ClosedRange<Position>, _ body: RecordHandler) throws(JournalError) {
        try read([positions]) { place, _, layout, record in
            body(place.position, layout.state, record.extracting(layout.kept), record.extracting(layout.erasable))
        }
    }

    /// Calls a closure with each record in a range of positions and the head at the end of its
    /// commit.
    ///
    /// Otherwise the same as ``forEachRecord(in:_:)``, except that a range that starts inside a
    /// commit is read from the header of that commit.
    ///
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    public func forEachCommittedRecord(in positions: ClosedRange<Position>, _ body: CommittedRecordHandler)
        throws(JournalError)
    {
        try read([positions], fromHeaders: true) { place, chain, layout, record in
            let commitEnd = place.position + Position(place.recordsLeft) - 1
            let head = JournalHead(journal: id, position: commitEnd, chain: chain)
            return body(
                place.position, head, layout.state, record.extracting(layout.kept), record.extracting(layout.erasable))
        }
    }

    /// Calls a closure with the record at each of the given positions, in ascending order.
    ///
    /// Equivalent to ``forEachRecord(in:_:)`` for each position, with fewer reads.
    ///
    /// - Parameters:
    ///   - positions: Each within 1 and ``lastPosition``, in ascending order; duplicates are
    ///     allowed.
    ///   - body: The same as for ``forEachRecord(in:_:)``.
    /// - Throws: `outOfRange` (a position does not exist or is less than its predecessor; no record
    ///   was delivered), `closed`, `damaged`, `ioFailed`. Damage between two positions that share a
    ///   read also throws.
    /// - Complexity: One read for each position, rarely two, each of about 4 KiB plus the record's
    ///   estimated size. Nearby positions share a read.
    public func forEachRecord(at positions: [Position], _ body: RecordHandler) throws(JournalError) {
        if positions.isEmpty { return }
        try checkAscending(positions)
        try read(positions.map { $0...$0 }) { place, _, layout, record in
            body(place.position, layout.state, record.extracting(layout.kept), record.extracting(layout.erasable))
        }
    }

    /// Calls a closure with the parts of each record in a range that its leaf in the tree covers.
    ///
    /// Otherwise the same as ``forEachRecord(in:_:)``, except that it delivers hidden content too:
    /// the caller must not show it.
    ///
    /// - Parameter body: Receives the position, the state, the kept part and the content: the salt
    ///   and the erasable part of a whole record, and the digest of a stub.
    package func forEachRecordContent(in positions: ClosedRange<Position>, _ body: RecordContentHandler)
        throws(JournalError)
    {
        try read([positions], hidesContent: false) { place, _, layout, record in
            body(place.position, layout.state, record.extracting(layout.kept), record.extracting(layout.content))
        }
    }

    /// Calls a closure with the stored form of each record in a range of positions, in order.
    ///
    /// Otherwise the same as ``forEachRecord(in:_:)``, except that it delivers hidden content too:
    /// the caller must not show it.
    package func forEachStoredRecord(in positions: ClosedRange<Position>, _ body: StoredRecordHandler)
        throws(JournalError)
    {
        try read([positions], hidesContent: false) { place, _, _, record in
            body(place.position, Int(place.recordsLeft), record)
        }
    }

    /// Receives a record and the chain value after its commit.
    ///
    /// The chain value is valid only if the read begins at the header of the commit.
    fileprivate typealias RecordBody = (RecordLocation, _ chain: UInt64, RecordLayout, _ record: RawSpan) -> Bool

    /// Reads ranges of positions.
    ///
    /// - Parameters:
    ///   - fromHeaders: Whether the read of a range begins at the header of the commit that
    ///     contains its first record, or wherever the index is nearest.
    ///   - hidesContent: Whether hidden content is delivered as erased.
    private func read(
        _ positions: [ClosedRange<Position>], fromHeaders: Bool = false, hidesContent: Bool = true, _ body: RecordBody
    ) throws(JournalError) {
        var rest = ReadRanges(positions, fromHeaders: fromHeaders)
        while !rest.isEmpty {
            // Before the segment is opened: a file that is replaced later makes this version stale.
            let version = hiddenContentVersion.load(ordering: .acquiring)
            let hidden = hidesContent ? published.withLock { $0.hiddenContent } : PositionSet()
            let place = try withPublishedState { (published) throws(JournalError) in
                try published.takeNextLocation(&rest, in: directory)
            }
            let part: SegmentPart =
                switch place {
                case .active(let part): part
                case .sealed(let start, let next, let positions):
                    try SegmentPart(
                        try sealedSegments.segment(from: start, to: next), positions, fromHeaders: fromHeaders)
                }
            do throws(JournalError) {
                switch try read(part, ContentFilter(journal: self, version: version, hidden: hidden), body) {
                case .completed: break
                case .ended: return
                case .stale(let unread): rest.putBack(unread)
                }
            } catch {
                // The file may have been replaced, so the next read opens it again.
                sealedSegments.remove(part.segment)
                throw error
            }
        }
    }

    /// Returns the result of a search of the written commits.
    ///
    /// The search returns nil if it needs commits that are only in memory. These are then
    /// written, and the search runs again.
    func withPublishedState<Result: Sendable>(
        writingPendingIfNil search: (borrowing PublishedState) throws(JournalError) -> Result?
    ) throws(JournalError) -> Result {
        while true {
            if let result = try published.withLock({ (published) throws(JournalError) in try search(published) }) {
                return result
            }
            try updateState { (state) throws(JournalError) in try state.writePending() }
        }
    }

    private enum PartOutcome {
        case completed
        /// The closure ended the read.
        case ended
        /// The hidden content changed before these ranges were read.
        case stale(ArraySlice<ClosedRange<Position>>)
    }

    /// Reads the given ranges of one segment.
    private func read(_ part: SegmentPart, _ filter: ContentFilter, _ body: RecordBody) throws(JournalError)
        -> PartOutcome
    {
        guard let first = part.runs.first else { return .completed }
        let size = part.runs.reduce(0) {
            max($0, Int(min(max($1.prefetchEnd, $1.bound) - UInt64($1.start.offset), UInt64(FileWindow.chunkSize))))
        }
        var reader = CommitReader(
            of: first.positions, in: part.segment, from: first.start, buffer: buffers.acquire(size))
        defer { buffers.release(reader.buffer) }
        return try withoutActuallyEscaping(body) { (body) throws(JournalError) in
            var delivery = Delivery(body: body, filter: filter)
            for (index, run) in part.runs.enumerated() {
                reader.seek(to: run.positions, in: part.segment, from: run.start)
                let last = run.positions.upperBound
                if try reader.readRequired(
                    through: last, of: directory, &delivery, prefetchEnd: run.prefetchEnd, bound: run.bound)
                {
                    continue
                }
                guard let stale = delivery.stalePosition else { return .ended }
                return .stale([stale...last] + part.runs[(index + 1)...].map(\.positions))
            }
            return .completed
        }
    }
}

/// What a read knew of hidden content when it opened a segment.
private struct ContentFilter {
    let journal: Journal
    let version: UInt64
    let hidden: PositionSet

    /// Whether the hidden content has changed since.
    var isStale: Bool { journal.hiddenContentVersion.load(ordering: .acquiring) != version }
}

/// Passes records to a closure; a hidden content is delivered as an erased one.
private struct Delivery: CommitVisitor {
    let body: Journal.RecordBody
    let filter: ContentFilter
    /// The chain value after the current commit, from its header.
    private var commitChain: UInt64 = 0
    /// The position before which the read must begin again, because hidden content has changed.
    private(set) var stalePosition: Position?

    init(body: @escaping Journal.RecordBody, filter: ContentFilter) { (self.body, self.filter) = (body, filter) }

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool {
        commitChain = header.chain
        return true
    }

    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool
    {
        if filter.isStale {
            stalePosition = place.position
            return false
        }
        guard !filter.hidden.isEmpty, layout.hasErasableContent, filter.hidden.contains(place.position) else {
            return body(place, commitChain, layout, bytes)
        }
        var hidden = layout
        (hidden.state, hidden.erasable) = (.erased, layout.erasable.upperBound..<layout.erasable.upperBound)
        return body(place, commitChain, hidden, bytes)
    }
}

/// The ranges of a read that lie in one segment.
struct SegmentPart {
    /// A range of consecutive records.
    struct Run {
        var start: SparseIndex.Entry
        /// See ``CommitReader/read(_:prefetchEnd:bound:)``.
        var prefetchEnd: UInt64
        /// The offset at or beyond the end of the last record.
        var bound: UInt64
        var positions: ClosedRange<Position>
    }

    /// The segment, without its index: the index of the active segment grows, and sharing it would
    /// copy it.
    var segment: Segment
    var runs: [Run]

    init(_ segment: Segment, _ positions: [ClosedRange<Position>], fromHeaders: Bool) throws(JournalError) {
        let first = segment.header.firstPosition
        runs = []
        runs.reserveCapacity(positions.count)
        let end = (relativePosition: segment.lastPosition + 1 - first, offset: segment.end)
        var hint = 0
        for positions in positions {
            guard
                let found = segment.index.findReadExtent(
                    positions.lowerBound - first, positions.upperBound - first, end: end, from: &hint)
            else {
                throw JournalError(
                    .damaged, "The segment's index does not cover its records.", segment: segment.name,
                    positions: positions)
            }
            let relativeFirst = positions.lowerBound - first
            let start = fromHeaders ? segment.index.header(of: relativeFirst, from: found.start) : found.start
            runs.append(Run(start: start, prefetchEnd: found.estimate, bound: found.bound, positions: positions))
        }
        // One longer read takes less time than a second system call for a nearby range.
        for index in runs.indices.dropLast().reversed()
        where UInt64(runs[index + 1].start.offset) <= runs[index].prefetchEnd + UInt64(SparseIndex.spacing) {
            runs[index].prefetchEnd = runs[index + 1].prefetchEnd
        }
        self.segment = segment
        self.segment.index = SparseIndex()
    }
}

/// The location of the next part of a read.
enum ReadLocation {
    case active(SegmentPart)
    /// Ranges of positions in the sealed segment between the two starts.
    case sealed(SegmentStart, next: SegmentStart, [ClosedRange<Position>])
}

extension PublishedState {
    /// Returns where to read the first position, and removes the ranges of its segment from the
    /// list.
    ///
    /// Returns nil if any of the positions is only in memory.
    func takeNextLocation(_ list: inout ReadRanges, in directory: JournalDirectory) throws(JournalError)
        -> ReadLocation?
    {
        let positions = list.bounds
        guard try isWritten(positions) else { return nil }
        if positions.lowerBound >= active.header.firstPosition {
            return .active(
                try SegmentPart(active, list.removeRanges(through: positions.upperBound), fromHeaders: list.fromHeaders)
            )
        }
        let (start, next) = sealedSegment(at: positions.lowerBound)
        return .sealed(start, next: next, list.removeRanges(through: next.position - 1))
    }
}

/// Ranges of positions left to read, ascending by lower bound.
struct ReadRanges {
    /// The maximum number of ranges removed at once; they are looked up under the journal's lock.
    static let maximumBatchCount = 256

    /// Whether the read of a range begins at a commit's header.
    let fromHeaders: Bool
    private var ranges: [ClosedRange<Position>]
    private var next = 0

    init(_ ranges: [ClosedRange<Position>], fromHeaders: Bool = false) {
        self.ranges = ranges
        self.fromHeaders = fromHeaders
    }

    var isEmpty: Bool { next == ranges.count }

    /// The range from the first to the last position left.
    ///
    /// - Precondition: The list is not empty.
    var bounds: ClosedRange<Position> { ranges[next].lowerBound...ranges[ranges.count - 1].upperBound }

    /// Adds ranges again that were removed but not read.
    mutating func putBack(_ unread: some Sequence<ClosedRange<Position>>) {
        ranges = Array(unread) + ranges[next...]
        next = 0
    }

    /// Removes and returns the ranges up to a position, at most one batch.
    mutating func removeRanges(through last: Position) -> [ClosedRange<Position>] {
        let first = next
        let end = min(first + Self.maximumBatchCount, ranges.count)
        while next < end, ranges[next].upperBound <= last { next += 1 }
        var taken = Array(ranges[first..<next])
        if next < end, ranges[next].lowerBound <= last {
            taken.append(ranges[next].lowerBound...last)
            ranges[next] = last + 1...ranges[next].upperBound
        }
        return taken
    }
}

/// Reusable read buffers.
///
/// A random read takes less time than an allocation.
final class ReadBufferPool: Sendable {
    /// The maximum size in bytes of a small buffer.
    private static let small = 64 << 10

    private struct Idle {
        var small: [[UInt8]] = []
        var large: [[UInt8]] = []
    }

    private let idle = Lock(Idle())

    func acquire(_ count: Int) -> [UInt8] {
        let buffer = idle.withLock { idle in count <= Self.small ? idle.small.popLast() : idle.large.popLast() }
        if let buffer, buffer.count >= count { return buffer }
        return [UInt8](repeating: 0, count: max(count, 8 << 10))
    }

    func release(_ buffer: [UInt8]) {
        idle.withLock { idle in
            if buffer.count <= Self.small {
                if idle.small.count < 16 { idle.small.append(buffer) }
            } else if idle.large.count < 2 {
                idle.large.append(buffer)
            }
        }
    }
}
