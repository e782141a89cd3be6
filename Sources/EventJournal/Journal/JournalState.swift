import Primitives

/// The writer's state.
struct JournalState {
    /// The path of the directory.
    let path: String
    /// The starts of the sealed segments.
    ///
    /// Each segment ends before the next one starts.
    var sealedStarts: [SegmentStart]
    /// The last segment, which the writer appends to.
    var active: Segment
    var lastPosition: Position
    var lastChain: UInt64
    var syncedPosition: Position
    var syncedChain: UInt64
    let durability: Durability
    /// The file `durable`.
    let durableFile: any StorageFile
    /// The time of the next check that the directory still has the files that are written.
    var nextFileCheck = ContinuousClock.now
    /// What an opening for writing has found and not changed yet; nil for an open writer.
    var unwrittenRecovery: UnwrittenRecovery? { didSet { updateRejectsAppends() } }
    /// The size up to which space is reserved for the last segment.
    var allocatedSize: UInt64
    /// The commits that are only in memory: the last ones of the last segment.
    var pending = CommitFramer()
    /// The offset up to which the last segment is zero-filled ahead of its commits.
    var zeroFilledEnd: UInt64 = 0
    /// The synced position at which a page of the tree is due; the maximum if one is scheduled, and
    /// for a reader.
    var treePageDuePosition: Position = .max
    /// The last segment's end when the latest background sync was scheduled.
    var backgroundSyncEnd: UInt64
    var entropy: EntropyPool
    /// The error that stopped the journal.
    var failure: JournalError? { didSet { updateRejectsAppends() } }
    /// The error of appends after the journal has moved to another place.
    var fence: JournalError? { didSet { updateRejectsAppends() } }
    /// Whether the failure was reported to the log of the host program.
    var isFailureReported = false
    /// Whether ``failure``, ``fence`` or ``unwrittenRecovery`` is set; checked for each commit,
    /// because reading the error would copy it.
    private(set) var rejectsAppends = false
    var isClosed = false
    var waiters = SyncQueue()
    var metrics: JournalMetrics

    init(_ recovery: Recovery, _ durability: Durability, _ entropy: any EntropySource, path: String) {
        self.path = path
        durableFile = recovery.slots.file
        sealedStarts = recovery.sealedStarts
        active = recovery.lastSegment
        lastPosition = recovery.lastPosition
        lastChain = recovery.chain
        syncedPosition = recovery.lastPosition
        syncedChain = recovery.chain
        self.durability = durability
        allocatedSize = active.end
        backgroundSyncEnd = active.end
        self.entropy = EntropyPool(entropy)
        metrics = JournalMetrics(recovery)
    }

    var durablePosition: Position { durability == .synced ? syncedPosition : lastPosition }
    var durableChain: UInt64 { durability == .synced ? syncedChain : lastChain }

    /// Continues in a new segment.
    ///
    /// The previous one is sealed, and the next read of it opens it again.
    mutating func rotate(in segment: Segment, allocated: UInt64) {
        if !active.isEmpty { sealedStarts.append(SegmentStart(active.header)) }
        active = segment
        self.allocatedSize = allocated
        zeroFilledEnd = 0
        backgroundSyncEnd = active.end
    }

    /// Throws if the journal is closed, has stopped or has moved.
    func checkWritable() throws(JournalError) {
        if isClosed { throw JournalError.closedJournal() }
        guard rejectsAppends else { return }
        if let error = failure ?? fence { throw error }
        throw JournalError(.readOnly, "The journal is not open for writing yet.")
    }

    private mutating func updateRejectsAppends() {
        rejectsAppends = failure != nil || fence != nil || unwrittenRecovery != nil
    }
}

extension JournalState {
    /// Whether a commit of `count` bytes goes into the last segment.
    ///
    /// An empty segment takes a commit of any size, because no other segment would fit it better.
    func hasRoom(_ count: UInt64, _ segmentSize: UInt64) -> Bool { active.isEmpty || active.end + count <= segmentSize }

    /// Reserves space for `count` more bytes in the last segment.
    mutating func allocate(_ count: UInt64, _ segmentSize: UInt64) throws(JournalError) {
        guard active.end + count > allocatedSize else { return }
        do throws(JournalError) {
            allocatedSize = try Self.allocate(active.file, used: active.end, needed: active.end + count, segmentSize)
        } catch {
            metrics.recordRejection(error)
            throw error
        }
    }

    /// Reserves space beyond what is needed, and returns the reserved size.
    ///
    /// The step is the size in use, from 1 to 64 MiB, up to the segment's size. On a full disk the
    /// step is halved until only the needed space is left.
    static func allocate(
        _ file: any StorageFile, used: UInt64, needed: UInt64, _ segmentSize: UInt64
    ) throws(JournalError) -> UInt64 {
        var step = min(max(used, 1 << 20), 64 << 20)
        while true {
            let target = max(needed, min(segmentSize, needed + step))
            do throws(StorageError) {
                try file.allocate(to: target)
                return target
            } catch {
                guard error.kind == .full, target > needed else { throw JournalError(error) }
                step = step > 65_536 ? step / 2 : 0
            }
        }
    }

    /// Appends the draft's commit to the last segment, and writes it unless a sync is in progress.
    ///
    /// During a sync, commits stay in memory: a write would delay the sync or wait for it, and the
    /// next round writes all of them at once. A killed process may lose them, as a power failure
    /// may; they were not acknowledged as durable.
    mutating func append(_ draft: borrowing CommitDraft) throws(JournalError) -> ClosedRange<Position> {
        let first = lastPosition + 1
        pending.frame(draft, behind: &active, &lastChain, synced: syncedPosition, &entropy)
        lastPosition = active.lastPosition
        if durability == .written || !waiters.hasLeader || pending.byteCount > Self.maximumPendingByteCount {
            try writePending()
        }
        metrics.recordAppend(records: UInt32(draft.recordCount), bytes: draft.encodedByteCount)
        return first...lastPosition
    }

    /// The maximum bytes of commits kept in memory; one larger write would not save time.
    static let maximumPendingByteCount = 1 << 20

    /// Writes all commits that are only in memory, in one write; a failure stops the journal.
    mutating func writePending() throws(JournalError) {
        if pending.isEmpty { return }
        let offset = active.end - UInt64(pending.byteCount)
        do throws(StorageError) {
            try pending.write(to: active.file, endingAt: active.end)
        } catch {
            dropPending()
            throw stop(after: error, in: active, at: offset)
        }
    }

    /// Whether a background sync is due; if so, marks it as scheduled.
    ///
    /// Without it, a `.written` journal whose callers never wait would sync a whole segment during
    /// the rotation, which blocks all appends.
    mutating func scheduleBackgroundSyncIfDue() -> Bool {
        guard durability == .written, active.end >= backgroundSyncEnd + Self.backgroundSyncStep,
            waiters.scheduleLeader()
        else {
            return false
        }
        backgroundSyncEnd = active.end
        return true
    }

    /// The bytes between background syncs, chosen so that a sync takes milliseconds.
    ///
    /// It also bounds the work of the sync at the end of a segment, apart from bytes
    /// written during the last background sync.
    static let backgroundSyncStep: UInt64 = 8 << 20

    /// Discards the commits that are only in memory after a failure.
    ///
    /// The last position is then the last written one, so that all positions are readable.
    mutating func dropPending() {
        pending.discard(from: &active, &lastChain)
        lastPosition = active.lastPosition
    }

    /// Zero-fills reserved space ahead of the commits when many callers share small syncs.
    ///
    /// The file system then has no allocation metadata to update when a commit is written there,
    /// and a sync waits only for data. Large syncs and single callers do not benefit, because all
    /// bytes are written twice (Benchmarks/README.md, W4). A failed or partial zero-fill is
    /// harmless, since reserved space reads as zeros anyway; it ends zero-filling in this segment.
    ///
    /// - Parameters:
    ///   - commitCount: The number of commits that were written together for this sync.
    ///   - byteCount: The number of their bytes.
    mutating func zeroFillIfUseful(commitCount: Int, byteCount: Int) {
        guard commitCount >= Self.zeroFillMinimumCommitCount, byteCount <= Self.zeroFillMaximumByteCount,
            zeroFilledEnd < active.end + UInt64(byteCount)
        else { return }
        let start = max(zeroFilledEnd, active.end)
        let count = min(Self.zeroFillByteCount, Int(clamping: allocatedSize - min(allocatedSize, start)))
        guard count > 0 else { return }
        do throws(StorageError) {
            try Self.zeros.withBytes(0..<count) { [file = active.file] (bytes) throws(StorageError) in
                try file.write(bytes, at: start)
            }
            zeroFilledEnd = start + UInt64(count)
        } catch {
            zeroFilledEnd = .max
        }
    }

    /// The number of commits for one sync that shows that many callers share it.
    private static let zeroFillMinimumCommitCount = 4
    /// The number of bytes of one zero-fill.
    private static let zeroFillByteCount = 262_144
    /// The number of bytes of a small sync; one zero-fill then serves several syncs.
    private static let zeroFillMaximumByteCount = zeroFillByteCount / 4
    private static let zeros = [UInt8](repeating: 0, count: zeroFillByteCount)

    /// Stops the journal after a failed write and truncates its partial bytes.
    ///
    /// Otherwise the next opening could not distinguish them from damage.
    private mutating func stop(after error: StorageError, in segment: Segment, at offset: UInt64) -> JournalError {
        var failure = JournalError(error).addingSegment(segment.name)
        if failure.code == .storageFull { failure.code = .ioFailed }
        failure.message = "A write failed. The journal has stopped until it is reopened."
        do throws(StorageError) {
            try segment.file.truncate(to: offset)
            // Without the sync, a power failure could undo the truncation, and a partial write
            // inside a sector looks like damage.
            try segment.file.sync()
        } catch {
            failure.message += " The file could not be truncated to its last commit either."
        }
        self.failure = failure
        return failure
    }
}

/// The state of scrubbing; its lock is not held while a segment is read.
struct ScrubState {
    var progress = ScrubProgress()
    /// Whether scrubbing runs in the background.
    var isRunning = false
}
