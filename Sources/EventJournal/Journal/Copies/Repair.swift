/// One run of a repair.
struct Repair {
    /// Makes the kept part of a placeholder.
    typealias Placeholder = (_ position: Position, _ previousKept: RawSpan) -> [UInt8]

    private let source: SalvageSource
    private var writer: RepairWriter
    private let mostLost: UInt64
    private var report: RepairReport

    init(_ source: SalvageSource, _ writer: RepairWriter, _ options: RepairOptions) {
        self.source = source
        self.writer = writer
        mostLost = options.mostLost
        report = RepairReport(
            source: source.journal, head: JournalHead(journal: writer.journal, position: 0, chain: Chain.start(writer.journal)))
    }

    /// Writes the new journal.
    mutating func run(_ lostRecord: Placeholder) throws(JournalError) -> RepairReport {
        do throws(JournalError) {
            try salvage(lostRecord)
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
        if let first = source.files.first?.first, first > 1 { try lose(1...(first - 1), nil, nil, "missingRecords", lostRecord) }
        for (index, file) in source.files.enumerated() { try salvage(file, upTo: source.bound(index), lostRecord) }
        let last = writer.lastPosition
        if last < source.attested { try lose((last + 1)...source.attested, nil, nil, "missingRecords", lostRecord) }
    }

    /// Salvages one file, in which no position is beyond the bound; fills the positions up to the bound.
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
                let available = try storage { () throws(StorageError) in
                    try window.load(at: offset, needed: length, bound: offset + UInt64(length))
                }
                let next = writer.lastPosition + 1
                let commit = window.withBytes(from: offset) { SalvagedCommit(header, $0.extracting(0..<min(length, available))) }
                // Beyond what was promised, a gap is the end.
                if header.firstPosition > source.attested && !(commit.isWhole && header.firstPosition == next) { break }
                if header.firstPosition > next {
                    try lose(next...(header.firstPosition - 1), file.name, place..<offset, "commitHeader", lostRecord)
                }
                try window.withBytes(from: offset) { (bytes) throws(JournalError) in
                    try keep(
                        commit, header, bytes, file.name, offset, upTo: commit.isWhole ? bound : min(bound, source.attested), lostRecord)
                }
                place = offset + UInt64(length)
            }
            problem = file.isHeaderValid ? "missingRecords" : "segmentHeader"
            if place < size { rest = place..<size }
        }
        // The last file has no bound but what was promised.
        let last = bound == .max ? source.attested : bound
        if writer.lastPosition < last { try lose((writer.lastPosition + 1)...last, file.name, rest, problem, lostRecord) }
    }

    private func open(_ file: SalvageSource.File) throws(JournalError) -> (Segment, size: UInt64)? {
        do throws(JournalError) {
            return try source.open(file)
        } catch {
            guard error.code == .ioFailed || error.code == .accessDenied else { throw error }
            return nil
        }
    }

    /// Writes the records of a commit that are due, up to a position.
    private mutating func keep(
        _ commit: SalvagedCommit, _ header: CommitHeader, _ bytes: RawSpan, _ name: String, _ offset: UInt64, upTo last: Position,
        _ lostRecord: Placeholder
    ) throws(JournalError) {
        for (index, record) in commit.records.enumerated() {
            let position = header.firstPosition + UInt64(index)
            guard position > writer.lastPosition else { continue }
            guard position <= last else { break }
            if record.isValid {
                try writer.add(bytes.extracting(record.range))
                report.salvagedCount += 1
            } else {
                let range = record.length > 0 ? record.range : 0..<Int(header.length)
                try lose(
                    position...position, name, (offset + UInt64(range.lowerBound))..<(offset + UInt64(range.upperBound)),
                    commit.problem?.rawValue ?? "", lostRecord)
            }
        }
        try writer.finishCommit()
    }

    /// Writes placeholders and lists the loss; one that goes on with the last one's problem is joined to it.
    private mutating func lose(
        _ positions: ClosedRange<Position>, _ segment: String?, _ bytes: Range<UInt64>?, _ problem: String, _ lostRecord: Placeholder
    ) throws(JournalError) {
        guard positions.upperBound - positions.lowerBound < mostLost - report.lostCount else {
            throw JournalError(
                .tooLarge, "More than \(mostLost) positions are lost; the journal may not be as long as it says.",
                path: source.directory.path,
                segment: segment, bytes: bytes, positions: positions)
        }
        for position in positions {
            let previous = writer.previousKept
            let kept = previous.withBytes(0..<previous.count) { lostRecord(position, $0) }
            try writer.addPlaceholder(kept)
        }
        report.lostCount += positions.upperBound - positions.lowerBound + 1
        if let last = report.losses.last, last.positions.upperBound + 1 == positions.lowerBound, last.segment == segment,
            last.problem == problem, let before = last.bytes, let bytes
        {
            let joined = min(before.lowerBound, bytes.lowerBound)..<max(before.upperBound, bytes.upperBound)
            report.losses[report.losses.count - 1].positions = last.positions.lowerBound...positions.upperBound
            report.losses[report.losses.count - 1].bytes = joined
        } else if report.losses.count < RepairReport.listedLosses {
            report.losses.append(RepairReport.Loss(positions: positions, segment: segment, bytes: bytes, problem: problem))
        }
    }
}
