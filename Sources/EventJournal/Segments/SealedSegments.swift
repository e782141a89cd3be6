internal import Locking

/// The sealed segments of a journal, opened on demand; a bounded number of them stays open.
///
/// Readers of one segment wait until one of them has opened it. Readers of other segments do not
/// wait.
///
/// The bound limits open files and the memory of indexes, because a journal may have more segments
/// than a process may have open files; each crash adds a segment. A segment that was replaced by
/// its next generation is read when it is opened again. A reader of the old file continues to read
/// that file.
final class SealedSegments: Sendable {
    /// Large enough for a working set of segments, and far below the lowest common limit of open
    /// files (256).
    static let capacity = 64

    /// A segment that is open, or that a reader opens under this lock; only readers of this segment
    /// wait.
    private final class CachedSegment: Sendable { let segment = Lock<Segment?>(nil) }

    private struct State {
        var cached: [Position: CachedSegment] = [:]
        /// The first positions of the cached segments, the least recently used first.
        var order: [Position] = []

        /// Returns the cached segment at a first position, and the one evicted for it.
        mutating func cachedSegment(at first: Position) -> (segment: CachedSegment, evicted: CachedSegment?) {
            let known = cached[first]
            if let known, order.last == first { return (known, nil) }
            if known != nil { order.removeAll { $0 == first } }
            order.append(first)
            if let known { return (known, nil) }
            let new = CachedSegment()
            cached[first] = new
            return (new, order.count > SealedSegments.capacity ? cached.removeValue(forKey: order.removeFirst()) : nil)
        }
    }

    private let directory: JournalDirectory
    private let journal: JournalID
    /// Never held during I/O.
    private let state = Lock(State())

    init(_ directory: JournalDirectory, _ journal: JournalID) {
        self.directory = directory
        self.journal = journal
    }

    /// Returns the segment that begins at `start` and ends where `next` begins, with its index.
    ///
    /// - Throws: `damaged` if the file's records differ from those at the opening of the journal;
    ///   the storage's errors, such as `ioFailed`.
    /// - Complexity: Reads the footer if the segment is not open, or the whole segment if the
    ///   footer is damaged.
    func segment(from start: SegmentStart, to next: SegmentStart) throws(JournalError) -> Segment {
        // The lock is released before an evicted segment's file closes.
        let (cached, _) = state.withLock { $0.cachedSegment(at: start.position) }
        return try cached.segment.withLock { (segment) throws(JournalError) in
            if let segment { return segment }
            let loaded = try load(start, next)
            segment = loaded
            return loaded
        }
    }

    /// Removes a segment in which a read failed.
    func remove(_ segment: Segment) { remove(from: segment.header.firstPosition) }

    /// Removes the segment that begins at a position, so that the next read opens its file again.
    func remove(from first: Position) {
        state.withLock { state in
            state.cached[first] = nil
            state.order.removeAll { $0 == first }
        }
    }

    /// Removes all segments, so that the next reads open their files again.
    func removeAll() {
        // The files close outside the lock.
        let former = state.withLock { state in
            defer { state = State() }
            return state.cached
        }
        _ = former
    }

    private func load(_ start: SegmentStart, _ next: SegmentStart) throws(JournalError) -> Segment {
        let opened = try SegmentFile(directory, first: start.position, .read, journal: journal)
        var segment = opened.segment
        func damaged(_ message: String, _ bytes: Range<UInt64>, from position: Position) -> JournalError {
            JournalError(
                .damaged, message, path: directory.file(segment.name), segment: segment.name, bytes: bytes,
                positions: min(position, next.position - 1)...(next.position - 1))
        }
        let header = 0..<UInt64(SegmentHeader.size)
        guard segment.header.chain == start.chain else {
            throw damaged(
                "The segment's chain value does not follow from the records before it.", header, from: start.position)
        }
        if let (footer, offset) = try opened.footer(), footer.firstPosition == next.position,
            footer.chain == next.chain,
            let index = try convertingStorageErrors({ () throws(StorageError) in
                try SegmentFooter.index(of: footer, at: offset, in: segment.file, firstPosition: start.position)
            })
        {
            (segment.index, segment.end, segment.lastPosition) = (index, offset, footer.syncedPosition)
            return segment
        }
        var scan = SegmentScan(segment, size: opened.size)
        try scan.run()
        guard scan.segment.lastPosition == next.position - 1 else {
            throw damaged(
                scan.problem?.message ?? "Records are missing at the end of the segment.",
                scan.problem?.bytes ?? scan.segment.end..<max(scan.segment.end, opened.size),
                from: scan.segment.lastPosition + 1)
        }
        guard scan.chain == next.chain else {
            throw damaged("The segment's records changed after the journal was opened.", header, from: start.position)
        }
        return scan.segment
    }
}
