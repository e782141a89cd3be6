/// What the files of a journal hold, found by reading alone.
///
/// This is the law of design and format: the highest position H that any slot, header or valid commit attests as synced must be in the
/// valid prefix, else the journal is refused; beyond it, only what a tear explains may be cut off.
struct Recovery {
    var id: JournalID
    var slots: DurableSlots
    var segments: [Segment] = []
    /// The chain value after the last valid record.
    var chain: UInt64
    var lastPosition: Position = 0
    var report = RecoveryReport()
    /// From where on the last segment is to be written again: bytes that no file attests as synced.
    var rewriteOffset: UInt64?
    /// The size of the last segment's file.
    var lastSize: UInt64 = 0
    /// The files of all segments but the last.
    let sealed: SealedFiles

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
        sealed = SealedFiles(request.directory.storage)
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
            if slots.newest.position == 0 {
                // A crash while the journal was being made: nothing was ever in it, and the next writer finishes it.
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
            if entry.first > limit && index > 0 { break }
            let isLast = index == listing.segments.count - 1
            let (segment, size) = try open(entry.name, entry.first, request)
            var scan = SegmentScan(
                segment, size: size, limit: limit, watched: watched, rewriteAfter: max(slots.newest.position, entry.first - 1))
            try scan.run()
            segments.append(scan.segment)
            lastPosition = scan.segment.lastPosition
            chain = scan.chain
            chains.merge(scan.chains) { first, _ in first }
            report.attestedPosition = max(report.attestedPosition, entry.first - 1, scan.attested)
            lastSize = size
            if isLast {
                rewriteOffset = scan.rewriteOffset
                try judgeEnd(scan, request)
            } else {
                if lastPosition < limit { try checkSealed(scan, next: listing.segments[index + 1].first) }
                segments[index].file = sealed.file(request.directory.file(entry.name))
            }
        }
        try checkAttested(chains, request)
        report.lastPosition = lastPosition
        if lastPosition > report.attestedPosition { report.recoveredPositions = (report.attestedPosition + 1)...lastPosition }
        let isExact = lastSize == segments.last?.end && report.cutBytes == nil
        report.wasClean = slots.newest.isClean && slots.newest.position == lastPosition && isExact
    }

    /// Opens a segment and checks that it can follow what was read so far.
    private func open(_ name: String, _ first: Position, _ request: Request) throws(JournalError) -> (Segment, size: UInt64) {
        let path = request.directory.file(name)
        var bytes = [UInt8](repeating: 0, count: SegmentHeader.size)
        let (file, size) = try storage { () throws(StorageError) in
            let file = try request.directory.storage.open(path, request.mode)
            _ = try bytes.withMutableBytes(0..<SegmentHeader.size) { (span) throws(StorageError) in try file.read(into: &span, at: 0) }
            return (file, try file.size())
        }
        func damaged(_ message: String) -> JournalError {
            JournalError(.damaged, message, path: path, segment: name, bytes: 0..<UInt64(SegmentHeader.size), positions: first...first)
        }
        // Offsets within a segment are kept in 32 bits.
        guard size <= UInt64(UInt32.max) else { throw damaged("The file is longer than any segment.") }
        guard size >= UInt64(SegmentHeader.size) else { throw damaged("The file ends inside the segment's header.") }
        let header: SegmentHeader
        do throws(SegmentHeader.Problem) {
            header = try bytes.withBytes(0..<SegmentHeader.size) { (span) throws(SegmentHeader.Problem) in
                try SegmentHeader(decoding: span)
            }
        } catch {
            switch error {
            case .newerVersion(let version):
                throw JournalError(.newerVersion, "The segment is of version \(version) of the format.", path: path, segment: name)
            case .notASegment: throw damaged("The file does not begin as a segment does.")
            case .checksum: throw damaged("The checksum of the segment's header does not fit.")
            case .invalid: throw damaged("The segment's header is valid in itself but its fields contradict one another.")
            }
        }
        guard header.journal == id else { throw damaged("The segment belongs to the journal \(header.journal).") }
        guard header.firstPosition == first else { throw damaged("The segment begins at \(header.firstPosition), not as its name says.") }
        guard first == lastPosition + 1 else {
            throw JournalError(
                .damaged, "Records are missing before the segment.", path: path, segment: name,
                positions: min(lastPosition + 1, first)...max(lastPosition + 1, first - 1))
        }
        guard header.chain == chain else { throw damaged("The segment's chain value does not follow from the records before it.") }
        return (Segment(name: name, header: header, file: file), size)
    }

    /// A segment before the last was synced and cut to its commits before the next one was made.
    private func checkSealed(_ scan: SegmentScan, next: Position) throws(JournalError) {
        let segment = scan.segment
        if let problem = scan.problem { throw damaged(problem, segment, upTo: next - 1) }
        if segment.lastPosition + 1 != next {
            throw JournalError(
                .damaged, "Records are missing at the end of the segment.", segment: segment.name,
                bytes: segment.end..<max(segment.end, scan.size),
                positions: min(segment.lastPosition + 1, next)...max(segment.lastPosition + 1, next - 1))
        }
        if let nonzero = try storage({ () throws(StorageError) in try segment.file.firstNonzero(in: segment.end..<scan.size) }) {
            throw JournalError(
                .damaged, "There are bytes after the last commit of the segment.", segment: segment.name, bytes: nonzero..<scan.size)
        }
    }

    /// What follows the last valid commit of the last segment: nothing, a tear, or damage.
    private mutating func judgeEnd(_ scan: SegmentScan, _ request: Request) throws(JournalError) {
        let segment = scan.segment
        // A live writer's end is in the making; what it has made durable is before it.
        if request.hasLiveWriter { return }
        guard scan.size > segment.end else { return }
        let nonzero = try storage { () throws(StorageError) in try segment.file.firstNonzero(in: segment.end..<scan.size) }
        guard nonzero != nil else { return }
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
            let segment = segments.last
            throw JournalError(
                .damaged, "Records that were synced are missing at the end of the journal.", segment: segment?.name,
                bytes: segment.map { $0.end..<max($0.end, lastSize) }, positions: (lastPosition + 1)...report.attestedPosition)
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
