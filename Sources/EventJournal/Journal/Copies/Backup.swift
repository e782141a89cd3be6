/// One run of a backup.
///
/// A segment is synced under a temporary name, renamed, and only then attested by a slot. So the
/// destination's segments are always a prefix of the source's history, and its slots never attest
/// more than the segments contain.
struct Backup {
    private let source: BackupSource
    private var target: BackupTarget
    private(set) var report: BackupReport
    /// The generation of each segment that was copied or found complete, by its first position.
    private(set) var generations: [Position: UInt32] = [:]

    private init(_ source: BackupSource, _ target: BackupTarget) {
        self.source = source
        self.target = target
        report = BackupReport(head: JournalHead(journal: source.journal, position: 0, chain: Chain.start(source.journal)))
    }

    /// Copies the missing segments to a directory.
    static func run(_ source: BackupSource, to directory: JournalDirectory) throws(JournalError) -> Backup {
        var backup = Backup(source, try BackupTarget(directory, of: source))
        defer { backup.target.unlock() }
        try backup.checkHistory()
        try backup.copySegments()
        return backup
    }

    /// Throws unless the destination contains a prefix of the source's history, in segments with
    /// the same starts.
    private func checkHistory() throws(JournalError) {
        let path = target.directory.path
        guard target.lastPosition <= source.limit else {
            throw JournalError(
                .headMismatch, "The copy goes up to position \(target.lastPosition), beyond the position to copy to.", path: path,
                positions: (source.limit + 1)...target.lastPosition)
        }
        guard try source.chain(after: target.lastPosition) == target.chain else {
            throw JournalError(
                .headMismatch, "The copy's history differs from the journal's at position \(target.lastPosition).", path: path,
                positions: target.lastPosition...target.lastPosition)
        }
        let present = target.segments.filter { !$0.isEmpty }
        let isAligned =
            present.count <= source.segments.count
            && present.indices.allSatisfy { index in
                let (copy, original) = (present[index], source.segments[index])
                return copy.start.position == original.start.position
                    && (copy.lastPosition == original.lastPosition
                        || index == present.count - 1 && copy.lastPosition < original.lastPosition)
            }
        guard isAligned else {
            throw JournalError(
                .headMismatch, "The copy cannot be continued: its segments start at other positions than the journal's.", path: path)
        }
    }

    /// What a run has to do.
    private struct Plan {
        /// The segments that the copy must have, in order; `isPresent` if it has them already.
        var segments: [(segment: SegmentReference, isLast: Bool, isPresent: Bool)] = []
        /// Whether the copy has exactly these segments, so that nothing has to be written.
        var isComplete: Bool
    }

    /// Compares the copy with the segments that it must have; changes nothing.
    private func plan() throws(JournalError) -> Plan {
        let wanted = source.segmentsToCopy
        var plan = Plan(
            isComplete: target.isCleanlyClosed && target.segments.count == wanted.count && target.lastPosition == source.limit)
        for segment in wanted {
            let isLast = segment.start.position == wanted.last?.start.position
            let isPresent = try isPresent(segment, isLast: isLast)
            plan.segments.append((segment, isLast, isPresent))
            if !isPresent { plan.isComplete = false }
        }
        return plan
    }

    /// Copies the segments that the copy does not have, and attests them.
    private mutating func copySegments() throws(JournalError) {
        let plan = try plan()
        if !plan.isComplete { try target.prepare() }
        if let last = target.segments.last, last.isEmpty,
            !plan.segments.contains(where: { $0.segment.start.position == last.start.position })
        {
            try target.removeEmptySegment()
        }
        for (segment, isLast, isPresent) in plan.segments {
            let original = try source.load(segment)
            generations[segment.start.position] = original.header.generation
            if isPresent {
                report.skippedSegments.append(segment.name)
            } else {
                try copySegment(original, isLast: isLast)
            }
        }
        if !target.isCleanlyClosed { try target.attest(target.lastPosition, target.chain) }
        report.head = JournalHead(journal: source.journal, position: target.lastPosition, chain: target.chain)
    }

    /// Returns the index of the copied segment that starts at a position, or nil.
    private func index(of position: Position) -> Int? { target.segments.firstIndex { $0.start.position == position } }

    /// Whether a segment's copy is complete and durable: sealed if another one follows it,
    /// otherwise cleanly closed.
    private func isPresent(_ segment: SegmentReference, isLast: Bool) throws(JournalError) -> Bool {
        guard let index = index(of: segment.start.position) else { return false }
        let reference = target.segments[index]
        guard isLast ? index == target.segments.count - 1 && target.isCleanlyClosed : target.isSealed(reference) else { return false }
        let (copy, original) = (try target.load(reference), try source.load(segment))
        return copy.header == original.header && copy.lastPosition == original.lastPosition && copy.end == original.end
    }

    private mutating func copySegment(_ segment: Segment, isLast: Bool) throws(JournalError) {
        let index = index(of: segment.header.firstPosition)
        var former: Segment?
        if let index { former = try target.load(target.segments[index]) }
        var writer: SegmentWriter
        let isContinued: Bool
        if let index, case .last(let present) = target.segments[index], target.isCleanlyClosed, present.header == segment.header {
            writer = SegmentWriter(continuing: present, in: target.directory, chain: target.chain)
            isContinued = true
        } else {
            writer = try SegmentWriter(creating: segment.header, in: target.directory)
            isContinued = false
        }
        do throws(JournalError) {
            try source.copyCommits(of: segment, to: &writer)
            guard writer.byteCount > 0 || !isLast else {
                report.skippedSegments.append(segment.name)
                return
            }
            try writer.finish(sealed: !isLast)
        } catch {
            writer.abandon()
            throw error
        }
        let isRewritten = !isContinued && former.map { $0.header.generation != segment.header.generation } == true
        if isRewritten { report.rewrittenSegments.append(segment.name) } else { report.copiedSegments.append(segment.name) }
        report.bytesCopied += writer.byteCount
        // The slots do not change for a segment before the last one.
        if writer.lastPosition >= target.lastPosition { try target.attest(writer.lastPosition, writer.chain) }
    }
}

/// A journal as of the start of its backup.
///
/// The segments may grow during the backup; they are read up to their ends at the start.
struct BackupSource {
    let journal: JournalID
    let directory: JournalDirectory
    /// All segments; the end of the last one may be beyond the limit.
    let segments: [SegmentReference]
    /// Opened separately from the journal's segments, to read segments that an erasure has
    /// replaced.
    let sealed: SealedSegments
    /// The last position that may be copied.
    let limit: Position
    /// The durable head at the start of the backup.
    let head: JournalHead

    /// The segments to copy: the first one, and all others that start within the limit.
    var segmentsToCopy: ArraySlice<SegmentReference> { segments.prefix { $0.start.position <= max(1, limit) } }

    /// Opens a segment, which is read up to its end at the start of the backup.
    func load(_ segment: SegmentReference) throws(JournalError) -> Segment { try segment.load(sealed) }

    /// Whether the file of a segment now has another generation than the one that was copied.
    func hasReplacedSegment(since generations: [Position: UInt32]) throws(JournalError) -> Bool {
        for (first, generation) in generations {
            let file = try SegmentFile(directory, first: first, .read, journal: journal)
            if file.segment.header.generation != generation { return true }
        }
        return false
    }

    /// Returns the chain value after a position within the limit, or nil if no commit ends there.
    ///
    /// - Complexity: Reads at most one segment, up to the position.
    func chain(after position: Position) throws(JournalError) -> UInt64? {
        if position == head.position { return head.chain }
        if let next = segments.first(where: { $0.start.position == position + 1 }) { return next.start.chain }
        guard let segment = segments.last(where: { $0.start.position <= position }) else { return nil }
        var visitor = BoundaryVisitor(limit: position)
        let reader = try read(try load(segment), from: nil, &visitor)
        return reader.position == position + 1 ? reader.chain : nil
    }

    /// Copies the commits of a segment up to the limit, starting at the writer's position.
    ///
    /// - Throws: `damaged` with the location when the bytes are not as written, and the errors of
    ///   the writer.
    func copyCommits(of segment: Segment, to writer: inout SegmentWriter) throws(JournalError) {
        var visitor = CopyingVisitor(writer: writer, limit: limit)
        defer { writer = visitor.writer }
        _ = try read(segment, from: writer, &visitor)
        if let failure = visitor.failure { throw failure }
    }

    private func read<Visitor: CommitVisitor>(
        _ segment: Segment, from writer: SegmentWriter?, _ visitor: inout Visitor
    ) throws(JournalError) -> CommitReader {
        var reader = CommitReader(
            segment, from: writer?.end ?? UInt64(SegmentHeader.size),
            position: (writer?.lastPosition).map { $0 + 1 } ?? segment.header.firstPosition, chain: writer?.chain ?? segment.header.chain,
            end: segment.end)
        _ = try reader.readRequired(through: segment.lastPosition, of: directory, &visitor)
        return reader
    }
}

/// Ends a read before the first commit that ends beyond a position.
private struct BoundaryVisitor: CommitVisitor {
    let limit: Position

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool { header.lastPosition <= limit }
}

/// Passes the commits up to a position to a writer.
private struct CopyingVisitor: CommitVisitor {
    var writer: SegmentWriter
    let limit: Position
    var failure: JournalError?

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool { failure == nil && header.lastPosition <= limit }

    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool {
        writer.add(bytes, layout)
        return true
    }

    mutating func endCommit(_ header: CommitHeader, at offset: UInt64) {
        do throws(JournalError) { try writer.finishCommit() } catch { failure = error }
    }
}
