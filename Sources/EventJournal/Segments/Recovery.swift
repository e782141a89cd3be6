/// What the files of a journal hold, found by reading alone.
///
/// This is the law of design and format: the highest position H that any slot, header or valid commit attests as synced must be in the
/// valid prefix, else the journal is refused; beyond it, only what a tear explains may be cut off.
struct Recovery {
    var id: JournalID
    var slots: DurableSlots
    /// Where the sealed segments begin.
    var sealedStarts: [SegmentStart] = []
    /// The bytes of the commits in them.
    private(set) var sealedBytes: UInt64 = 0
    /// The last segment, which is read in any case; nil before that.
    private var active: Segment?
    /// The chain value after the last valid record.
    var chain: UInt64
    var lastPosition: Position = 0
    var report = RecoveryReport()
    /// From where on the last segment is to be written again: bytes that no file attests as synced.
    var rewriteOffset: UInt64?
    /// The size of the last segment's file.
    var lastSize: UInt64 = 0

    /// The last segment.
    var last: Segment {
        guard let active else { preconditionFailure("a recovery that did not throw has read the last segment") }
        return active
    }

    /// Whether the last segment ends in its footer, so that another one has to follow.
    private(set) var isLastSealed = false

    /// Where and how to read.
    struct Request {
        var directory: JournalDirectory
        var mode: StorageOpenMode
        var expectedHead: JournalHead?
        /// Whether a writer has the journal open, so that its end may be in the making.
        var hasLiveWriter: Bool
    }

    /// Reads everything and judges it; changes nothing.
    init(_ request: Request) throws(JournalError) {
        // The slots come first: what they attest is in the segments that are listed after them, even while a writer goes on.
        slots = try DurableSlots(request.directory, request.mode)
        id = slots.newest.journal
        chain = Chain.start(id)
        report.damagedSlots = slots.damaged
        report.hasLiveWriter = request.hasLiveWriter
        report.attestedPosition = slots.newest.position

        if let expected = request.expectedHead, expected.journal != id {
            throw JournalError(.headMismatch, "The journal is \(id), not \(expected.journal) as expected.", path: request.directory.path)
        }
        let listing = try request.directory.list()
        guard !listing.segments.isEmpty else {
            if slots.newest.position == 0 && request.expectedHead == nil {
                // A crash while the journal was being made: no opening has returned before its first segment was durable under its name,
                // so nothing was ever in it, and the next writer finishes it. A head, though, is had of an open journal alone.
                throw JournalError(.notFound, "The journal was not yet made in whole.", path: request.directory.path)
            }
            throw JournalError(.damaged, "The journal has no segments.", path: request.directory.path)
        }
        try scan(listing, request)
    }

    private mutating func scan(_ listing: DirectoryListing, _ request: Request) throws(JournalError) {
        let limit = request.hasLiveWriter && slots.newest.durability == .synced ? slots.newest.position : .max
        var watched = slots.slots.compactMap { $0?.position }
        if let expected = request.expectedHead { watched.append(expected.position) }
        watched.sort()
        var chains: [Position: UInt64] = [0: chain]
        for (index, entry) in listing.segments.enumerated() {
            let opened = try open(entry.first, request)
            let next = index + 1 < listing.segments.count ? listing.segments[index + 1].first : nil
            if let next, next - 1 <= limit {
                try passSealed(opened, next: next, watched, &chains)
                sealedStarts.append(SegmentStart(opened.segment.header))
            } else {
                var scan = SegmentScan(
                    opened.segment, size: opened.size, limit: limit, watched: watched,
                    rewriteAfter: max(slots.newest.position, entry.first - 1))
                try scan.run()
                take(scan, &chains)
                active = scan.segment
                lastSize = opened.size
                isLastSealed = try opened.isSealed(at: scan)
                rewriteOffset = scan.rewriteOffset
                // A live writer's end is in the making; what it has made durable is before it.
                if !request.hasLiveWriter { try judgeEnd(scan) }
                break
            }
        }
        try checkAttested(chains, request)
        report.lastPosition = lastPosition
        if lastPosition > report.attestedPosition { report.recoveredPositions = (report.attestedPosition + 1)...lastPosition }
        let isExact = isLastSealed || lastSize == active?.end && report.cutBytes == nil
        report.wasClean = slots.newest.isClean && slots.newest.position == lastPosition && isExact
    }

    private mutating func take(_ scan: SegmentScan, _ chains: inout [Position: UInt64]) {
        lastPosition = scan.segment.lastPosition
        chain = scan.chain
        chains[lastPosition] = chain
        chains.merge(scan.chains) { first, _ in first }
        report.attestedPosition = max(report.attestedPosition, scan.segment.header.syncedPosition, scan.attested)
    }

    /// Opens a segment and checks that it can follow what was read so far.
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
                .damaged, "The segment's chain value does not follow from the records before it.", path: path, segment: name,
                bytes: 0..<UInt64(SegmentHeader.size), positions: first...first)
        }
        return opened
    }

    /// Passes a segment that another one follows: it was synced whole before that one was made, and its footer says what is in it.
    ///
    /// Its records are read only if the footer is not to be trusted, or somebody attests a chain value in their midst.
    private mutating func passSealed(
        _ opened: SegmentFile, next: Position, _ watched: [Position], _ chains: inout [Position: UInt64]
    ) throws(JournalError) {
        let segment = opened.segment
        let isWatched = watched.contains { $0 >= segment.header.firstPosition && $0 < next - 1 }
        let footer = try opened.footer()
        if let (footer, offset) = footer, footer.firstPosition == next, !isWatched {
            sealedBytes += offset - segment.end
            lastPosition = footer.syncedPosition
            chain = footer.chain
            chains[lastPosition] = chain
            return
        }
        var scan = SegmentScan(segment, size: opened.size, watched: watched)
        try scan.run()
        if scan.segment.lastPosition + 1 != next {
            if let problem = scan.problem { throw damaged(problem, segment, upTo: next - 1) }
            throw JournalError(
                .damaged, "Records are missing at the end of the segment.", segment: segment.name,
                bytes: scan.segment.end..<max(scan.segment.end, scan.size),
                positions: min(scan.segment.lastPosition + 1, next)...max(scan.segment.lastPosition + 1, next - 1))
        }
        take(scan, &chains)
        sealedBytes += scan.segment.commitBytes
        // All records are there, as the next segment's header will confirm: nothing but the footer can be wrong.
        if footer == nil { report.damagedFooters.append(segment.name) }
    }

    /// What follows the last valid commit of the last segment: nothing, a tear, or damage.
    private mutating func judgeEnd(_ scan: SegmentScan) throws(JournalError) {
        let segment = scan.segment
        // A footer is written when all before it is synced, torn or not; the next writer writes it again.
        let known = segment.end + UInt64(scan.footer?.length ?? 0)
        guard scan.size > known else { return }
        let nonzero = try storage { () throws(StorageError) in try segment.file.firstNonzero(in: known..<scan.size) }
        guard let nonzero else { return }
        guard scan.footer == nil else {
            throw JournalError(
                .damaged, "There are bytes after the footer of the segment.", segment: segment.name, bytes: nonzero..<scan.size)
        }
        let problem =
            scan.problem
            ?? CommitProblem(
                kind: .commitHeader, commitOffset: segment.end, header: nil,
                bytes: segment.end..<min(scan.size, segment.end + UInt64(CommitHeader.size)),
                positions: (lastPosition + 1)...(lastPosition + 1))
        let beyond = try TearRule.attested(beyond: segment.end, in: segment, size: scan.size)
        report.attestedPosition = max(report.attestedPosition, beyond)
        if lastPosition < report.attestedPosition { throw damaged(problem, segment, upTo: report.attestedPosition) }
        guard try TearRule.explains(problem, in: segment.file, size: scan.size) else {
            throw damaged(problem, segment, upTo: problem.positions.upperBound)
        }
        let end = try storage { () throws(StorageError) in try segment.file.endWithoutTrailingZeros(in: segment.end..<scan.size) }
        report.cutBytes = segment.end..<end
        report.cutSegment = segment.name
    }

    /// Everything that somebody attests must be in the valid prefix, with the chain value that they attest.
    private func checkAttested(_ chains: [Position: UInt64], _ request: Request) throws(JournalError) {
        if lastPosition < report.attestedPosition {
            throw JournalError(
                .damaged, "Records that were synced are missing at the end of the journal.", segment: active?.name,
                bytes: active.map { $0.end..<max($0.end, lastSize) }, positions: (lastPosition + 1)...report.attestedPosition)
        }
        for slot in slots.slots.compactMap({ $0 }) where chains[slot.position] != slot.chain {
            throw JournalError(
                .damaged, "The chain value of a slot of the durable file is not that of the records.",
                path: request.directory.file(DirectoryListing.durableName),
                bytes: slot.offset..<(slot.offset + UInt64(DurableSlot.size)), positions: slot.position...slot.position)
        }
        guard let expected = request.expectedHead else { return }
        guard expected.position <= lastPosition else {
            throw JournalError(
                .headMismatch, "The journal ends at position \(lastPosition), before the expected head.", path: request.directory.path,
                positions: (lastPosition + 1)...expected.position)
        }
        guard chains[expected.position] == expected.chain else {
            throw JournalError(
                .headMismatch, "The journal has another history than the expected head at position \(expected.position).",
                path: request.directory.path, positions: expected.position...expected.position)
        }
    }

    private func damaged(_ problem: CommitProblem, _ segment: Segment, upTo last: Position) -> JournalError {
        JournalError(
            .damaged, problem.message, segment: segment.name, bytes: problem.bytes,
            positions: problem.positions.lowerBound...max(problem.positions.lowerBound, last))
    }
}
