/// A scan of a segment's commits: builds the index, finds the valid end and collects attestations.
struct SegmentScan: CommitVisitor {
    var segment: Segment
    /// The scan ends before the first commit that begins after this position.
    ///
    /// A live writer has not yet made such a commit durable.
    let limit: Position
    /// The positions with externally attested chain values, ascending.
    var watchedPositions: [Position]
    /// The chain values found at watched positions.
    var chains: [Position: UInt64] = [:]
    /// The highest position that a valid commit attests as synced.
    var attestedPosition: Position = 0
    /// The chain value after the last valid commit.
    var chain: UInt64
    /// The position after which commits must be rewritten; `rewriteOffset` is the first one's
    /// offset.
    let rewriteAfter: Position
    var rewriteOffset: UInt64?
    /// The problem that ended the scan before the end of the commits.
    var problem: CommitProblem?
    /// The frame of the footer after the commits.
    var footer: CommitHeader?
    /// The size of the file.
    let size: UInt64

    private var pendingChains: [Position: UInt64] = [:]
    private var nextWatchedPosition: Position

    /// Creates the scan of a segment after its known records.
    ///
    /// - Parameters:
    ///   - chain: The chain value after those records; nil for the scan of a whole segment.
    ///   - watchedPositions: Ascending.
    init(
        _ segment: Segment, after chain: UInt64? = nil, size: UInt64, limit: Position = .max,
        watchedPositions: [Position] = [],
        rewriteAfter: Position = .max
    ) {
        (self.segment, self.size, self.limit) = (segment, size, limit)
        (self.watchedPositions, self.rewriteAfter) = (watchedPositions, rewriteAfter)
        self.chain = chain ?? segment.header.chain
        nextWatchedPosition = watchedPositions.first { $0 > segment.lastPosition } ?? .max
    }

    /// Reads the segment.
    ///
    /// Stores a problem of the bytes in ``problem``, and throws a failure of the read.
    mutating func run() throws(JournalError) {
        var reader = CommitReader(
            segment, from: segment.end, position: segment.lastPosition + 1, chain: chain, end: size)
        switch try reader.read(&self) {
        case .damaged(let found):
            problem = found
            segment.index.remove(from: segment.lastPosition + 1 - segment.header.firstPosition)
        case .footer(let header):
            footer = header
            attestedPosition = max(attestedPosition, header.syncedPosition)
        case .endOfCommits, .rangeCompleted, .stoppedByVisitor: break
        }
    }

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool {
        guard header.firstPosition <= limit else { return false }
        segment.index.addEntry(header.firstPosition - segment.header.firstPosition, at: offset, recordsLeft: 0)
        pendingChains.removeAll(keepingCapacity: true)
        return true
    }

    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool
    {
        segment.index.addEntry(
            place.position - segment.header.firstPosition, at: place.offset, recordsLeft: place.recordsLeft)
        if place.position >= nextWatchedPosition {
            pendingChains[place.position] = chain
            nextWatchedPosition = watchedPositions.first { $0 > place.position } ?? .max
        }
        return true
    }

    mutating func endCommit(_ header: CommitHeader, at offset: UInt64) {
        segment.lastPosition = header.lastPosition
        segment.end = offset
        chain = header.chain
        attestedPosition = max(attestedPosition, header.syncedPosition)
        if rewriteOffset == nil && header.lastPosition > rewriteAfter { rewriteOffset = offset - UInt64(header.length) }
        chains.merge(pendingChains) { first, _ in first }
        pendingChains.removeAll(keepingCapacity: true)
    }
}
