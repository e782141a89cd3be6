internal import Locking

/// An append-only journal of opaque records: commits in, positions out.
///
/// One `Journal` may write to a directory at a time (``open(_:options:)``); any number may read it, in this process and others
/// (``openReadOnly(_:options:)``). All methods may be called from any thread.
///
///     let journal = try Journal.open("neighbourhood.journal")
///     try journal.reserve(draft.encodedByteCount)
///     let positions = try journal.append(draft, expecting: journal.lastPosition)
///     try journal.waitUntilDurable(positions.upperBound)
///
/// `append` does not wait; `waitUntilDurable` waits, and everyone who waits shares one sync. A write or sync that fails stops the
/// journal: every later append and wait throws the same error, until the journal is opened again. Reading goes on.
public final class Journal: Sendable {
    /// The journal's identity.
    public let id: JournalID
    /// Whether the journal was opened for reading only.
    public let isReadOnly: Bool
    /// The durability that the journal is open with.
    public let durability: Durability
    /// What opening found and did.
    public let recovery: RecoveryReport

    let directory: JournalDirectory
    let sealed: SealedSegments
    let segmentSize: UInt64
    let idleDelay: Duration?
    /// The writer's lock, held during a write and, at the end of a segment, during syncs.
    let state: Lock<JournalState>
    /// What readers see.
    ///
    /// Taken alone or after ``state``, and never held during I/O: no reader waits for the writer.
    let published: Lock<PublishedState>
    /// Held by whoever syncs, before and around ``state``: syncs of one file must not overlap, because the system reports a failed one only
    /// once, and the other would take it for success.
    let sync: Lock<SyncState>
    let scrub = Lock(ScrubState())
    /// Held by whoever scrubs, before ``scrub``: whether the note in the directory has been read.
    let scrubber = Lock(false)
    let buffers = ReadBuffers()
    /// Where syncs are led for tasks, so that no thread of the cooperative pool blocks.
    let background: Background

    init(
        _ recovery: Recovery, directory: JournalDirectory, options: JournalOptions, durability: Durability, lock: (any StorageLock)?
    ) {
        id = recovery.id
        isReadOnly = lock == nil
        self.durability = durability
        self.recovery = recovery.report
        self.directory = directory
        sealed = SealedSegments(directory, recovery.id)
        segmentSize = min(max(options.segmentSize, JournalLimits.segmentBytes.lowerBound), JournalLimits.segmentBytes.upperBound)
        idleDelay = options.idleDelay
        background = Background("EventJournal.sync", options.executor)
        let initial = JournalState(recovery, durability, options.entropy)
        published = Lock(PublishedState(initial))
        state = Lock(initial)
        sync = Lock(SyncState(slotFile: recovery.slots.file, sequence: recovery.slots.newest.sequence, lock: lock))
    }

    /// The last position that is durable under the journal's mode; what is beyond it must not be shown.
    ///
    /// 0 when there is none.
    public var durablePosition: Position { published.withLock { $0.durablePosition } }

    /// The last position appended.
    ///
    /// 0 when there is none.
    public var lastPosition: Position { published.withLock { $0.lastPosition } }

    /// The token of everything that is durable under the journal's mode.
    ///
    /// See ``JournalOptions/expectedHead``.
    public var head: JournalHead {
        let (position, chain) = published.withLock { ($0.durablePosition, $0.durableChain) }
        return JournalHead(journal: id, position: position, chain: chain)
    }
}

extension Journal {
    /// Changes the writer's state, shows the result to readers before the next change, and then wakes the followers for whom there is more.
    func change<Result: Sendable, Failure: Error>(_ body: (inout JournalState) throws(Failure) -> Result) throws(Failure) -> Result {
        var rest: PublishedState.Rest?
        defer { rest?.wakeups?.deliver() }
        return try state.withLock { (state) throws(Failure) -> Result in
            defer { rest = published.withLock { $0.update(from: state) } }
            return try body(&state)
        }
    }
}

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
    /// The commits that are not written yet, which are the last ones of the last segment; its memory is used again.
    var buffer: [UInt8] = []
    var pending = PendingCommits()
    /// Up to where the last segment has been filled with zeros ahead of its commits.
    var filled: UInt64 = 0
    /// Up to where the last segment had been written when somebody last began to sync it ahead of the roll-over.
    var backgroundSyncEnd: UInt64
    var entropy: EntropyPool
    /// Why the journal has stopped.
    var failure: JournalError? { didSet { hasFailed = failure != nil } }
    /// Asked with each commit: to look at an error is to copy it.
    private(set) var hasFailed = false
    var isClosed = false
    var waiters = Waiters()
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
