internal import Locking

/// The sealed segments of a journal: opened as they are read, and only the latest few kept open.
///
/// Readers of one segment wait until one of them has opened it; readers of other segments do not.
///
/// A journal may have more segments than a process may have files, each crash adds one, and the memory of their indexes is bounded with
/// them. A segment that has been replaced by its next generation is met when it is opened again; who reads the old one goes on reading it.
final class SealedSegments: Sendable {
    /// Enough for a working set of segments, and far below the least limit of open files that is met in practice (256).
    static let capacity = 64

    /// A segment that is open, or that a reader opens under this lock; others who want it wait for that reader, and for no other.
    private final class Entry: Sendable {
        let segment = Lock<Segment?>(nil)
    }

    private struct State {
        var entries: [Position: Entry] = [:]
        /// Their first positions, the one used longest ago first.
        var order: [Position] = []

        /// The entry of the segment that begins at a position, and the one that gives way to it.
        mutating func entry(_ first: Position) -> (entry: Entry, evicted: Entry?) {
            let known = entries[first]
            if let known, order.last == first { return (known, nil) }
            if known != nil { order.removeAll { $0 == first } }
            order.append(first)
            if let known { return (known, nil) }
            let new = Entry()
            entries[first] = new
            return (new, order.count > SealedSegments.capacity ? entries.removeValue(forKey: order.removeFirst()) : nil)
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

    /// The segment that begins at `start` and ends where `next` begins, its index included.
    ///
    /// - Throws: `damaged` when the file holds other records than the journal was opened with; `ioFailed` and the like.
    /// - Complexity: Reads the footer if the segment is not open; all of it if the footer is not to be trusted.
    func segment(from start: SegmentStart, to next: SegmentStart) throws(JournalError) -> Segment {
        // An evicted segment's file is closed outside the lock.
        let (entry, _) = state.withLock { $0.entry(start.position) }
        return try entry.segment.withLock { (segment) throws(JournalError) in
            if let segment { return segment }
            let loaded = try load(start, next)
            segment = loaded
            return loaded
        }
    }

    /// Lets go of a segment in which something could not be read.
    func forget(_ segment: Segment) {
        let first = segment.header.firstPosition
        state.withLock { state in
            state.entries[first] = nil
            state.order.removeAll { $0 == first }
        }
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
            throw damaged("The segment's chain value does not follow from the records before it.", header, from: start.position)
        }
        if let (footer, offset) = try opened.footer(), footer.firstPosition == next.position, footer.chain == next.chain,
            let index = try storage({ () throws(StorageError) in
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
                scan.problem?.bytes ?? scan.segment.end..<max(scan.segment.end, opened.size), from: scan.segment.lastPosition + 1)
        }
        guard scan.chain == next.chain else {
            throw damaged("The segment holds other records than when the journal was opened.", header, from: start.position)
        }
        return scan.segment
    }
}
