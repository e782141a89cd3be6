/// The writer's state.
struct JournalState {
    /// Where the sealed segments begin, each of which ends before the next.
    var sealedStarts: [SegmentStart]
    /// The last segment, which is written.
    var active: Segment
    var lastPosition: Position
    var lastChain: UInt64
    var syncedPosition: Position
    var syncedChain: UInt64
    let durability: Durability
    /// The size up to which the last segment has space for sure.
    var allocated: UInt64
    /// The commits that are only in memory, which are the last ones of the last segment.
    var pending = CommitFramer()
    /// Up to where the last segment has been filled with zeros ahead of its commits.
    var filled: UInt64 = 0
    /// Up to where the last segment had been written when somebody last began to sync it ahead of the rotation.
    var backgroundSyncEnd: UInt64
    var entropy: EntropyPool
    /// Why the journal has stopped.
    var failure: JournalError? { didSet { hasFailed = failure != nil } }
    /// Asked with each commit: to look at an error is to copy it.
    private(set) var hasFailed = false
    var isClosed = false
    var waiters = SyncQueue()
    var metrics: JournalMetrics

    init(_ recovery: Recovery, _ durability: Durability, _ entropy: any EntropySource) {
        sealedStarts = recovery.sealedStarts
        active = recovery.last
        lastPosition = recovery.lastPosition
        lastChain = recovery.chain
        syncedPosition = recovery.lastPosition
        syncedChain = recovery.chain
        self.durability = durability
        allocated = active.end
        backgroundSyncEnd = active.end
        self.entropy = EntropyPool(entropy)
        metrics = JournalMetrics(recovery)
    }

    var durablePosition: Position { durability == .synced ? syncedPosition : lastPosition }
    var durableChain: UInt64 { durability == .synced ? syncedChain : lastChain }

    /// Goes on in a new segment; the last one is sealed, and opened again when it is read.
    mutating func goOn(in segment: Segment, allocated: UInt64) {
        if !active.isEmpty { sealedStarts.append(SegmentStart(active.header)) }
        active = segment
        self.allocated = allocated
        filled = 0
        backgroundSyncEnd = active.end
    }

    /// Throws when the journal can no longer be written.
    func checkWritable() throws(JournalError) {
        if isClosed { throw JournalError(.closed, "The journal has been closed.") }
        if hasFailed, let failure { throw failure }
    }
}

extension JournalState {
    /// Whether a commit of so many bytes belongs into the last segment: it fits, or the segment is empty and the commit too long for any.
    func hasRoom(_ count: UInt64, _ segmentSize: UInt64) -> Bool {
        active.isEmpty || active.end + count <= segmentSize
    }

    /// Makes sure that the last segment has space for so many more bytes.
    mutating func allocate(_ count: UInt64, _ segmentSize: UInt64) throws(JournalError) {
        guard active.end + count > allocated else { return }
        do throws(JournalError) {
            allocated = try Self.allocate(active.file, used: active.end, needed: active.end + count, segmentSize)
        } catch {
            metrics.refused(error)
            throw error
        }
    }

    /// Reserves space in steps: as much again as is used, within bounds, up to the segment's size; when there is less, half of that, and so
    /// on down to what is needed.
    ///
    /// Returns the size reserved.
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

    /// Puts the draft's bytes behind the commits of the last segment, which has space for them; and writes them, unless a sync is under way.
    ///
    /// While somebody syncs, commits gather in memory: a write would wait for the sync, or make it wait, and the next round writes all of them at once. A
    /// process that is killed may take them with it, as a power cut may; nobody has been told of them.
    mutating func append(_ draft: borrowing CommitDraft) throws(JournalError) -> ClosedRange<Position> {
        let first = lastPosition + 1
        pending.frame(draft, behind: &active, &lastChain, synced: syncedPosition, &entropy)
        lastPosition = active.lastPosition
        if durability == .written || !waiters.isLed || pending.byteCount > Self.mostPending { try writePending() }
        metrics.appended(records: UInt32(draft.recordCount), bytes: draft.encodedByteCount)
        return first...lastPosition
    }

    /// The bytes of commits in memory beyond which one write of more does not pay.
    private static let mostPending = 1 << 20

    /// Writes the commits that are only in memory, all at once; a failure stops the journal.
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

    /// Whether a sync in the background is due: where callers wait for none, much would be left for the rotation, and everybody would wait for that.
    mutating func announceBackgroundSync() -> Bool {
        guard durability == .written, active.end >= backgroundSyncEnd + Self.backgroundSyncStep, !waiters.isLed else { return false }
        backgroundSyncEnd = active.end
        waiters.lead = .announced
        return true
    }

    /// So many bytes that a sync takes milliseconds.
    ///
    /// The one at the end of a segment finds as much, and what was written during the last one ahead.
    static let backgroundSyncStep: UInt64 = 8 << 20

    /// Forgets the commits that are only in memory, because nothing is written any more: the last position is again the one before them, and
    /// all up to it can be read.
    mutating func dropPending() {
        pending.discard(from: &active, &lastChain)
        lastPosition = active.lastPosition
    }

    /// Writes zeros ahead of the commits, into space that is reserved, where many callers share syncs that cover little: the file system then has nothing to note about
    /// the space when commits are written there, and a sync waits for its data alone.
    ///
    /// Where a sync covers much it would not pay, because everything is written twice; and a single caller gains nothing. Zeros that could not be written, or were
    /// in part, mean what zeros mean that were never written: it is then left alone in this segment.
    mutating func fillAhead(after commitCount: Int, of byteCount: Int) {
        guard commitCount >= 4, byteCount <= Self.zeros.count / 4, filled < active.end + UInt64(byteCount) else { return }
        let start = max(filled, active.end)
        let count = min(Self.zeros.count, Int(clamping: allocated - min(allocated, start)))
        guard count > 0 else { return }
        do throws(StorageError) {
            try Self.zeros.withBytes(0..<count) { [file = active.file] (bytes) throws(StorageError) in try file.write(bytes, at: start) }
            filled = start + UInt64(count)
        } catch {
            filled = .max
        }
    }

    private static let zeros = [UInt8](repeating: 0, count: 262_144)

    /// Stops the journal after a write that failed, perhaps half done, and cuts off what it left, so that reopening does not have to tell it
    /// from damage.
    private mutating func stop(after error: StorageError, in segment: Segment, at offset: UInt64) -> JournalError {
        var failure = JournalError(error).inSegment(segment.name)
        if failure.code == .storageFull { failure.code = .ioFailed }
        failure.message = "A write failed and the journal has stopped until it is reopened."
        do throws(StorageError) {
            try segment.file.truncate(to: offset)
            // Else a power cut could undo the truncation, and half a write inside a sector is not to be told from damage.
            try segment.file.sync()
        } catch {
            failure.message += " What it left could not be cut off either."
        }
        self.failure = failure
        return failure
    }
}

/// What belongs to whoever syncs.
struct SyncState {
    let slotFile: any StorageFile
    /// Of the slot written last.
    var sequence: UInt64
    let lock: (any StorageLock)?
    /// Whether the slots are on the device as they were written.
    private(set) var isSlotSynced = true
    /// Whether somebody will come and sync the slot when the journal is idle.
    var isIdleSyncDue = false

    init(slotFile: any StorageFile, sequence: UInt64, lock: (any StorageLock)?) {
        self.slotFile = slotFile
        self.sequence = sequence
        self.lock = lock
    }

    /// Writes the slot that is due, the other than last time.
    mutating func write(_ slot: DurableSlot) throws(JournalError) {
        var slot = slot
        slot.sequence = sequence &+ 1
        let bytes = slot.encoded()
        try storage { () throws(StorageError) in
            try bytes.withBytes(0..<DurableSlot.size) { (span) throws(StorageError) in try slotFile.write(span, at: slot.offset) }
        }
        sequence = slot.sequence
        isSlotSynced = false
    }

    mutating func syncSlots() throws(JournalError) {
        try storage { () throws(StorageError) in try slotFile.sync() }
        isSlotSynced = true
    }
}

/// What is known of scrubbing; the lock is not held while a segment is read.
struct ScrubState {
    var progress = ScrubProgress()
    /// Whether it goes on in the background.
    var isRunning = false
}
