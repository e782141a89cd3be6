/// One run of a backup.
///
/// The order of what becomes durable: a segment aside, its name, then the slot that attests it. So the destination's segments are always
/// the beginning of the source's history, and its slots never attest more than that.
struct Backup {
    private let source: BackupSource
    private var target: BackupTarget
    private var report: BackupReport

    private init(_ source: BackupSource, _ target: BackupTarget) {
        self.source = source
        self.target = target
        report = BackupReport(head: JournalHead(journal: source.journal, position: 0, chain: Chain.start(source.journal)))
    }

    /// Copies to a directory what is missing there.
    static func run(_ source: BackupSource, to directory: JournalDirectory) throws(JournalError) -> BackupReport {
        var backup = Backup(source, try BackupTarget(directory, of: source))
        defer { backup.target.unlock() }
        try backup.checkHistory()
        try backup.copy()
        return backup.report
    }

    /// Throws unless the destination holds the beginning of the source's history, in segments that begin where the source's do.
    private func checkHistory() throws(JournalError) {
        let path = target.directory.path
        guard target.lastPosition <= source.limit else {
            throw JournalError(
                .headMismatch, "The copy goes up to position \(target.lastPosition), beyond what is to be copied.", path: path,
                positions: (source.limit + 1)...target.lastPosition)
        }
        guard try source.chain(after: target.lastPosition) == target.chain else {
            throw JournalError(
                .headMismatch, "The copy has another history than the journal at position \(target.lastPosition).", path: path,
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
                .headMismatch, "The copy's segments begin at other positions than the journal's: it cannot be continued.", path: path)
        }
    }

    private mutating func copy() throws(JournalError) {
        let wanted = source.wanted
        var isComplete = target.isSettled && target.segments.count == wanted.count && target.lastPosition == source.limit
        var isPresent: [Bool] = []
        for segment in wanted {
            isPresent.append(try self.isPresent(segment, isLast: segment.start.position == wanted.last?.start.position))
            isComplete = isComplete && isPresent.last == true
        }
        if !isComplete { try target.prepare() }
        if let last = target.segments.last, last.isEmpty, !wanted.contains(where: { $0.start.position == last.start.position }) {
            try target.removeEmptySegment()
        }
        for (segment, isPresent) in zip(wanted, isPresent) {
            if isPresent {
                report.skippedSegments.append(segment.name)
            } else {
                try copy(try source.load(segment), isLast: segment.start.position == wanted.last?.start.position)
            }
        }
        if !target.isSettled { try target.attest(target.lastPosition, target.chain) }
        report.head = JournalHead(journal: source.journal, position: target.lastPosition, chain: target.chain)
    }

    /// The place of the copy of a segment, if there is one.
    private func index(of position: Position) -> Int? { target.segments.firstIndex { $0.start.position == position } }

    /// Whether the copy of a segment is whole and durable: sealed if another one follows it, else closed in good order.
    private func isPresent(_ segment: SegmentReference, isLast: Bool) throws(JournalError) -> Bool {
        guard let index = index(of: segment.start.position) else { return false }
        let reference = target.segments[index]
        guard isLast ? index == target.segments.count - 1 && target.isSettled : target.isSealed(reference) else { return false }
        let (copy, original) = (try target.load(reference), try source.load(segment))
        return copy.header == original.header && copy.lastPosition == original.lastPosition && copy.end == original.end
    }

    private mutating func copy(_ segment: Segment, isLast: Bool) throws(JournalError) {
        let index = index(of: segment.header.firstPosition)
        var present: Segment?
        if let index { present = try target.load(target.segments[index]) }
        var writer: SegmentWriter
        let isContinued: Bool
        if let index, case .last(let present) = target.segments[index], target.isSettled, present.header == segment.header {
            writer = SegmentWriter(continuing: present, in: target.directory, chain: target.chain)
            isContinued = true
        } else {
            writer = try SegmentWriter(creating: segment.header, in: target.directory)
            isContinued = false
        }
        do throws(JournalError) {
            try source.copy(segment, to: &writer)
            guard writer.byteCount > 0 || !isLast else {
                report.skippedSegments.append(segment.name)
                return
            }
            try writer.finish(sealed: !isLast)
        } catch {
            writer.abandon()
            throw error
        }
        let isRewritten = !isContinued && present.map { $0.header.generation != segment.header.generation } == true
        if isRewritten { report.rewrittenSegments.append(segment.name) } else { report.copiedSegments.append(segment.name) }
        report.bytesCopied += writer.byteCount
        // A segment in the midst of the copy changes nothing of what the slots attest.
        if writer.lastPosition >= target.lastPosition { try target.attest(writer.lastPosition, writer.chain) }
    }
}
