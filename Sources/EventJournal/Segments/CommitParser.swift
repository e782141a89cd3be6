import Primitives

/// Receives the commits and records of a segment during a read.
protocol CommitVisitor {
    /// A commit with a valid header begins at `offset`.
    ///
    /// Returns true to continue; false ends the read before the commit.
    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool
    /// Receives a valid record.
    ///
    /// Returns true to continue; false ends the read.
    ///
    /// `chain` is the value after the record, if the read follows the chain.
    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool
    /// The current commit ends at `offset`; no check of it has failed.
    mutating func endCommit(_ header: CommitHeader, at offset: UInt64)
    /// Bytes of the segment differ from the written ones.
    ///
    /// Returns true to continue after them; false ends the read.
    ///
    /// - Parameters:
    ///   - position: The position of the next record.
    ///   - atBoundary: Whether the damage is at a commit boundary, before any record of a commit.
    mutating func visitDamage(_ problem: CommitProblem, before position: Position, atBoundary: Bool) -> Bool
    /// A resumed read cannot find these records.
    ///
    /// The bytes are the range that may have held them.
    mutating func visitMissingRecords(_ positions: ClosedRange<Position>, _ bytes: Range<UInt64>)
}

extension CommitVisitor {
    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool { true }
    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool
    { true }
    mutating func endCommit(_ header: CommitHeader, at offset: UInt64) {}
    mutating func visitDamage(_ problem: CommitProblem, before position: Position, atBoundary: Bool) -> Bool { false }
    mutating func visitMissingRecords(_ positions: ClosedRange<Position>, _ bytes: Range<UInt64>) {}
}

/// The location of a record.
struct RecordLocation {
    var position: Position
    /// The offset of the record's first byte in the segment.
    var offset: UInt64
    /// The number of remaining records of the commit, this one included.
    var recordsLeft: UInt32
}

/// The state of a read of one segment's commits, independent of files.
///
/// ``CommitReader`` feeds it the bytes of a file; it delivers commits and records to a visitor.
struct CommitParser {
    enum Step {
        /// The number of bytes from `offset` that the parser needs to continue.
        case needsBytes(Int)
        case ended(Outcome)
    }

    /// The reason why a read ended.
    enum Outcome {
        /// The read has passed the last requested position.
        case rangeCompleted
        /// The visitor ended the read.
        case stoppedByVisitor
        /// No further commit: at `offset`, a commit boundary, is a zero length or the end of the
        /// file.
        case endOfCommits
        /// No further commit: at `offset`, a commit boundary, begins the segment's footer with this
        /// frame.
        case footer(CommitHeader)
        case damaged(CommitProblem)
    }

    let seed: UInt32
    /// The offset at which the read ends.
    let end: UInt64
    /// The requested positions.
    ///
    /// Records before them are skipped unchecked.
    var range: ClosedRange<Position>
    /// Whether the parser computes the chain value; if not, ``chain`` has no meaning.
    let computesChain: Bool
    /// Whether ``chain`` is the value before the next record and can be compared.
    var isChainKnown: Bool
    /// Whether all records of the commit so far were read and valid, so that its checksums can be
    /// compared.
    private var isComplete = true

    /// The offset of the next header or record.
    var offset: UInt64
    /// The position of the next record.
    var position: Position
    var recordsLeft: UInt32 = 0
    var chain: UInt64 = 0
    /// The current commit, nil until its header has been read.
    ///
    /// Stays nil for a commit that the read enters at an index entry. The checksums of that commit
    /// are not compared.
    var commit: CommitHeader?
    var commitOffset: UInt64 = 0
    private var recordsCRC: UInt32 = 0

    init(
        segment: Segment, from offset: UInt64, position: Position, recordsLeft: UInt32,
        through positions: ClosedRange<Position>
    ) {
        seed = segment.framingSeed
        end = segment.end
        range = positions
        computesChain = false
        isChainKnown = false
        self.offset = offset
        self.position = position
        self.recordsLeft = recordsLeft
        commitOffset = offset
    }

    init(seed: UInt32, end: UInt64, from offset: UInt64, position: Position, chain: UInt64) {
        self.seed = seed
        self.end = end
        range = 0 ... .max
        computesChain = true
        isChainKnown = true
        self.offset = offset
        self.position = position
        self.chain = chain
        commitOffset = offset
    }

    /// Parses `bytes`, which begin at `offset`, as far as they suffice.
    mutating func consume<Visitor: CommitVisitor>(_ bytes: RawSpan, _ visitor: inout Visitor) -> Step {
        var cursor = 0
        while true {
            if recordsLeft == 0 {
                if position > range.upperBound { return .ended(.rangeCompleted) }
                if let step = parseHeader(bytes, &cursor, &visitor) { return step }
            }
            let commitEnd = commit.map { commitOffset + UInt64($0.length) } ?? end
            skipUnrequestedRecords(bytes, &cursor, commitEnd)
            while recordsLeft > 0 {
                let layout: RecordLayout
                switch RecordLayout.decode(bytes, at: cursor) {
                case .record(let found): layout = found
                case .incomplete(let length):
                    if UInt64(length) > commitEnd - offset {
                        return damaged(.recordFraming, offset..<commitEnd, position)
                    }
                    return .needsBytes(length)
                case .invalid: return damaged(.recordFraming, offset..<commitEnd, position)
                }
                guard UInt64(layout.length) <= commitEnd - offset else {
                    return damaged(.recordFraming, offset..<commitEnd, position)
                }
                if position >= range.lowerBound {
                    let record = bytes.extracting(cursor..<(cursor + layout.length))
                    let stored: UInt32 = record.integer(at: 0)
                    guard CRC32C.checksum(of: record.extracting(4..<layout.length)) == stored else {
                        return damaged(.recordChecksum, offset..<(offset + UInt64(layout.length)), position)
                    }
                    if computesChain {
                        chain = Chain.step(chain, record: layout.originalCRC(record, at: 0, stored: stored))
                    }
                    recordsCRC = CRC32C.checksum(of: stored, continuing: recordsCRC)
                    let place = RecordLocation(position: position, offset: offset, recordsLeft: recordsLeft)
                    guard visitor.visitRecord(place, layout, record, chain: chain) else {
                        return .ended(.stoppedByVisitor)
                    }
                } else {
                    isComplete = false
                }
                cursor += layout.length
                offset += UInt64(layout.length)
                recordsLeft -= 1
                position += 1
                if position > range.upperBound && recordsLeft > 0 { return .ended(.rangeCompleted) }
            }
            if let problem = checkCommit() { return .ended(.damaged(problem)) }
            if let commit {
                if computesChain { (chain, isChainKnown) = (commit.chain, true) }
                visitor.endCommit(commit, at: offset)
            }
            commit = nil
        }
    }

    /// Skips records before the requested ones.
    ///
    /// Handles records of common lengths that are completely in `bytes`; the caller decodes the
    /// others.
    private mutating func skipUnrequestedRecords(_ bytes: RawSpan, _ cursor: inout Int, _ commitEnd: UInt64) {
        guard position < range.lowerBound else { return }
        let count = Int(min(UInt64(recordsLeft), range.lowerBound - position))
        let end = Int(min(UInt64(bytes.byteCount - cursor), commitEnd - offset)) + cursor
        var (passed, next) = (0, cursor)
        while passed < count, let length = RecordLayout.commonLength(bytes, at: next), length <= end - next {
            next += length
            passed += 1
        }
        if passed == 0 { return }
        isComplete = false
        offset += UInt64(next - cursor)
        position += UInt64(passed)
        recordsLeft -= UInt32(passed)
        cursor = next
    }

    /// Reads the header at `cursor`.
    ///
    /// Returns nil if the parser is now inside the commit.
    private mutating func parseHeader<Visitor: CommitVisitor>(
        _ bytes: RawSpan, _ cursor: inout Int, _ visitor: inout Visitor
    ) -> Step? {
        commitOffset = offset
        guard end - offset >= UInt64(CommitHeader.size) else {
            let rest = Int(end - offset)
            guard bytes.byteCount - cursor >= rest else { return .needsBytes(rest) }
            if bytes.extracting(cursor..<(cursor + rest)).isZero { return .ended(.endOfCommits) }
            return damaged(.commitTruncated, offset..<end, position)
        }
        guard bytes.byteCount - cursor >= CommitHeader.size else { return .needsBytes(CommitHeader.size) }
        if bytes.integer(at: cursor, as: UInt32.self) == 0 { return .ended(.endOfCommits) }
        guard let header = CommitHeader(decoding: bytes, at: cursor, seed: seed) else {
            return damaged(.commitHeader, offset..<(offset + UInt64(CommitHeader.size)), position)
        }
        if header.isFooter, header.firstPosition == position {
            return isChainKnown && header.chain != chain
                ? damaged(.chain, offset..<(offset + UInt64(CommitHeader.size)), position) : .ended(.footer(header))
        }
        commit = header
        guard header.isPlausible, header.firstPosition == position else {
            return damaged(.commitFields, offset..<(offset + UInt64(CommitHeader.size)), position)
        }
        guard UInt64(header.length) <= end - offset else {
            return damaged(.commitTruncated, offset..<end, header.firstPosition, header.lastPosition)
        }
        guard visitor.beginCommit(header, at: offset) else { return .ended(.stoppedByVisitor) }
        recordsLeft = header.recordCount
        recordsCRC = 0
        isComplete = true
        cursor += CommitHeader.size
        offset += UInt64(CommitHeader.size)
        return nil
    }

    /// Checks the commit as a whole, after its last record.
    private func checkCommit() -> CommitProblem? {
        guard let commit else { return nil }
        let range = commitOffset..<(commitOffset + UInt64(commit.length))
        if offset != range.upperBound {
            return problem(.recordFraming, range, commit.firstPosition, commit.lastPosition)
        }
        guard isComplete else { return nil }
        if recordsCRC != commit.recordsCRC {
            return problem(.commitChecksum, range, commit.firstPosition, commit.lastPosition)
        }
        if isChainKnown && chain != commit.chain {
            return problem(.chain, range, commit.firstPosition, commit.lastPosition)
        }
        return nil
    }

    private func damaged(_ kind: CommitProblem.Kind, _ bytes: Range<UInt64>, _ first: Position, _ last: Position? = nil)
        -> Step
    {
        .ended(.damaged(problem(kind, bytes, first, last)))
    }

    private func problem(_ kind: CommitProblem.Kind, _ bytes: Range<UInt64>, _ first: Position, _ last: Position? = nil)
        -> CommitProblem
    {
        CommitProblem(
            kind: kind, commitOffset: commitOffset, header: commit, bytes: bytes,
            positions: first...max(first, last ?? first))
    }
}

extension CommitParser {
    /// Resumes after a record with a wrong checksum.
    ///
    /// The record's lengths are trusted until the commit's length disproves them.
    mutating func skipRecord(of bytes: Range<UInt64>) {
        if recordsLeft == 1, let commit {
            skipCommit(commit, at: commitOffset)
            return
        }
        offset = bytes.upperBound
        position += 1
        recordsLeft -= 1
        isComplete = false
    }

    /// Resumes after the commit with this header, with its chain value, which no earlier record
    /// confirms.
    mutating func skipCommit(_ header: CommitHeader, at offset: UInt64) {
        self.offset = offset + UInt64(header.length)
        position = header.firstPosition + UInt64(header.recordCount)
        recordsLeft = 0
        commit = nil
        (chain, isChainKnown) = (header.chain, true)
    }

    /// Resumes at a commit header found by a search.
    ///
    /// The chain value before it is unknown.
    mutating func resume(to header: CommitHeader, at offset: UInt64) {
        self.offset = offset
        position = header.firstPosition
        recordsLeft = 0
        commit = nil
        isChainKnown = false
    }
}
