import Primitives

/// One run of a repair.
struct Repair {
    /// Returns the kept part of a placeholder.
    typealias Placeholder = (_ position: Position, _ previousKept: RawSpan) -> [UInt8]

    private let source: SalvageSource
    private var writer: RepairWriter
    private let maximumLostCount: UInt64
    private var report: RepairReport

    init(_ source: SalvageSource, _ writer: RepairWriter, _ options: RepairOptions) {
        self.source = source
        self.writer = writer
        maximumLostCount = options.maximumLostCount
        report = RepairReport(
            source: source.journal,
            head: JournalHead(journal: writer.journal, position: 0, chain: Chain.start(writer.journal)))
    }

    /// Writes the new journal.
    mutating func run(
        _ lostRecord: Placeholder, _ ending: (_ firstLost: Position, _ previousKept: RawSpan) -> [UInt8]?
    ) throws(JournalError) -> RepairReport {
        do throws(JournalError) {
            try salvage(lostRecord)
            let previous = writer.previousKept
            if let first = report.losses.first?.positions.lowerBound,
                let kept = previous.withBytes({ ending(first, $0) })
            {
                try writer.addPlaceholder(kept)
            }
            try writer.finish()
        } catch {
            writer.abandon()
            throw error
        }
        report.head.position = writer.lastPosition
        report.head.chain = writer.chain
        return report
    }

    private mutating func salvage(_ lostRecord: Placeholder) throws(JournalError) {
        if let first = source.files.first?.firstPosition, first > 1 {
            try addPlaceholders(1...(first - 1), nil, nil, "missingRecords", lostRecord)
        }
        for (index, file) in source.files.enumerated() {
            try salvage(file, upTo: source.lastPosition(index), lostRecord)
        }
        let last = writer.lastPosition
        if last < source.attestedPosition {
            try addPlaceholders((last + 1)...source.attestedPosition, nil, nil, "missingRecords", lostRecord)
        }
    }

    /// Salvages one file and fills its missing positions up to the bound.
    private mutating func salvage(
        _ file: SalvageSource.File, upTo bound: Position, _ lostRecord: Placeholder
    ) throws(JournalError) {
        var problem = "unreadable"
        var rest: Range<UInt64>?
        if let (segment, size) = try open(file) {
            var place = UInt64(SegmentHeader.size)
            var window = FileWindow(segment.file)
            var search = CommitSearch(segment, from: place, size: size)
            while let (offset, header) = try search.next() {
                guard header.lastPosition > writer.lastPosition, header.firstPosition <= bound else { continue }
                let length = Int(min(UInt64(header.length), size - offset))
                let available = try convertingStorageErrors { () throws(StorageError) in
                    try window.load(at: offset, needed: length, bound: offset + UInt64(length))
                }
                let next = writer.lastPosition + 1
                let commit = window.withBytes(from: offset) {
                    SalvagedCommit(header, $0.extracting(0..<min(length, available)))
                }
                // Beyond the attested position, the first gap or damage ends the history.
                if header.firstPosition > source.attestedPosition && !(commit.isIntact && header.firstPosition == next)
                {
                    break
                }
                if header.firstPosition > next {
                    try addPlaceholders(
                        next...(header.firstPosition - 1), file.name, place..<offset, "commitHeader", lostRecord)
                }
                try window.withBytes(from: offset) { (bytes) throws(JournalError) in
                    try copyRecords(
                        commit, header, bytes, file.name, offset,
                        upTo: commit.isIntact ? bound : min(bound, source.attestedPosition),
                        lostRecord)
                }
                place = offset + UInt64(length)
            }
            problem = file.isHeaderValid ? "missingRecords" : "segmentHeader"
            if place < size { rest = place..<size }
        }
        // The last file has no bound of its own; only attested positions are filled.
        let last = bound == .max ? source.attestedPosition : bound
        if writer.lastPosition < last {
            try addPlaceholders((writer.lastPosition + 1)...last, file.name, rest, problem, lostRecord)
        }
    }

    private func open(_ file: SalvageSource.File) throws(JournalError) -> (Segment, size: UInt64)? {
        do throws(JournalError) {
            return try source.open(file)
        } catch {
            guard error.code == .ioFailed || error.code == .accessDenied else { throw error }
            return nil
        }
    }

    /// Writes the records of a commit that are still missing, up to a position.
    private mutating func copyRecords(
        _ commit: SalvagedCommit, _ header: CommitHeader, _ bytes: RawSpan, _ name: String, _ offset: UInt64,
        upTo last: Position,
        _ lostRecord: Placeholder
    ) throws(JournalError) {
        for (index, record) in commit.records.enumerated() {
            let position = header.firstPosition + UInt64(index)
            guard position > writer.lastPosition else { continue }
            guard position <= last else { break }
            // A commit with a record that is not valid has a problem.
            if let problem = commit.problem, !record.isValid {
                let range = record.length > 0 ? record.range : 0..<Int(header.length)
                try addPlaceholders(
                    position...position, name,
                    (offset + UInt64(range.lowerBound))..<(offset + UInt64(range.upperBound)),
                    problem.rawValue, lostRecord)
            } else {
                try writer.add(bytes.extracting(record.range))
                report.salvagedCount += 1
            }
        }
        try writer.finishCommit()
    }

    /// Writes placeholders and lists the loss, merged with the previous one if that is adjacent and
    /// has the same problem.
    private mutating func addPlaceholders(
        _ positions: ClosedRange<Position>, _ segment: String?, _ bytes: Range<UInt64>?, _ problem: String,
        _ lostRecord: Placeholder
    ) throws(JournalError) {
        guard positions.upperBound - positions.lowerBound < maximumLostCount - report.lostCount else {
            throw JournalError(
                .tooLarge,
                "More than \(maximumLostCount) positions would be lost. If the journal was that long, raise `RepairOptions.maximumLostCount`.",
                path: source.directory.path,
                segment: segment, bytes: bytes, positions: positions)
        }
        for position in positions {
            let previous = writer.previousKept
            let kept = previous.withBytes { lostRecord(position, $0) }
            try writer.addPlaceholder(kept)
        }
        report.lostCount += positions.upperBound - positions.lowerBound + 1
        if let last = report.losses.last, last.positions.upperBound + 1 == positions.lowerBound,
            last.segment == segment,
            last.problem == problem, let before = last.bytes, let bytes
        {
            let joined = min(before.lowerBound, bytes.lowerBound)..<max(before.upperBound, bytes.upperBound)
            report.losses[report.losses.count - 1].positions = last.positions.lowerBound...positions.upperBound
            report.losses[report.losses.count - 1].bytes = joined
        } else if report.losses.count < RepairReport.maximumLossCount {
            report.losses.append(
                RepairReport.Loss(positions: positions, segment: segment, bytes: bytes, problem: problem))
        }
    }
}

/// Writes the new journal of a repair, with its own commits and segments.
struct RepairWriter {
    /// The size in bytes at which the writer splits a commit of the source.
    private static let commitBytes = 1 << 20

    let directory: JournalDirectory
    let journal: JournalID
    private let segmentSize: UInt64
    private var entropy: EntropyPool
    private let lock: any StorageLock
    private var writer: SegmentWriter?
    private var names: [String] = []
    /// The kept part of the last record.
    private(set) var previousKept: [UInt8] = []
    /// The last position and the chain value after it.
    private(set) var lastPosition: Position = 0
    private(set) var chain: UInt64

    /// Locks an empty directory, or creates it.
    init(_ directory: JournalDirectory, _ options: RepairOptions) throws(JournalError) {
        self.directory = directory
        segmentSize = JournalLimits.segmentBytes(nearestTo: options.segmentSize)
        entropy = EntropyPool(options.entropy)
        if try !directory.exists(orThrow: Self.notEmpty(directory)) {
            try convertingErrors(of: directory.storage.createDirectory(directory.path))
        }
        guard try convertingErrors(of: directory.storage.list(directory.path)).isEmpty else {
            throw Self.notEmpty(directory)
        }
        // Before the lock file exists, so that the destination stays empty after an error.
        try convertingErrors(of: directory.storage.syncDirectory(directory.parent))
        lock = try directory.lock(orThrow: "The destination is open for writing elsewhere.")
        journal = JournalID.random(&entropy)
        chain = Chain.start(journal)
    }

    private static func notEmpty(_ directory: JournalDirectory) -> JournalError {
        JournalError(.notEmpty, "The destination is not an empty directory.", path: directory.path)
    }

    /// Adds a record in its stored form.
    mutating func add(_ record: RawSpan) throws(JournalError) {
        guard case .record(let layout) = RecordLayout.decode(record, at: 0) else {
            preconditionFailure("only valid records can be added")
        }
        let length = UInt64(record.byteCount)
        if let writer {
            let commit = UInt64(writer.commitLength)
            if commit > 0, commit + length > UInt64(Self.commitBytes) || writer.end + commit + length > segmentSize {
                try finishCommit()
            }
        }
        if let writer, writer.commitLength == 0, writer.end > UInt64(SegmentHeader.size),
            writer.end + UInt64(CommitHeader.size) + length > segmentSize
        {
            try finishSegment(sealed: true)
        }
        if writer == nil { try beginSegment() }
        writer?.add(record, layout)
        lastPosition += 1
        previousKept.removeAll(keepingCapacity: true)
        record.extracting(layout.kept).append(to: &previousKept)
    }

    /// Adds a whole record with this kept part and an empty erasable part.
    mutating func addPlaceholder(_ kept: [UInt8]) throws(JournalError) {
        guard kept.count <= JournalLimits.keptBytes else {
            throw JournalError(
                .tooLarge, "A placeholder has \(kept.count) bytes; at most \(JournalLimits.keptBytes) are allowed.")
        }
        var placeholder = CommitDraft()
        try kept.withBytes { (kept) throws(JournalError) in
            try placeholder.append(kept: kept, erasable: kept.extracting(0..<0))
        }
        let record = CommitFramer.records(of: placeholder, &entropy)
        try record.withBytes { (record) throws(JournalError) in try add(record) }
    }

    /// Ends the commit in progress.
    mutating func finishCommit() throws(JournalError) { try writer?.finishCommit() }

    /// Completes the new journal and marks it as cleanly closed.
    mutating func finish() throws(JournalError) {
        if writer == nil { try beginSegment() }
        try finishSegment(sealed: false)
        let slot = DurableSlot(
            sequence: 0, position: lastPosition, chain: chain, journal: journal, durability: .synced, isClean: true)
        _ = try directory.createTemporaryFile(JournalFileName.durable, DurableSlot.file(of: slot)).publish()
        lock.unlock()
    }

    /// Removes the new files, as far as the storage allows; without a durable file they are not a
    /// journal.
    mutating func abandon() {
        writer?.abandon()
        // Includes the lock file, because the next repair needs an empty destination.
        for name in names + [JournalFileName.lock] {
            do throws(StorageError) {
                try directory.storage.remove(directory.file(name))
            } catch {
                // The caller reports the failure that led here, not this one.
            }
        }
        lock.unlock()
    }

    private mutating func beginSegment() throws(JournalError) {
        let header = SegmentHeader(
            journal: journal, firstPosition: lastPosition + 1, chain: chain, salt: entropy.next())
        writer = try SegmentWriter(creating: header, in: directory)
    }

    private mutating func finishSegment(sealed: Bool) throws(JournalError) {
        guard var segment = writer else { return }
        try segment.finish(sealed: sealed)
        chain = segment.chain
        names.append(segment.name)
        writer = nil
    }
}
