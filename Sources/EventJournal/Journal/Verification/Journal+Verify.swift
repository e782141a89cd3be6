internal import Locking

/// One thing that is wrong with a journal's files, and where.
public struct JournalFinding: Hashable, Sendable {
    /// A stable name for what is wrong: `slot`, `durableFile`, `segmentHeader`, `missingRecords`, `trailingBytes`, `footer`, `unreadable`,
    /// `commitHeader`, `commitFields`, `commitTruncated`, `recordFraming`, `recordChecksum`, `commitChecksum`, `chain`, or the code of the
    /// error with which opening refuses the journal.
    public var problem: String
    /// A sentence that says it.
    public var message: String
    /// The name of the file concerned, within the journal's directory.
    public var segment: String?
    /// The bytes of the file concerned.
    public var bytes: Range<UInt64>?
    /// The positions concerned, as far as they are known.
    public var positions: ClosedRange<Position>?

    init(
        _ problem: String, _ message: String, segment: String? = nil, bytes: Range<UInt64>? = nil,
        positions: ClosedRange<Position>? = nil
    ) {
        self.problem = problem
        self.message = message
        self.segment = segment
        self.bytes = bytes
        self.positions = positions
    }

    init(_ error: JournalError) {
        self.init(error.code.rawValue, error.message, segment: error.segment, bytes: error.bytes, positions: error.positions)
    }
}

extension Journal {
    /// Rereads everything from the storage and reports every finding, up to the present last position.
    ///
    /// Goes on after each finding where it can; a sound journal has none.
    ///
    /// - Throws: `closed`.
    /// - Complexity: Reads every segment.
    public func verify(_ report: (JournalFinding) -> Void) throws(JournalError) {
        let last = try snapshotForVerifying()
        Verifier(directory: directory, limit: last).run(report)
    }

    /// Verifies a journal that need not be fit to be opened, and reports every finding.
    ///
    /// Writes nothing. What a crash explains and opening would recover is no finding.
    ///
    /// - Throws: What ``openReadOnly(_:options:)`` throws, but for `damaged` and failures to read, which are findings.
    /// - Complexity: Reads every segment twice.
    public static func verify(
        _ directory: String, options: JournalOptions = JournalOptions(), _ report: (JournalFinding) -> Void
    ) throws(JournalError) {
        let place = JournalDirectory(directory, options.storage)
        try checkReadable(place)
        do throws(JournalError) {
            try openReadOnly(directory, options: options).verify(report)
        } catch {
            guard error.code == .damaged || error.code == .ioFailed else { throw error }
            var count = 0
            Verifier(directory: place, limit: nil).run { finding in
                count += 1
                report(finding)
            }
            if count == 0 { report(JournalFinding(error)) }
        }
    }

    /// The last position, for a reading of the files apart from the journal's state.
    func snapshotForVerifying() throws(JournalError) -> Position {
        try change { (state) throws(JournalError) in
            if state.isClosed { throw JournalError(.closed, "The journal has been closed.", path: directory.path) }
            try state.writePending()
            return state.lastPosition
        }
    }
}

/// A reading of all files of a journal that goes on after what is wrong.
///
/// It shares the decoders with recovery, but not its judgement: recovery stops at the first problem and decides what to do.
struct Verifier {
    let directory: JournalDirectory
    /// What is beyond this position is not looked at; nil to look at everything.
    let limit: Position?

    private struct Progress {
        var journal: JournalID? = nil
        /// The position that comes next.
        var next: Position = 1
        /// The chain value before it, where it is known.
        var chain: UInt64? = nil
        var watched: [DurableSlot] = []
        var chains: [Position: UInt64] = [:]
    }

    func run(_ report: (JournalFinding) -> Void) {
        var progress = Progress()
        verifySlots(&progress, report)
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
            verify(entry.name, entry.first, next: next, &progress, report)
        }
        let attested = min(progress.watched.map(\.position).max() ?? 0, limit ?? .max)
        if progress.next <= attested {
            report(
                JournalFinding(
                    "missingRecords", "Records that were synced are missing at the end of the journal.",
                    segment: listing.segments.last?.name, positions: progress.next...attested))
        }
        for slot in progress.watched {
            guard let chain = progress.chains[slot.position], chain != slot.chain else { continue }
            report(
                JournalFinding(
                    "chain", "The chain value of a slot is not that of the records.", segment: DirectoryListing.durableName,
                    bytes: slot.offset..<(slot.offset + UInt64(DurableSlot.size)), positions: slot.position...slot.position))
        }
    }

    /// Verifies one sealed segment, which begins and ends with known chain values; returns the bytes of its file.
    func run(_ journal: JournalID, _ start: SegmentStart, _ next: SegmentStart, _ report: (JournalFinding) -> Void) -> UInt64 {
        var progress = Progress(journal: journal, next: start.position, chain: start.chain)
        let name = DirectoryListing.segmentName(start.position)
        var isWhole = true
        verify(name, start.position, next: next.position, &progress) { finding in
            if finding.problem != "footer" { isWhole = false }
            report(finding)
        }
        if isWhole && (progress.next != next.position || progress.chain != next.chain) {
            report(
                JournalFinding(
                    "missingRecords", "The segment does not hold the records that it held when the journal was opened.", segment: name,
                    positions: start.position...(next.position - 1)))
        }
        // Of a file that cannot be opened nothing was read.
        return (try? directory.storage.open(directory.file(name), .read).size()) ?? 0
    }

    private func verifySlots(_ progress: inout Progress, _ report: (JournalFinding) -> Void) {
        do throws(JournalError) {
            let slots = try DurableSlots(directory, .read)
            for index in slots.damaged {
                let start = UInt64(index * DurableSlot.stride)
                report(
                    JournalFinding(
                        "slot", "The checksum or place of a slot does not fit.", segment: DirectoryListing.durableName,
                        bytes: start..<(start + UInt64(DurableSlot.size))))
            }
            progress.journal = slots.newest.journal
            progress.chain = Chain.start(slots.newest.journal)
            progress.watched = slots.slots.compactMap { $0 }
        } catch {
            report(JournalFinding("durableFile", error.message, segment: DirectoryListing.durableName))
        }
    }

    private func verify(
        _ name: String, _ first: Position, next: Position?, _ progress: inout Progress, _ report: (JournalFinding) -> Void
    ) {
        do throws(JournalError) {
            guard let (segment, size) = try header(of: name, first, &progress, report) else {
                // Nothing in it can be told from anything else without its salt.
                (progress.next, progress.chain) = (first, nil)
                return
            }
            try verify(segment, size, next: next, &progress, report)
        } catch {
            report(JournalFinding("unreadable", error.description, segment: name, bytes: error.bytes, positions: error.positions))
            progress.chain = nil
        }
    }

    /// Opens a segment and compares its header with what came before; nil when it has none that is valid.
    private func header(
        of name: String, _ first: Position, _ progress: inout Progress, _ report: (JournalFinding) -> Void
    ) throws(JournalError) -> (Segment, UInt64)? {
        var bytes = [UInt8](repeating: 0, count: SegmentHeader.size)
        let (file, size) = try storage { () throws(StorageError) in
            let file = try directory.storage.open(directory.file(name), .read)
            _ = try bytes.withMutableBytes(0..<SegmentHeader.size) { (span) throws(StorageError) in try file.read(into: &span, at: 0) }
            return (file, try file.size())
        }
        let place = 0..<UInt64(SegmentHeader.size)
        if first != progress.next {
            report(
                JournalFinding(
                    "missingRecords", "The segment does not begin where the records before it end.", segment: name,
                    positions: min(first, progress.next)...max(first - 1, progress.next - 1, min(first, progress.next))))
            progress.chain = nil
        }
        guard size >= UInt64(SegmentHeader.size) else {
            report(
                JournalFinding(
                    "segmentHeader", "The file ends inside the header.", segment: name, bytes: 0..<size, positions: first...first))
            return nil
        }
        guard size <= UInt64(UInt32.max) else {
            // Most of it can only be a hole, which would be read to its end.
            report(
                JournalFinding(
                    "segmentHeader", "The file is longer than any segment.", segment: name, bytes: place, positions: first...first))
            return nil
        }
        do throws(SegmentHeader.Problem) {
            let header = try bytes.withBytes(0..<SegmentHeader.size) { (span) throws(SegmentHeader.Problem) in
                try SegmentHeader(decoding: span)
            }
            if header.firstPosition != first || progress.journal.map({ $0 != header.journal }) == true {
                report(JournalFinding("segmentHeader", "The header is that of another segment.", segment: name, bytes: place))
                return nil
            }
            if let chain = progress.chain, chain != header.chain {
                report(JournalFinding("chain", "The chain value in the header does not follow.", segment: name, bytes: place))
            }
            progress.journal = header.journal
            return (Segment(name: name, header: header, file: file), size)
        } catch {
            report(JournalFinding("segmentHeader", "The header is not valid.", segment: name, bytes: place, positions: first...first))
            return nil
        }
    }

    private func verify(
        _ segment: Segment, _ size: UInt64, next: Position?, _ progress: inout Progress, _ report: (JournalFinding) -> Void
    ) throws(JournalError) {
        var window = FileWindow(segment.file)
        var walk = CommitWalk(
            seed: segment.framingSeed, end: size, from: segment.end, position: segment.header.firstPosition, chain: segment.header.chain)
        var visitor = Watcher(segment.header.firstPosition, limit: limit ?? .max, watched: progress.watched.map(\.position))
        var isWhole = true
        // The end of what a live writer writes is in the making.
        let isFinal = next != nil || limit == nil
        visitor.chains[segment.header.firstPosition - 1] = segment.header.chain
        walking: while true {
            let outcome = try walk.run(&window, bound: size, &visitor)
            switch outcome {
            case .bad(let problem) where next == nil && problem.isAtBoundary(walk) && walk.position > limit ?? .max:
                // Behind what was opened, where opening has found a tear or a live writer.
                break walking
            case .bad(let problem) where problem.isAtBoundary(walk) && walk.position == next:
                // All records are there, and what follows them should be the footer.
                report(
                    JournalFinding(
                        "footer", "The frame of the segment's footer is not valid.", segment: segment.name,
                        bytes: problem.commitOffset..<size))
                break walking
            case .bad(let problem):
                isWhole = false
                report(
                    JournalFinding(
                        problem.kind.rawValue, problem.message, segment: segment.name, bytes: problem.bytes, positions: problem.positions))
                guard try goOn(&walk, after: problem, in: segment, size, report) else { break walking }
            case .sealed(let footer):
                if isFinal {
                    try verify(footer, at: walk.offset, of: segment, size, isWhole ? visitor.index : nil, isSealed: next != nil, report)
                }
                break walking
            case .end:
                // Where all records are there, what follows them is the footer's place, and bytes there are what a disk has left of it.
                if isFinal && walk.position != next { try verifyNothing(in: walk.offset..<size, of: segment, report) }
                if next != nil {
                    report(
                        JournalFinding(
                            "footer", "The segment has no footer although another one follows it.", segment: segment.name,
                            bytes: walk.offset..<max(walk.offset, size)))
                }
                break walking
            case .stopped, .done, .need: break walking
            }
        }
        progress.next = walk.position
        progress.chain = walk.knowsChain ? walk.chain : nil
        progress.chains.merge(visitor.chains) { first, _ in first }
    }

    /// Compares a footer with the index that the records give, where that is known.
    private func verify(
        _ footer: CommitHeader, at offset: UInt64, of segment: Segment, _ size: UInt64, _ index: SparseIndex?, isSealed: Bool,
        _ report: (JournalFinding) -> Void
    ) throws(JournalError) {
        let end = offset + UInt64(footer.length)
        let found = try storage { () throws(StorageError) in
            try SegmentFooter.index(of: footer, at: offset, in: segment.file, firstPosition: segment.header.firstPosition)
        }
        // A power cut may tear the footer of the last segment; the next writer writes it again.
        if isSealed && (found == nil || size < end || index != nil && index != found) {
            report(
                JournalFinding(
                    "footer", "The index in the segment's footer is not that of its records.", segment: segment.name,
                    bytes: offset..<min(end, max(offset, size))))
        }
        if size > end { try verifyNothing(in: end..<size, of: segment, report) }
    }

    private func verifyNothing(
        in range: Range<UInt64>, of segment: Segment, _ report: (JournalFinding) -> Void
    ) throws(JournalError) {
        guard let nonzero = try storage({ () throws(StorageError) in try segment.file.firstNonzero(in: range) }) else { return }
        report(
            JournalFinding(
                "trailingBytes", "There are bytes after the end of the segment.", segment: segment.name, bytes: nonzero..<range.upperBound))
    }

    /// Puts the walk behind a problem; false when nothing more can be found in the segment.
    private func goOn(
        _ walk: inout CommitWalk, after problem: CommitProblem, in segment: Segment, _ size: UInt64, _ report: (JournalFinding) -> Void
    ) throws(JournalError) -> Bool {
        if let limit, walk.position > limit { return false }
        if problem.kind == .recordChecksum {
            walk.skipRecord(of: problem.bytes)
            return true
        }
        if let header = problem.header, header.isPlausible, problem.kind != .commitFields,
            UInt64(header.length) <= size - problem.commitOffset
        {
            walk.skipCommit(header, at: problem.commitOffset)
            // Either the records or the value is wrong: neither tells what has to follow.
            if problem.kind == .chain { walk.knowsChain = false }
            return true
        }
        var known = segment
        known.lastPosition = walk.position - 1
        var search = CommitSearch(known, from: problem.commitOffset + 1, size: size)
        guard let (offset, header) = try search.next() else { return false }
        if header.firstPosition > walk.position {
            report(
                JournalFinding(
                    "missingRecords", "Records cannot be found.", segment: segment.name, bytes: problem.commitOffset..<offset,
                    positions: walk.position...(header.firstPosition - 1)))
        }
        walk.jump(to: header, at: offset)
        return true
    }
}

extension CommitProblem {
    /// Whether it is with what stands at a boundary, before any record of a commit there.
    fileprivate func isAtBoundary(_ walk: CommitWalk) -> Bool { commitOffset == walk.offset }
}

/// Keeps the chain values at some positions, and makes the index that the footer should have.
private struct Watcher: CommitVisitor {
    let first: Position
    let limit: Position
    let watched: [Position]
    var chains: [Position: UInt64] = [:]
    var index = SparseIndex()

    init(_ first: Position, limit: Position, watched: [Position]) {
        self.first = first
        self.limit = limit
        self.watched = watched
    }

    mutating func begin(_ header: CommitHeader, at offset: UInt64) -> Bool {
        guard header.firstPosition <= limit else { return false }
        index.note(header.firstPosition - first, at: offset, recordsLeft: 0)
        return true
    }

    mutating func record(_ place: RecordPlace, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool {
        index.note(place.position - first, at: place.offset, recordsLeft: place.recordsLeft)
        return true
    }

    /// Slots attest the ends of commits.
    mutating func end(_ header: CommitHeader, at offset: UInt64) {
        if watched.contains(header.lastPosition) { chains[header.lastPosition] = header.chain }
    }
}
