/// A reading of a segment's commits: its index, its valid end, and the attestations in it.
struct SegmentScan: CommitVisitor {
    var segment: Segment
    /// Commits that begin after this position are left alone: what a live writer has not yet made durable.
    let limit: Position
    /// Positions at which somebody outside attests the chain value, in ascending order.
    var watched: [Position]
    /// The chain values found at watched positions.
    var chains: [Position: UInt64] = [:]
    /// The highest position that a valid commit attests as synced.
    var attested: Position = 0
    /// The chain value after the last valid commit.
    var chain: UInt64
    /// The first commit that begins after this position: from there on bytes are written again.
    let rewriteAfter: Position
    var rewriteOffset: UInt64?
    /// What ended the scan before the end of the commits.
    var problem: CommitProblem?
    /// The frame of the footer that follows the commits.
    var footer: CommitHeader?
    /// The size of the file.
    let size: UInt64

    private var pendingChains: [Position: UInt64] = [:]
    private var nextWatched: Position

    /// Makes the scan of a segment; `watched` in ascending order.
    init(_ segment: Segment, size: UInt64, limit: Position = .max, watched: [Position] = [], rewriteAfter: Position = .max) {
        self.init(segment, after: segment.header.chain, size: size, limit: limit, watched: watched, rewriteAfter: rewriteAfter)
    }

    /// Makes the scan of what follows the records that are known of a segment, with the chain value after them.
    init(
        _ segment: Segment, after chain: UInt64, size: UInt64, limit: Position = .max, watched: [Position] = [],
        rewriteAfter: Position = .max
    ) {
        self.segment = segment
        self.size = size
        self.limit = limit
        self.watched = watched
        self.rewriteAfter = rewriteAfter
        self.chain = chain
        nextWatched = watched.first { $0 > segment.lastPosition } ?? .max
    }

    /// Reads the segment; a problem in the bytes is kept in ``problem``, a failure to read thrown.
    mutating func run() throws(JournalError) {
        var reader = CommitReader(segment, from: segment.end, position: segment.lastPosition + 1, chain: chain, end: size)
        switch try reader.read(&self) {
        case .damaged(let found):
            problem = found
            segment.index.remove(from: segment.lastPosition + 1 - segment.header.firstPosition)
        case .sealed(let header):
            footer = header
            attested = max(attested, header.syncedPosition)
        case .end, .done, .stopped: break
        }
    }

    mutating func begin(_ header: CommitHeader, at offset: UInt64) -> Bool {
        guard header.firstPosition <= limit else { return false }
        segment.index.note(header.firstPosition - segment.header.firstPosition, at: offset, recordsLeft: 0)
        pendingChains.removeAll(keepingCapacity: true)
        return true
    }

    mutating func record(_ place: RecordPlace, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool {
        segment.index.note(place.position - segment.header.firstPosition, at: place.offset, recordsLeft: place.recordsLeft)
        if place.position >= nextWatched {
            pendingChains[place.position] = chain
            nextWatched = watched.first { $0 > place.position } ?? .max
        }
        return true
    }

    mutating func end(_ header: CommitHeader, at offset: UInt64) {
        segment.lastPosition = header.lastPosition
        segment.end = offset
        chain = header.chain
        attested = max(attested, header.syncedPosition)
        if rewriteOffset == nil && header.lastPosition > rewriteAfter { rewriteOffset = offset - UInt64(header.length) }
        chains.merge(pendingChains) { first, _ in first }
        pendingChains.removeAll(keepingCapacity: true)
    }
}
