internal import Locking

/// The counters of an open journal, protected by the writer's lock.
struct JournalMetrics {
    /// The bytes of the commits in all segments.
    private(set) var storedBytes: UInt64
    /// The bytes after the last commit of the last segment when the journal was opened.
    let unusedBytesAtOpening: UInt64
    private(set) var appendedBytes: UInt64 = 0
    /// Its count is the number of commits, its sum the number of records.
    private(set) var recordsPerCommit = JournalStatistics.Histogram(powersOfTwo: 0...22)
    /// Its count is the number of syncs.
    private(set) var commitsPerSync = JournalStatistics.Histogram(powersOfTwo: 0...22)
    /// In nanoseconds, from 1.024 µs to 17.2 s.
    private(set) var syncLatency = JournalStatistics.Histogram(powersOfTwo: 10...34)
    private(set) var rotations: UInt64 = 0
    private(set) var storageFullRejections: UInt64 = 0
    private var syncedCommits: UInt64 = 0

    init(_ recovery: Recovery) {
        storedBytes = recovery.sealedBytes + recovery.lastSegment.commitBytes
        let end = recovery.lastSegment.end
        unusedBytesAtOpening = max(recovery.lastFileSize, end) - end
    }

    /// The number of commits appended, which a sync that starts now covers.
    var commitCount: UInt64 { recordsPerCommit.count }

    mutating func recordAppend(records: UInt32, bytes: Int) {
        recordsPerCommit.record(UInt64(records))
        storedBytes &+= UInt64(bytes)
        appendedBytes &+= UInt64(bytes)
    }

    /// Counts a successful sync; `commits` is the value of ``commitCount`` when the sync started.
    mutating func recordSync(commits: UInt64, since start: ContinuousClock.Instant) {
        commitsPerSync.record(commits - syncedCommits)
        syncedCommits = commits
        let (seconds, attoseconds) = start.duration(to: .now).components
        syncLatency.record(UInt64(max(0, seconds)) &* 1_000_000_000 &+ UInt64(max(0, attoseconds)) / 1_000_000_000)
    }

    /// Counts the bytes that a read-only journal has applied of another process's commits.
    mutating func recordApplied(bytes: UInt64) { storedBytes &+= bytes }

    mutating func recordRotation() { rotations &+= 1 }

    /// Counts a rejected append or reservation if the disk is full.
    mutating func recordRejection(_ error: JournalError) {
        if error.code == .storageFull { storageFullRejections &+= 1 }
    }
}

extension Journal {
    /// The journal's contents and its counters since it was opened, of the same moment.
    ///
    /// Only ``JournalStatistics/scrub`` is read before the others.
    ///
    /// Counters are always on. The call waits only for the writer's lock, which is held during a
    /// write and, when a segment is full, during its syncs.
    ///
    /// - Complexity: O(1).
    public var statistics: JournalStatistics {
        let (scrub, recovery) = (scrubProgress, recovery)
        return state.withLock { state in
            let metrics = state.metrics
            let end = state.active.end
            return JournalStatistics(
                journal: id, durability: durability, isReadOnly: isReadOnly, lastPosition: state.lastPosition,
                durablePosition: state.durablePosition, segments: state.sealedStarts.count + 1,
                storedBytes: metrics.storedBytes,
                unusedBytes: isReadOnly ? metrics.unusedBytesAtOpening : max(state.allocatedSize, end) - end,
                appendedBytes: metrics.appendedBytes, recordsPerCommit: metrics.recordsPerCommit,
                commitsPerSync: metrics.commitsPerSync,
                syncLatency: metrics.syncLatency, rotations: metrics.rotations,
                storageFullRejections: metrics.storageFullRejections,
                waiters: state.waiters.count,
                failure: state.failure.map { JournalStatistics.Failure(code: $0.code.rawValue, message: $0.message) },
                scrub: scrub, recovery: recovery)
        }
    }

    /// Returns the journal's segments in order; the last one up to its last written commit.
    ///
    /// - Throws: The errors of reading the sealed segments.
    /// - Complexity: Linear in the number of segments. Reads the footers of segments that are not
    ///   open.
    public func segments() throws(JournalError) -> [SegmentStatistics] {
        let (starts, active) = published.withLock { ($0.sealedStarts, $0.activeWithoutIndex) }
        var segments: [SegmentStatistics] = []
        for (index, start) in starts.enumerated() {
            let next = index + 1 < starts.count ? starts[index + 1] : SegmentStart(active.header)
            segments.append(SegmentStatistics(try sealedSegments.segment(from: start, to: next)))
        }
        return segments + [SegmentStatistics(active)]
    }
}

extension SegmentStatistics {
    fileprivate init(_ segment: Segment) {
        let first = segment.header.firstPosition
        self.init(
            name: segment.name, positions: segment.isEmpty ? nil : first...segment.lastPosition,
            bytes: segment.commitBytes)
    }
}
