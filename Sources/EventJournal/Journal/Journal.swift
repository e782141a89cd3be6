internal import Dispatch
internal import Locking
internal import MerkleLog
internal import Synchronization

/// An append-only log of opaque records, stored in the files of one directory.
///
/// One `Journal` at a time may write to a directory (``open(_:options:)``). Any number may read it,
/// in this process and in others (``openReadOnly(_:options:)``). All methods may be called from any
/// thread.
///
/// ```swift
/// let journal = try Journal.open(directory)
/// var draft = CommitDraft()
/// try draft.append(kept: kind.span.bytes, erasable: body.span.bytes)
/// try journal.reserve(draft.encodedByteCount)  // throws `storageFull` before anything is written
/// let positions = try journal.append(draft, expecting: journal.lastPosition)
/// try journal.waitUntilDurable(positions.upperBound)
/// try journal.forEachRecord(in: positions) { position, state, kept, erasable in
///     print(position, state, kept.byteCount, erasable.byteCount)
///     return true
/// }
/// try journal.close()
/// ```
///
/// `append` does not wait for a sync. `waitUntilDurable` does, and concurrent callers share syncs
/// (group commit). A failed write or sync stops the journal: all later appends and waits throw the
/// same error until the journal is reopened. Reads continue to work.
public final class Journal: Sendable {
    /// The journal's identity.
    public let id: JournalID
    /// Whether the journal was opened for reading only.
    public let isReadOnly: Bool
    /// The durability mode of the open journal.
    public let durability: Durability
    /// What recovery found and changed when the journal was opened.
    public var recovery: RecoveryReport { recoveryReport.withLock { $0 } }

    /// The value of ``recovery``, which changes when the journal begins to write.
    let recoveryReport: Lock<RecoveryReport>
    let directory: JournalDirectory
    let sealedSegments: SealedSegments
    let segmentSize: UInt64
    let slotSyncDelay: Duration?
    /// Receives messages about the opening and about failures of background work.
    let log: LogHandler?
    // The order of the locks: `erasure`, `syncState`, `state`, `published`. Apart from them:
    // `scrubbing`, then `scrub`; and `treeFile`, then the lock of `tree` or `published`.

    /// The writer's lock, held during a write and, when a segment is full, during its syncs.
    let state: Lock<JournalState>
    /// The state that readers see.
    ///
    /// Acquired alone or after ``state``, and never held during I/O, so that readers do not wait
    /// for the writer.
    let published: Lock<PublishedState>
    /// Held during a sync; acquired before ``state``.
    ///
    /// Syncs of one file must not overlap: the system reports a failed sync only once, and a
    /// concurrent sync would report success.
    let syncState: Lock<SyncState>
    /// The number of changes of ``PublishedState/hiddenContent``; a read compares it before each
    /// record.
    let hiddenContentVersion = Atomic<UInt64>(0)
    /// Held while content is erased.
    let erasure = Lock(())
    let scrub = Lock(ScrubState())
    /// Held while a segment is scrubbed; acquired before ``scrub``.
    ///
    /// The value is whether the stored progress has been loaded.
    let scrubbing = Lock(false)
    let treePause: Duration
    /// The hashes of the tree in memory, for heads and proofs.
    package let tree: RecordTree
    /// Held while the tree file is loaded or a page is written; acquired before the lock of
    /// ``tree``.
    let treeFile: Lock<TreeFileState>
    /// Stores the pages of the tree.
    let treeBackground: BackgroundRunner
    let buffers = ReadBufferPool()
    /// Leads the syncs that tasks wait for, so that no thread of the cooperative pool blocks.
    let background: BackgroundRunner

    init(
        _ recovery: Recovery, directory: JournalDirectory, options: JournalOptions, durability: Durability,
        lock: (any StorageLock)?
    ) {
        id = recovery.id
        isReadOnly = lock == nil
        self.durability = durability
        recoveryReport = Lock(recovery.report)
        self.directory = directory
        sealedSegments = SealedSegments(directory, recovery.id)
        segmentSize = JournalLimits.segmentBytes(nearestTo: options.segmentSize)
        slotSyncDelay = options.slotSyncDelay
        log = options.log
        background = BackgroundRunner("EventJournal.sync", options.executor)
        (tree, treePause) = (RecordTree(options.treeLayout), options.treePause)
        treeFile = Lock(TreeFileState(file: TreeFile(directory, recovery.id, options.treeLayout)))
        treeBackground = BackgroundRunner("EventJournal.tree", qos: .utility, options.executor)
        var initial = JournalState(recovery, durability, options.entropy, path: directory.path)
        if lock != nil { initial.treePageDuePosition = options.treeLayout.recordsPerPage }
        published = Lock(PublishedState(initial))
        state = Lock(initial)
        syncState = Lock(
            SyncState(
                slotFile: recovery.slots.file, sequence: recovery.slots.newest.sequence,
                hasRole: options.purpose.hasRole, lock: lock))
    }

    /// The last position that is durable under the journal's mode; 0 when the journal is empty.
    ///
    /// Records beyond it must not be shown to users.
    public var durablePosition: Position { published.withLock { $0.durablePosition } }

    /// The last position appended; 0 when the journal is empty.
    public var lastPosition: Position { published.withLock { $0.lastPosition } }

    /// The head of the durable history: journal id, ``durablePosition`` and the chain value there.
    ///
    /// See ``JournalOptions/expectedHead``.
    public var head: JournalHead {
        let (position, chain) = published.withLock { ($0.durablePosition, $0.durableChain) }
        return JournalHead(journal: id, position: position, chain: chain)
    }

    /// The error that stopped the journal, or that it has moved to another place; nil while it
    /// runs.
    public var failure: JournalError? { published.withLock { $0.failure } }
}

extension Journal {
    /// Changes the writer's state, publishes it to readers, and wakes followers outside the locks.
    ///
    /// Publishing happens before the writer's lock is released, so that readers see the changes in
    /// order. Acquires ``state``, then ``published``.
    func updateState<Result: Sendable, Failure: Error>(_ body: (inout JournalState) throws(Failure) -> Result)
        throws(Failure) -> Result
    {
        var rest: PublishedState.DeferredWork?
        defer { rest?.wakeups?.deliver() }
        return try state.withLock { (state) throws(Failure) -> Result in
            defer { rest = published.withLock { $0.update(from: state) } }
            return try body(&state)
        }
    }
}
