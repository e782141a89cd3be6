internal import Primitives

/// The records of a log without segments as of the start of a run of its backup.
///
/// The copy divides the records into segments. The generation of a segment is the number of its
/// records that have no content, which only grows, and with each record that is erased. So it tells
/// which segments to copy again without a read of the others.
struct RecordSource<Log: MovableLog>: BackupSource {
    private let log: Log
    let limit: Position
    /// The records without content up to the limit, before any of them was read.
    private let erased: PositionSet
    private let segmentSize: UInt64
    private var entropy: EntropyPool

    /// - Throws: `outOfRange` if the position is beyond the durable end, and the errors of the log.
    init(_ log: Log, upTo position: Position?, _ options: JournalOptions) throws(JournalError) {
        let durable = try log.syncForCopy()
        if let position, position > durable {
            throw JournalError(
                .outOfRange, "The log is durable up to position \(durable).", positions: position...position)
        }
        (self.log, limit, segmentSize) = (log, position ?? durable, options.segmentSize)
        erased = try log.erasedRecords(through: limit)
        entropy = EntropyPool(options.entropy)
    }

    var journal: JournalID { log.id }
    var directory: JournalDirectory? { nil }

    func contains(_ position: Position, _ chain: UInt64) throws(JournalError) -> Bool {
        try log.contains(JournalHead(journal: log.id, position: position, chain: chain))
    }

    func canContinue(_ present: [SegmentReference]) -> Bool { true }

    /// The segments of the copy; the last one, or a new one after a sealed one, goes on to the
    /// limit.
    func segments(besides present: [SegmentReference], chain: UInt64) -> [BackupSegment] {
        var wanted = present.map { BackupSegment(start: $0.start, lastPosition: $0.lastPosition) }
        switch present.last {
        case nil: wanted = [BackupSegment(start: SegmentStart(1, chain: Chain.start(log.id)), lastPosition: limit)]
        case .last: wanted[wanted.count - 1].lastPosition = limit
        case .sealed(_, let next) where next.position <= limit:
            wanted.append(BackupSegment(start: SegmentStart(next.position, chain: chain), lastPosition: limit))
        case .sealed: break
        }
        return wanted
    }

    mutating func load(_ segment: BackupSegment) -> BackupOriginal {
        let header = SegmentHeader(
            journal: log.id, firstPosition: segment.start.position, chain: segment.start.chain, salt: entropy.next(),
            generation: generation(from: segment.start.position, through: segment.lastPosition))
        return BackupOriginal(header: header, lastPosition: segment.lastPosition)
    }

    func isSame(_ copy: Segment, as original: BackupOriginal) -> Bool {
        copy.header.generation == original.header.generation
    }

    func copyCommits(
        of original: BackupOriginal, to writer: inout SegmentWriter, atLeastThrough position: Position
    ) throws(JournalError) -> BackupSegment? {
        let last = original.lastPosition
        guard writer.lastPosition < last else { return nil }
        var isFull = false
        // The records of the unfinished commit that are still to come.
        var missing = 0
        var failure: JournalError?
        try log.forEachStoredRecord(in: writer.lastPosition + 1...last) { next, recordsLeft, record in
            if missing == 0 {
                if next + Position(recordsLeft) - 1 > last { return false }
                isFull = writer.end >= segmentSize && writer.lastPosition >= position
                if isFull { return false }
            }
            guard let stored = StoredRecord(record), recordsLeft >= 1, missing == 0 || recordsLeft == missing else {
                failure = JournalError(
                    .damaged, "The record to copy does not continue its commit.", positions: next...next)
                return false
            }
            missing = recordsLeft - 1
            do throws(JournalError) {
                // Stubs can be longer than their records, so a commit of many short records may
                // exceed the limit and is divided.
                if writer.commitLength + record.byteCount > JournalLimits.commitBytes { try writer.finishCommit() }
                writer.add(record, stored.layout)
                if missing == 0 { try writer.finishCommit() }
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        guard missing == 0, try contains(writer.lastPosition, writer.chain) else {
            let end = writer.lastPosition
            throw JournalError(
                .damaged, "The records that were read have another chain value than the log.", positions: end...end)
        }
        return isFull
            ? BackupSegment(start: SegmentStart(writer.lastPosition + 1, chain: writer.chain), lastPosition: last) : nil
    }

    func needs(_ last: Segment) -> Bool {
        last.lastPosition >= last.header.firstPosition || last.header.firstPosition == 1
    }

    func generation(of original: BackupOriginal, through position: Position) -> UInt32 {
        generation(from: original.header.firstPosition, through: position)
    }

    private func generation(from first: Position, through last: Position) -> UInt32 {
        first > last ? 0 : UInt32(truncatingIfNeeded: erased.clamped(to: first...last).count)
    }

    func hasErasedContent(since generations: [Position: UInt32]) throws(JournalError) -> Bool {
        try log.erasedRecords(through: limit) != erased
    }
}

extension MovableLog {
    /// - Complexity: Reads all records.
    package func erasedRecords(through last: Position) throws(JournalError) -> PositionSet {
        var erased = PositionSet()
        if last == 0 { return erased }
        try forEachStoredRecord(in: 1...last) { position, _, record in
            if let record = StoredRecord(record), record.state != .whole { erased.append(position) }
            return true
        }
        return erased
    }
}
