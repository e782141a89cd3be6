/// The content of a journal's files, determined by reading alone.
///
/// Let H be the highest position that a slot, header or valid commit attests as synced. The valid
/// prefix must contain H; otherwise opening fails. Beyond H, recovery removes only bytes that a
/// torn write explains. `RecoveryWriter` carries out what was determined.
struct Recovery {
    var id: JournalID
    var slots: DurableSlots
    /// The starts of the sealed segments.
    var sealedStarts: [SegmentStart] = []
    /// The number of bytes of the commits in the sealed segments.
    private(set) var sealedBytes: UInt64 = 0
    /// The last segment, which is always read; nil before.
    private var active: Segment?
    /// The chain value after the last valid record.
    var chain: UInt64
    var lastPosition: Position = 0
    var report = RecoveryReport()
    /// The offset in the last segment of the bytes to rewrite, because no file attests them as
    /// synced.
    var rewriteOffset: UInt64?
    /// The size of the last segment's file.
    var lastFileSize: UInt64 = 0

    /// The last segment.
    var lastSegment: Segment {
        guard let active else { preconditionFailure("a recovery that did not throw has read the last segment") }
        return active
    }

    /// Whether the last segment ends in its footer, so that a new segment must follow.
    private(set) var isLastSealed = false

    /// The journal to read and the mode of reading.
    struct Request {
        var directory: JournalDirectory
        var mode: StorageOpenMode
        var expectedHead: JournalHead?
        /// Whether a writer has the journal open and may be appending to its end.
        var hasLiveWriter: Bool
    }

    /// Reads and checks all files.
    ///
    /// Changes nothing.
    init(_ request: Request) throws(JournalError) {
        // The slots are read first: the segments listed afterwards contain all records that the
        // slots attest, even while a writer appends.
        slots = try DurableSlots(request.directory, request.mode)
        id = slots.newest.journal
        chain = Chain.start(id)
        report.damagedSlots = slots.damagedIndexes
        report.hasLiveWriter = request.hasLiveWriter
        report.attestedPosition = slots.newest.position

        if let expected = request.expectedHead, expected.journal != id {
            throw JournalError(
                .headMismatch, "The journal is \(id), not \(expected.journal) as expected.",
                path: request.directory.path)
        }
        let listing = try request.directory.list()
        guard !listing.segments.isEmpty else {
            if slots.newest.position == 0 && request.expectedHead == nil {
                // A crash interrupted the journal's creation. The first segment is durable under
                // its name before the first opening returns, so the journal never had a record, and
                // the next writer finishes it. An expected head proves that the journal was open.
                throw JournalError(
                    .notFound, "The creation of the journal was interrupted. Open it for writing to finish it.",
                    path: request.directory.path)
            }
            throw JournalError(.damaged, "The journal has no segments.", path: request.directory.path)
        }
        try scan(listing, request)
    }

    private mutating func scan(_ listing: DirectoryListing, _ request: Request) throws(JournalError) {
        let limit = request.hasLiveWriter && slots.newest.durability == .synced ? slots.newest.position : .max
        // The positions whose chain values a slot or the expected head attests. The scans collect
        // the chain values there.
        var watchedPositions = slots.slots.compactMap { $0?.position }
        if let expected = request.expectedHead { watchedPositions.append(expected.position) }
        watchedPositions.sort()
        var chains: [Position: UInt64] = [0: chain]
        for (index, entry) in listing.segments.enumerated() {
            let opened = try open(entry.first, request)
            let next = index + 1 < listing.segments.count ? listing.segments[index + 1].first : nil
            if let next, next - 1 <= limit {
                try skipSealedSegment(opened, next: next, watchedPositions, &chains)
                sealedStarts.append(SegmentStart(opened.segment.header))
            } else {
                var scan = SegmentScan(
                    opened.segment, size: opened.size, limit: limit, watchedPositions: watchedPositions,
                    rewriteAfter: max(slots.newest.position, entry.first - 1))
                try scan.run()
                merge(scan, &chains)
                active = scan.segment
                lastFileSize = opened.size
                isLastSealed = try opened.isSealed(at: scan)
                rewriteOffset = scan.rewriteOffset
                // A live writer may be appending to the end. Its durable commits are before the
                // end.
                if !request.hasLiveWriter { try checkTail(scan) }
                break
            }
        }
        try checkAttested(chains, request)
        report.lastPosition = lastPosition
        if lastPosition > report.attestedPosition {
            report.recoveredPositions = (report.attestedPosition + 1)...lastPosition
        }
        let isExact = isLastSealed || lastFileSize == active?.end && report.cutBytes == nil
        report.wasClean = slots.newest.isClean && slots.newest.position == lastPosition && isExact
    }

    private mutating func merge(_ scan: SegmentScan, _ chains: inout [Position: UInt64]) {
        lastPosition = scan.segment.lastPosition
        chain = scan.chain
        chains[lastPosition] = chain
        chains.merge(scan.chains) { first, _ in first }
        report.attestedPosition = max(
            report.attestedPosition, scan.segment.header.syncedPosition, scan.attestedPosition)
    }

    /// Opens a segment and checks that it follows the records read so far.
    private func open(_ first: Position, _ request: Request) throws(JournalError) -> SegmentFile {
        let opened = try SegmentFile(request.directory, first: first, request.mode, journal: id)
        let name = opened.segment.name
        let path = request.directory.file(name)
        guard first == lastPosition + 1 else {
            throw JournalError(
                .damaged, "Records are missing before the segment.", path: path, segment: name,
                positions: min(lastPosition + 1, first)...max(lastPosition + 1, first - 1))
        }
        guard opened.segment.header.chain == chain else {
            throw JournalError(
                .damaged, "The segment's chain value does not follow from the records before it.", path: path,
                segment: name,
                bytes: 0..<UInt64(SegmentHeader.size), positions: first...first)
        }
        return opened
    }

    /// Skips a segment that another one follows, by its footer.
    ///
    /// The segment was synced completely before the next one was created. Its records are read only
    /// if the footer is damaged, or a slot or head attests a chain value within the segment.
    private mutating func skipSealedSegment(
        _ opened: SegmentFile, next: Position, _ watchedPositions: [Position], _ chains: inout [Position: UInt64]
    ) throws(JournalError) {
        let segment = opened.segment
        let isWatched = watchedPositions.contains { $0 >= segment.header.firstPosition && $0 < next - 1 }
        let footer = try opened.footer()
        if let (footer, offset) = footer, footer.firstPosition == next, !isWatched {
            sealedBytes += offset - segment.end
            lastPosition = footer.syncedPosition
            chain = footer.chain
            chains[lastPosition] = chain
            return
        }
        var scan = SegmentScan(segment, size: opened.size, watchedPositions: watchedPositions)
        try scan.run()
        if scan.segment.lastPosition + 1 != next {
            if let problem = scan.problem { throw damaged(problem, segment, upTo: next - 1) }
            throw JournalError(
                .damaged,
                scan.footer == nil
                    ? Self.olderCopy
                        + " Put the newer file back, or repair the journal: a repair marks the missing records as lost, and the "
                        + "ledger repeats erasures."
                    : "Records are missing at the end of the segment.",
                segment: segment.name,
                bytes: scan.segment.end..<max(scan.segment.end, scan.size),
                positions: min(scan.segment.lastPosition + 1, next)...max(scan.segment.lastPosition + 1, next - 1))
        }
        merge(scan, &chains)
        sealedBytes += scan.segment.commitBytes
        // All records are present, as the next segment's header confirms: only the footer can be
        // wrong.
        if footer == nil { report.damagedFooters.append(segment.name) }
    }

    /// Determines what follows the last valid commit of the last segment: nothing, a tear, or
    /// damage.
    ///
    /// Nothing, or zeros only: nothing to do. Nonzero bytes after a footer: damage. A commit that a
    /// torn write explains and that nothing attests as synced: ``RecoveryReport/cutBytes``.
    /// Anything else: damage.
    private mutating func checkTail(_ scan: SegmentScan) throws(JournalError) {
        let segment = scan.segment
        // Everything before a footer was synced before it was written, even if the footer is torn.
        // The next writer rewrites it.
        let known = segment.end + UInt64(scan.footer?.length ?? 0)
        guard scan.size > known else { return }
        let nonzero = try convertingErrors(of: segment.file.firstNonzero(in: known..<scan.size))
        guard let nonzero else { return }
        guard scan.footer == nil else {
            throw JournalError(
                .damaged, "There are bytes after the footer of the segment.", segment: segment.name,
                bytes: nonzero..<scan.size)
        }
        let problem =
            scan.problem
            ?? CommitProblem(
                kind: .commitHeader, commitOffset: segment.end, header: nil,
                bytes: segment.end..<min(scan.size, segment.end + UInt64(CommitHeader.size)),
                positions: (lastPosition + 1)...(lastPosition + 1))
        let beyond = try TearRule.highestSyncedPosition(beyond: segment.end, in: segment, size: scan.size)
        report.attestedPosition = max(report.attestedPosition, beyond)
        if lastPosition < report.attestedPosition { throw damaged(problem, segment, upTo: report.attestedPosition) }
        guard try TearRule.explains(problem, in: segment.file, size: scan.size) else {
            throw damaged(problem, segment, upTo: problem.positions.upperBound)
        }
        let end = try convertingErrors(of: segment.file.endWithoutTrailingZeros(in: segment.end..<scan.size))
        report.cutBytes = segment.end..<end
        report.cutSegment = segment.name
    }

    /// Checks that the valid prefix contains every attested position with the attested chain value.
    private func checkAttested(_ chains: [Position: UInt64], _ request: Request) throws(JournalError) {
        if lastPosition < report.attestedPosition {
            throw JournalError(
                .damaged, "Records that were synced are missing at the end of the journal.", segment: active?.name,
                bytes: active.map { $0.end..<max($0.end, lastFileSize) },
                positions: (lastPosition + 1)...report.attestedPosition)
        }
        for slot in slots.slots.compactMap({ $0 }) where chains[slot.position] != slot.chain {
            throw JournalError(
                .damaged, "The chain value of a slot of the durable file is not that of the records.",
                path: request.directory.file(JournalFileName.durable),
                bytes: slot.offset..<(slot.offset + UInt64(DurableSlot.size)), positions: slot.position...slot.position)
        }
        guard let expected = request.expectedHead else { return }
        guard expected.position <= lastPosition else {
            throw JournalError(
                .headMismatch, "The journal ends at position \(lastPosition), before the expected head.",
                path: request.directory.path,
                positions: (lastPosition + 1)...expected.position)
        }
        guard chains[expected.position] == expected.chain else {
            throw JournalError(
                .headMismatch, "The journal's history differs from the expected head at position \(expected.position).",
                path: request.directory.path, positions: expected.position...expected.position)
        }
    }

    /// Why records are missing between a segment without a footer and the next one.
    static let olderCopy =
        "Records are missing between a segment without a footer and the next one: the earlier file is an older copy, from before the "
        + "segment was sealed, or was cut."

    private func damaged(_ problem: CommitProblem, _ segment: Segment, upTo last: Position) -> JournalError {
        JournalError(
            .damaged, problem.message, segment: segment.name, bytes: problem.bytes,
            positions: problem.positions.lowerBound...max(problem.positions.lowerBound, last))
    }
}
