import Primitives

/// Reads the commits of one segment's file and passes them to a visitor.
///
/// At each damage, the visitor decides whether the read stops or resumes after it.
struct CommitReader {
    typealias Outcome = CommitParser.Outcome

    private var parser: CommitParser
    private var window: FileWindow
    private let segment: String
    private let seed: UInt32

    /// Creates a reader of a range of positions that begins at an entry of the segment's index.
    ///
    /// The reader does not follow the chain.
    init(of positions: ClosedRange<Position>, in segment: Segment, from start: SparseIndex.Entry, buffer: [UInt8] = [])
    {
        parser = CommitParser(of: positions, in: segment, from: start)
        window = FileWindow(segment.file, buffer: buffer)
        self.segment = segment.name
        seed = segment.framingSeed
    }

    /// Creates a reader of all commits from a commit boundary to `end`.
    ///
    /// `chain` is the chain value at the boundary.
    init(_ segment: Segment, from offset: UInt64, position: Position, chain: UInt64, end: UInt64) {
        parser = CommitParser(seed: segment.framingSeed, end: end, from: offset, position: position, chain: chain)
        window = FileWindow(segment.file)
        self.segment = segment.name
        seed = segment.framingSeed
    }

    /// The offset of the next header or record.
    var offset: UInt64 { parser.offset }
    /// The position of the next record.
    var position: Position { parser.position }
    /// The chain value before the next record, or nil if earlier damage makes it unknown.
    var chain: UInt64? { parser.isChainKnown ? parser.chain : nil }
    /// The read buffer, which the next reader can reuse.
    var buffer: [UInt8] { window.buffer }

    /// Moves to later positions, from the current offset or from an index entry that is nearer.
    ///
    /// The positions must not be before the ones that were read last.
    mutating func seek(to positions: ClosedRange<Position>, in segment: Segment, from start: SparseIndex.Entry) {
        if parser.offset >= UInt64(start.offset), parser.position <= positions.lowerBound {
            parser.range = positions
        } else {
            parser = CommitParser(of: positions, in: segment, from: start)
        }
    }

    /// Reads to the end of the range or of the commits, until the visitor stops, or to damage.
    ///
    /// - Parameters:
    ///   - prefetchEnd: The offset up to which the first read prefetches. It is before `bound` if
    ///     less is likely to suffice, or after it if the next range follows. Nil means `bound`.
    ///   - bound: The end of speculative reads. Bytes beyond it are read only if a record needs
    ///     them. Nil means the end of the commits.
    /// - Throws: `damaged` if the file has become shorter, or the error of a read. The error names
    ///   the segment.
    mutating func read<Visitor: CommitVisitor>(
        _ visitor: inout Visitor, prefetchEnd: UInt64? = nil, bound: UInt64? = nil
    ) throws(JournalError) -> Outcome {
        do throws(JournalError) {
            while true {
                let outcome = try parse(&visitor, prefetchEnd: prefetchEnd, bound: bound ?? parser.end)
                guard case .damaged(let problem) = outcome,
                    visitor.visitDamage(
                        problem, before: parser.position, atBoundary: problem.commitOffset == parser.offset),
                    try resume(behind: problem, &visitor)
                else { return outcome }
            }
        } catch {
            throw error.addingSegment(segment)
        }
    }

    /// Reads records that the segment held before, as ``read(_:prefetchEnd:bound:)``, and requires
    /// them.
    ///
    /// - Parameters:
    ///   - last: The last required position.
    ///   - directory: The directory that an error names.
    /// - Returns: False if the visitor ended the read.
    /// - Throws: Also `damaged` if the bytes differ from the written ones, or end before the last
    ///   position.
    mutating func readRequired<Visitor: CommitVisitor>(
        through last: Position, of directory: JournalDirectory, _ visitor: inout Visitor, prefetchEnd: UInt64? = nil,
        bound: UInt64? = nil
    ) throws(JournalError) -> Bool {
        switch try read(&visitor, prefetchEnd: prefetchEnd, bound: bound) {
        case .rangeCompleted: return true
        case .stoppedByVisitor: return false
        case .damaged(let problem): throw problem.error(in: segment, of: directory)
        case .endOfCommits, .footer:
            // A zero length before the last position appeared after the segment was opened.
            if parser.position > last { return true }
            throw JournalError(
                .damaged, "A commit is missing; the file was changed while the journal was open.",
                path: directory.file(segment),
                segment: segment,
                bytes: parser.offset..<max(parser.offset, parser.end), positions: parser.position...last)
        }
    }

    private mutating func parse<Visitor: CommitVisitor>(
        _ visitor: inout Visitor, prefetchEnd: UInt64?, bound: UInt64
    ) throws(JournalError) -> Outcome {
        var needed = 1
        var limit = min(prefetchEnd.map { $0 > parser.offset ? $0 : bound } ?? bound, parser.end)
        while true {
            if parser.offset >= parser.end { needed = 0 }
            let start = parser.offset
            let available = try convertingErrors(of: window.load(at: start, needed: needed, bound: limit))
            guard available >= needed else {
                throw JournalError(
                    .damaged, "The file was truncated while it was read: it ends before its records.",
                    bytes: start..<parser.end)
            }
            switch window.withBytes(from: start, { bytes in parser.consume(bytes, &visitor) }) {
            case .needsBytes(let count): needed = count
            case .ended(let outcome): return outcome
            }
            limit = min(bound, parser.end)
        }
    }

    /// Moves the reader after damage.
    ///
    /// Returns false if the segment has no further valid commit.
    private mutating func resume<Visitor: CommitVisitor>(
        behind problem: CommitProblem, _ visitor: inout Visitor
    ) throws(JournalError) -> Bool {
        if problem.kind == .recordChecksum {
            parser.skipRecord(of: problem.bytes)
            return true
        }
        if let header = problem.header, header.isPlausible, problem.kind != .commitFields,
            UInt64(header.length) <= parser.end - problem.commitOffset
        {
            parser.skipCommit(header, at: problem.commitOffset)
            // Either the records or the chain value is wrong, so neither predicts the next value.
            if problem.kind == .chain { parser.isChainKnown = false }
            return true
        }
        let next = parser.position
        var search = CommitSearch(
            window.file, seed: seed, after: next - 1, from: problem.commitOffset + 1, size: parser.end)
        guard let (offset, header) = try search.next() else { return false }
        if header.firstPosition > next {
            visitor.visitMissingRecords(next...(header.firstPosition - 1), problem.commitOffset..<offset)
        }
        parser.resume(to: header, at: offset)
        return true
    }
}

extension CommitParser {
    fileprivate init(of positions: ClosedRange<Position>, in segment: Segment, from start: SparseIndex.Entry) {
        self.init(
            segment: segment, from: UInt64(start.offset),
            position: segment.header.firstPosition + UInt64(start.relativePosition),
            recordsLeft: start.recordsLeft, through: positions)
    }
}

/// The reason why bytes of a segment differ from the written ones.
struct CommitProblem {
    enum Kind: String {
        case commitHeader, commitFields, commitTruncated, recordFraming, recordChecksum, commitChecksum, chain
    }

    var kind: Kind
    /// The offset of the commit.
    var commitOffset: UInt64
    /// The commit's header, if it is valid by itself.
    var header: CommitHeader?
    /// The bytes concerned.
    var bytes: Range<UInt64>
    /// The positions concerned, as far as they are known.
    var positions: ClosedRange<Position>

    var message: String {
        switch kind {
        case .commitHeader: "The checksum of a commit's header does not fit."
        case .commitFields: "A commit's header is valid but does not belong at this offset."
        case .commitTruncated: "The file ends inside a commit."
        case .recordFraming: "The lengths of a record are invalid."
        case .recordChecksum: "The checksum of a record does not fit."
        case .commitChecksum: "The records of a commit do not match the checksum in its header."
        case .chain: "The chain value of a commit does not follow from the records before it."
        }
    }

    /// Returns the error of a read that stops at the problem.
    func error(in segment: String, of directory: JournalDirectory) -> JournalError {
        JournalError(
            .damaged, message, path: directory.file(segment), segment: segment, bytes: bytes, positions: positions)
    }
}
