internal import Locking

/// What a journal counts about itself from its opening on, behind the journal's lock: plain numbers, one call for each event.
struct JournalMetrics {
    /// The bytes of the commits in all segments.
    private(set) var storedBytes: UInt64
    /// The bytes after the last commit of the last segment when the journal was opened.
    let unusedBytesAtOpening: UInt64
    private(set) var appendedBytes: UInt64 = 0
    /// Its count is that of the commits, its sum that of the records.
    private(set) var recordsPerCommit = JournalStatistics.Histogram(powersOfTwo: 0...22)
    /// Its count is that of the syncs.
    private(set) var commitsPerSync = JournalStatistics.Histogram(powersOfTwo: 0...22)
    /// In nanoseconds: from 1.024 µs to 17.2 s.
    private(set) var syncLatency = JournalStatistics.Histogram(powersOfTwo: 10...34)
    private(set) var rotations: UInt64 = 0
    private(set) var refusedAsFull: UInt64 = 0
    private var syncedCommits: UInt64 = 0

    init(_ recovery: Recovery) {
        storedBytes = recovery.sealedBytes + recovery.last.commitBytes
        let end = recovery.last.end
        unusedBytesAtOpening = max(recovery.lastSize, end) - end
    }

    /// The commits appended by now: what the sync that begins now covers.
    var commits: UInt64 { recordsPerCommit.count }

    mutating func appended(records: UInt32, bytes: Int) {
        recordsPerCommit.record(UInt64(records))
        storedBytes &+= UInt64(bytes)
        appendedBytes &+= UInt64(bytes)
    }

    /// Counts a sync that has just succeeded; `commits` is what ``commits`` was when it began.
    mutating func synced(commits: UInt64, since start: ContinuousClock.Instant) {
        commitsPerSync.record(commits - syncedCommits)
        syncedCommits = commits
        let (seconds, attoseconds) = start.duration(to: .now).components
        syncLatency.record(UInt64(max(0, seconds)) &* 1_000_000_000 &+ UInt64(max(0, attoseconds)) / 1_000_000_000)
    }

    /// Counts what a reader has taken in of the commits that another process appends.
    mutating func tookIn(bytes: UInt64) { storedBytes &+= bytes }

    mutating func rotated() { rotations &+= 1 }

    /// Counts an append or a reservation that ends with this error, if a full disk is the reason.
    mutating func refused(_ error: JournalError) {
        if error.code == .storageFull { refusedAsFull &+= 1 }
    }
}

extension Journal {
    /// What the journal holds and has done since it was opened, all of one moment.
    ///
    /// Counting is always on. Taking the statistics waits for the writer's lock alone, which is held for one write at a time, and at the
    /// end of a segment for its syncs.
    ///
    /// - Complexity: O(1): some copies, under the lock.
    public var statistics: JournalStatistics {
        let scrub = scrubProgress
        return state.withLock { state in
            let metrics = state.metrics
            let end = state.active.end
            return JournalStatistics(
                journal: id, durability: durability, isReadOnly: isReadOnly, lastPosition: state.lastPosition,
                durablePosition: state.durablePosition, segments: state.sealedStarts.count + 1, storedBytes: metrics.storedBytes,
                unusedBytes: isReadOnly ? metrics.unusedBytesAtOpening : max(state.allocated, end) - end,
                appendedBytes: metrics.appendedBytes, recordsPerCommit: metrics.recordsPerCommit, commitsPerSync: metrics.commitsPerSync,
                syncLatency: metrics.syncLatency, rotations: metrics.rotations, refusedAsFull: metrics.refusedAsFull,
                waiters: state.waiters.count,
                failure: state.failure.map { JournalStatistics.Failure(code: $0.code.rawValue, message: $0.message) },
                scrub: scrub, recovery: recovery)
        }
    }

    /// The segments of the journal, in order; the last one as far as it has been written.
    ///
    /// - Throws: What a read of the sealed segments throws.
    /// - Complexity: Linear in the number of segments; reads the footers of those that are not open.
    public func segments() throws(JournalError) -> [SegmentStatistics] {
        let (starts, active) = published.withLock { ($0.sealedStarts, $0.activeWithoutIndex) }
        var segments: [SegmentStatistics] = []
        for (index, start) in starts.enumerated() {
            let next = index + 1 < starts.count ? starts[index + 1] : SegmentStart(active.header)
            segments.append(SegmentStatistics(try sealed.segment(from: start, to: next)))
        }
        return segments + [SegmentStatistics(active)]
    }
}

extension SegmentStatistics {
    fileprivate init(_ segment: Segment) {
        let first = segment.header.firstPosition
        self.init(
            name: segment.name, positions: segment.isEmpty ? nil : first...segment.lastPosition, bytes: segment.commitBytes)
    }
}
