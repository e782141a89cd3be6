/// One run of a backup, of a log of any kind.
///
/// The ledger of erasures comes first, so that the copy names what it lacks or may not show. A
/// segment is synced under a temporary name, renamed, and only then attested by a slot. So the
/// destination's segments are always a prefix of the source's history, and its slots never attest
/// more than the segments contain.
struct Backup {
    private var source: any BackupSource
    private var target: BackupTarget
    private let ledger: BackupLedger
    private(set) var report: BackupReport
    /// The generation of each segment that was copied or found complete, by its first position.
    private var generations: [Position: UInt32] = [:]

    private init(_ source: any BackupSource, _ target: BackupTarget, _ ledger: BackupLedger) {
        (self.source, self.target, self.ledger) = (source, target, ledger)
        report = BackupReport(
            head: JournalHead(journal: source.journal, position: 0, chain: Chain.start(source.journal)))
    }

    /// Copies the ledger and the missing segments to a directory.
    static func run(_ source: any BackupSource, _ ledger: BackupLedger, to directory: JournalDirectory)
        throws(JournalError) -> Backup
    {
        var backup = Backup(source, try BackupTarget(directory, of: source), ledger)
        defer { backup.target.unlock() }
        try backup.checkHistory()
        try backup.copySegments()
        return backup
    }

    /// Whether the log has erased content since this run has read it.
    func isOutdated() throws(JournalError) -> Bool { try source.hasErasedContent(since: generations) }

    /// Throws unless the destination contains a prefix of the source's history, in segments with
    /// the same starts.
    private func checkHistory() throws(JournalError) {
        let path = target.directory.path
        guard target.lastPosition <= source.limit else {
            throw JournalError(
                .headMismatch, "The copy goes up to position \(target.lastPosition), beyond the position to copy to.",
                path: path,
                positions: (source.limit + 1)...target.lastPosition)
        }
        guard try source.contains(target.lastPosition, target.chain) else {
            throw JournalError(
                .headMismatch, "The copy's history differs from the journal's at position \(target.lastPosition).",
                path: path,
                positions: target.lastPosition...target.lastPosition)
        }
        guard source.canContinue(target.segments.filter { !$0.isEmpty }) else {
            throw JournalError(
                .headMismatch,
                "The copy cannot be continued: its segments start at other positions than the journal's.", path: path)
        }
    }

    /// A segment that the copy must have.
    private struct PlannedSegment {
        var segment: BackupSegment
        var isLast: Bool
        /// The generation in the copy, which has the segment already; nil if it must be copied.
        var present: UInt32?
    }

    /// Compares the copy with the segments that it must have; changes nothing.
    private mutating func plan() throws(JournalError) -> [PlannedSegment] {
        let wanted = source.segments(besides: target.segments.filter { !$0.isEmpty }, chain: target.chain)
        return try wanted.enumerated().map { (index, segment) throws(JournalError) in
            let isLast = index == wanted.count - 1
            let header = try isPresent(segment, isLast: isLast)
            return PlannedSegment(segment: segment, isLast: isLast, present: header?.generation)
        }
    }

    /// Copies the segments that the copy does not have, and attests them.
    private mutating func copySegments() throws(JournalError) {
        let plan = try plan()
        let isComplete =
            target.isCleanlyClosed && target.segments.count == plan.count && target.lastPosition == source.limit
            && plan.allSatisfy { $0.present != nil }
        // A ledger that cannot be read ends the run before the copy is changed.
        try ledger.check()
        if !isComplete { try target.prepare() }
        try ledger.carry()
        if let last = target.segments.last, last.isEmpty,
            !plan.contains(where: { $0.segment.start.position == last.start.position })
        {
            try target.removeEmptySegment()
        }
        for planned in plan {
            if let generation = planned.present {
                generations[planned.segment.start.position] = generation
                report.skippedSegments.append(planned.segment.name)
            } else {
                var next: BackupSegment? = planned.segment
                while let segment = next { next = try copySegment(segment, isLast: planned.isLast) }
            }
        }
        if !target.isCleanlyClosed { try target.attest(target.lastPosition, target.chain) }
        report.head = JournalHead(journal: source.journal, position: target.lastPosition, chain: target.chain)
    }

    /// Returns the index of the copied segment that starts at a position, or nil.
    private func index(of position: Position) -> Int? { target.segments.firstIndex { $0.start.position == position } }

    /// Returns the header of a segment's copy if that is complete and durable: sealed if another
    /// one follows it, otherwise cleanly closed.
    private mutating func isPresent(_ segment: BackupSegment, isLast: Bool) throws(JournalError) -> SegmentHeader? {
        guard let index = index(of: segment.start.position) else { return nil }
        let reference = target.segments[index]
        guard isLast ? index == target.segments.count - 1 && target.isCleanlyClosed : target.isSealed(reference) else {
            return nil
        }
        let (copy, original) = (try target.load(reference), try source.load(segment))
        return source.isSame(copy, as: original) && copy.lastPosition == original.lastPosition ? copy.header : nil
    }

    /// Copies a segment, or adds what its copy lacks.
    ///
    /// - Returns: What is left of the log, for another segment; nil if nothing is.
    private mutating func copySegment(_ segment: BackupSegment, isLast: Bool) throws(JournalError) -> BackupSegment? {
        let original = try source.load(segment)
        let index = index(of: segment.start.position)
        var former: Segment?
        if let index { former = try target.load(target.segments[index]) }
        var writer: SegmentWriter
        let isContinued: Bool
        if let index, case .last(let present) = target.segments[index], target.isCleanlyClosed,
            source.isSame(present, as: original)
        {
            writer = SegmentWriter(
                continuing: present, in: target.directory, chain: target.chain, willWrite: ledger.carry)
            isContinued = true
        } else {
            writer = try SegmentWriter(creating: original.header, in: target.directory, willWrite: ledger.carry)
            isContinued = false
        }
        var rest: BackupSegment?
        do throws(JournalError) {
            // The copy never becomes shorter, not even for a moment.
            rest = try source.copyCommits(of: original, to: &writer, atLeastThrough: target.lastPosition)
            guard isLast || writer.lastPosition == original.lastPosition else {
                throw JournalError(
                    .damaged, "The records of the log end inside a segment of the copy.", path: target.directory.path,
                    segment: segment.name, positions: segment.start.position...original.lastPosition)
            }
            if isLast, writer.byteCount == 0 || !source.needs(writer.segment) {
                if isContinued { report.skippedSegments.append(segment.name) } else { writer.abandon() }
                generations[segment.start.position] = original.header.generation
                return nil
            }
            try writer.finish(
                sealed: !isLast || rest != nil,
                generation: source.generation(of: original, through: writer.lastPosition))
        } catch {
            writer.abandon()
            throw error
        }
        let generation = writer.segment.header.generation
        generations[segment.start.position] = generation
        let isRewritten = !isContinued && former.map { $0.header.generation != generation } == true
        if isRewritten {
            report.rewrittenSegments.append(segment.name)
        } else {
            report.copiedSegments.append(segment.name)
        }
        report.bytesCopied += writer.byteCount
        // The slots do not change for a segment before the last one.
        if writer.lastPosition >= target.lastPosition { try target.attest(writer.lastPosition, writer.chain) }
        return rest
    }
}

/// The ledger of erasures of a copy, which has all entries of the log's ledger before the copy has
/// any of their effects.
final class BackupLedger {
    private let read: () throws(JournalError) -> [UInt8]?
    private let merge: BackupErasures.Merge
    private let directory: JournalDirectory
    /// The ledger of the log that the copy has; nil before the first one.
    private var carried: [UInt8]??

    init(_ log: some ErasableLog, _ merge: @escaping BackupErasures.Merge, to directory: JournalDirectory) {
        read = { () throws(JournalError) in try log.readLedger() }
        (self.merge, self.directory) = (merge, directory)
    }

    /// Throws if one of the ledgers cannot be read.
    func check() throws(JournalError) { _ = try merge(try read(), try present()) }

    /// Adds to the copy's ledger what the log has listed since the last call.
    func carry() throws(JournalError) {
        let bytes = try read()
        if let carried, carried == bytes { return }
        let present = try present()
        if let merged = try merge(bytes, present), merged != present {
            _ = try directory.createTemporaryFile(JournalFileName.ledger, merged).publish()
        }
        carried = .some(bytes)
    }

    private func present() throws(JournalError) -> [UInt8]? {
        try Journal.readLedger(ofJournalAt: directory.path, on: directory.storage)
    }
}
