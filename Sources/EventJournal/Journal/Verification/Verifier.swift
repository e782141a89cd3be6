import Primitives

/// Rereads the files of a journal, reports each finding and continues after it.
///
/// Recovery uses the same commit reader, but stops at the first problem and decides how to recover.
struct Verifier {
    private let directory: JournalDirectory
    /// The last position to read; nil to read everything.
    private let limit: Position?
    private let report: (JournalFinding) -> Void

    private var journal: JournalID?
    /// The next expected position.
    private var next: Position = 1
    /// The chain value before the next position, if known.
    private var chain: UInt64?
    /// Whether the last segment has no footer, although all of its bytes are valid.
    private var isUnsealed = false
    private var slots: [DurableSlot] = []
    /// The chain values at the positions of the slots.
    private var chains: [Position: UInt64] = [:]

    private init(_ directory: JournalDirectory, limit: Position?, _ report: @escaping (JournalFinding) -> Void) {
        self.directory = directory
        self.limit = limit
        self.report = report
    }

    /// Verifies all files of a journal up to a limit.
    static func verifyJournal(in directory: JournalDirectory, upTo limit: Position?, _ report: (JournalFinding) -> Void)
    {
        withoutActuallyEscaping(report) { report in
            var verifier = Verifier(directory, limit: limit, report)
            verifier.verifyFiles()
        }
    }

    /// Verifies one sealed segment whose first and last chain values are known.
    ///
    /// Returns the bytes of its file.
    static func verifySealedSegment(
        of journal: JournalID, from start: SegmentStart, to end: SegmentStart, in directory: JournalDirectory,
        _ report: (JournalFinding) -> Void
    ) -> UInt64 {
        let name = JournalFileName.segment(start.position)
        withoutActuallyEscaping(report) { report in
            var isWhole = true
            var verifier = Verifier(directory, limit: nil) { finding in
                if finding.problem != "footer" { isWhole = false }
                report(finding)
            }
            (verifier.journal, verifier.next, verifier.chain) = (journal, start.position, start.chain)
            verifier.verifyFile(name, start.position, next: end.position)
            if isWhole && (verifier.next != end.position || verifier.chain != end.chain) {
                report(
                    JournalFinding(
                        "missingRecords", "Records that the segment contained at opening are missing.", segment: name,
                        positions: start.position...(end.position - 1)))
            }
        }
        // 0 for a file that cannot be opened, because nothing was read.
        return (try? directory.storage.open(directory.file(name), .read).size()) ?? 0
    }

    /// Verifies the slots, then each segment file, and compares the two.
    private mutating func verifyFiles() {
        verifySlots()
        let listing: DirectoryListing
        do throws(JournalError) {
            listing = try directory.list()
        } catch {
            report(JournalFinding("unreadable", error.description))
            return
        }
        for (index, entry) in listing.segments.enumerated() {
            if let limit, entry.first > limit { break }
            let next = index + 1 < listing.segments.count ? listing.segments[index + 1].first : nil
            verifyFile(entry.name, entry.first, next: next)
        }
        let attested = min(slots.map(\.position).max() ?? 0, limit ?? .max)
        if next <= attested {
            report(
                JournalFinding(
                    "missingRecords", "Records that were synced are missing at the end of the journal.",
                    segment: listing.segments.last?.name, positions: next...attested))
        }
        for slot in slots {
            guard let chain = chains[slot.position], chain != slot.chain else { continue }
            report(
                JournalFinding(
                    "chain", "The chain value in the slot differs from the records' chain value.",
                    segment: JournalFileName.durable,
                    bytes: slot.offset..<(slot.offset + UInt64(DurableSlot.size)),
                    positions: slot.position...slot.position))
        }
    }

    private mutating func verifySlots() {
        do throws(JournalError) {
            let found = try DurableSlots(directory, .read)
            for index in found.damagedIndexes {
                let start = UInt64(index * DurableSlot.stride)
                report(
                    JournalFinding(
                        "slot", "The slot has a wrong checksum or is in the wrong place.",
                        segment: JournalFileName.durable,
                        bytes: start..<(start + UInt64(DurableSlot.size))))
            }
            journal = found.newest.journal
            chain = Chain.start(found.newest.journal)
            slots = found.slots.compactMap { $0 }
        } catch {
            report(JournalFinding("durableFile", error.message, segment: JournalFileName.durable))
        }
    }

    /// Verifies one segment file.
    private mutating func verifyFile(_ name: String, _ first: Position, next following: Position?) {
        do throws(JournalError) {
            guard let (segment, size) = try open(name, first) else {
                // Without the header's salt, commits cannot be recognised in the file.
                (next, chain) = (first, nil)
                return
            }
            try verifyCommits(of: segment, size, next: following)
        } catch {
            report(
                JournalFinding(
                    "unreadable", error.description, segment: name, bytes: error.bytes, positions: error.positions))
            chain = nil
        }
    }

    /// Opens a segment and compares its header with the preceding records.
    ///
    /// Returns nil if the header is not valid.
    private mutating func open(_ name: String, _ first: Position) throws(JournalError) -> (Segment, UInt64)? {
        let (file, size, bytes) = try SegmentFile.open(name, in: directory, .read)
        let place = 0..<UInt64(SegmentHeader.size)
        if first != next {
            report(
                JournalFinding(
                    "missingRecords",
                    isUnsealed && first > next
                        ? Recovery.olderCopy
                        : "The segment does not begin where the records before it end.", segment: name,
                    positions: min(first, next)...max(first - 1, next - 1, min(first, next))))
            chain = nil
        }
        guard size >= UInt64(SegmentHeader.size) else {
            report(
                JournalFinding(
                    "segmentHeader", "The file ends inside the header.", segment: name, bytes: 0..<size,
                    positions: first...first))
            return nil
        }
        guard size <= SegmentFile.maximumSize else {
            // The rest can only be a hole, which would be read to its end.
            report(
                JournalFinding(
                    "segmentHeader", "The file is longer than any segment.", segment: name, bytes: place,
                    positions: first...first))
            return nil
        }
        do throws(SegmentHeader.Problem) {
            let header = try SegmentHeader(decoding: bytes)
            if header.firstPosition != first || journal.map({ $0 != header.journal }) == true {
                report(
                    JournalFinding(
                        "segmentHeader", "The header belongs to another segment.", segment: name, bytes: place))
                return nil
            }
            if let chain, chain != header.chain {
                report(
                    JournalFinding(
                        "chain", "The chain value in the header does not match the records before it.", segment: name,
                        bytes: place))
            }
            journal = header.journal
            return (Segment(name: name, header: header, file: file), size)
        } catch {
            report(
                JournalFinding(
                    "segmentHeader", "The header is not valid.", segment: name, bytes: place, positions: first...first))
            return nil
        }
    }

    /// Verifies the commits of a segment whose header is valid, and the bytes after them.
    private mutating func verifyCommits(of segment: Segment, _ size: UInt64, next following: Position?)
        throws(JournalError)
    {
        var reader = CommitReader(
            segment, from: segment.end, position: segment.header.firstPosition, chain: segment.header.chain, end: size)
        var visitor = FindingVisitor(
            segment, size, next: following, limit: limit, watchedPositions: slots.map(\.position), report)
        isUnsealed = false
        // A live writer may be changing the end of the last segment.
        let isFinal = following != nil || limit == nil
        switch try reader.read(&visitor) {
        case .footer(let footer):
            if isFinal {
                let index = visitor.isIntact ? visitor.index : nil
                try verifyFooter(footer, at: reader.offset, of: segment, size, index, isSealed: following != nil)
            }
        case .endOfCommits:
            // After the last record, bytes may be a footer that was partly written.
            if isFinal && reader.position != following { try verifyZeros(in: reader.offset..<size, of: segment) }
            isUnsealed = true
            if following != nil {
                report(
                    JournalFinding(
                        "footer", "The segment has no footer, but another segment follows it.", segment: segment.name,
                        bytes: reader.offset..<max(reader.offset, size)))
            }
        case .damaged, .stoppedByVisitor, .rangeCompleted: break
        }
        next = reader.position
        chain = reader.chain
        chains.merge(visitor.chains) { first, _ in first }
    }

    /// Compares a footer with the index that the records give, if that is known.
    private func verifyFooter(
        _ footer: CommitHeader, at offset: UInt64, of segment: Segment, _ size: UInt64, _ index: SparseIndex?,
        isSealed: Bool
    ) throws(JournalError) {
        let end = offset + UInt64(footer.length)
        let found = try convertingStorageErrors { () throws(StorageError) in
            try SegmentFooter.index(
                of: footer, at: offset, in: segment.file, firstPosition: segment.header.firstPosition)
        }
        // A power failure may tear the footer of the last segment; the next writer rewrites it.
        if isSealed && (found == nil || size < end || index != nil && index != found) {
            report(
                JournalFinding(
                    "footer", "The index in the segment's footer does not match its records.", segment: segment.name,
                    bytes: offset..<min(end, max(offset, size))))
        }
        if size > end { try verifyZeros(in: end..<size, of: segment) }
    }

    private func verifyZeros(in range: Range<UInt64>, of segment: Segment) throws(JournalError) {
        guard let nonzero = try convertingErrors(of: segment.file.firstNonzero(in: range)) else { return }
        report(
            JournalFinding(
                "trailingBytes", "Bytes follow the end of the segment.", segment: segment.name,
                bytes: nonzero..<range.upperBound))
    }
}

/// Reports problems in the commits of a segment, and builds the index that its footer should
/// contain.
private struct FindingVisitor: CommitVisitor {
    private let segment: Segment
    private let size: UInt64
    /// The first position of the next segment.
    private let next: Position?
    private let limit: Position?
    private let watchedPositions: [Position]
    private let report: (JournalFinding) -> Void
    /// The chain values at the watched positions.
    private(set) var chains: [Position: UInt64]
    private(set) var index = SparseIndex()
    /// Whether every record is valid.
    private(set) var isIntact = true

    init(
        _ segment: Segment, _ size: UInt64, next: Position?, limit: Position?, watchedPositions: [Position],
        _ report: @escaping (JournalFinding) -> Void
    ) {
        self.segment = segment
        self.size = size
        self.next = next
        self.limit = limit
        self.watchedPositions = watchedPositions
        self.report = report
        chains = [segment.header.firstPosition - 1: segment.header.chain]
    }

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool {
        guard header.firstPosition <= limit ?? .max else { return false }
        index.addEntry(header.firstPosition - segment.header.firstPosition, at: offset, recordsLeft: 0)
        return true
    }

    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool
    {
        index.addEntry(place.position - segment.header.firstPosition, at: place.offset, recordsLeft: place.recordsLeft)
        return true
    }

    /// Slots refer to the ends of commits.
    mutating func endCommit(_ header: CommitHeader, at offset: UInt64) {
        if watchedPositions.contains(header.lastPosition) { chains[header.lastPosition] = header.chain }
    }

    mutating func visitDamage(_ problem: CommitProblem, before position: Position, atBoundary: Bool) -> Bool {
        // Beyond the positions at opening, which ended there at a torn write or a live writer.
        if next == nil, atBoundary, let limit, position > limit { return false }
        if atBoundary, position == next {
            // All records are valid, so these bytes should be the footer.
            report(
                JournalFinding(
                    "footer", "The frame of the segment's footer is not valid.", segment: segment.name,
                    bytes: problem.commitOffset..<size))
            return false
        }
        isIntact = false
        report(
            JournalFinding(
                problem.kind.rawValue, problem.message, segment: segment.name, bytes: problem.bytes,
                positions: problem.positions))
        return position <= limit ?? .max
    }

    mutating func visitMissingRecords(_ positions: ClosedRange<Position>, _ bytes: Range<UInt64>) {
        report(
            JournalFinding(
                "missingRecords", "Records are missing.", segment: segment.name, bytes: bytes, positions: positions))
    }
}
