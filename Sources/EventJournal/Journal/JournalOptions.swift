/// Options for opening a journal.
public struct JournalOptions: Sendable {
    /// When an append is durable.
    ///
    /// The journal does not store this choice; it applies until the journal is closed.
    public var durability: Durability
    /// The maximum size of a segment's header and commits in bytes, clamped to
    /// ``JournalLimits/segmentBytes``.
    ///
    /// A commit that exceeds it gets a segment of its own. The file of a sealed segment is longer
    /// by its footer, about 12 bytes for each 4 KiB, and can become longer when content is erased.
    public var segmentSize: UInt64
    /// The storage of the journal's files.
    public var storage: any JournalStorage
    /// The source of random bytes.
    public var entropy: any EntropySource
    /// A head saved earlier, which the journal must contain; otherwise opening throws
    /// `headMismatch`.
    public var expectedHead: JournalHead?
    /// Whether opening for writing creates a missing journal.
    public var createIfMissing: Bool
    /// How long after the last sync the durable slot is synced as well.
    ///
    /// With nil, the slot is synced at the next rotation, ``Journal/synchronize()`` or
    /// ``Journal/close()``. A nil delay and an injected ``executor`` leave no timer in an open
    /// writer, which makes runs on a simulated disk deterministic.
    public var slotSyncDelay: Duration?
    /// The executor for syncs that tasks wait for, and for a store's wakeups and checkpoints; nil
    /// for dedicated threads.
    ///
    /// With an executor that runs one job at a time in a seeded order, such as `SeededExecutor` of
    /// `ChatTesting`, concurrent runs are deterministic. A sync blocks the executor's thread for
    /// its duration.
    public var executor: (any TaskExecutor)?

    /// How long opening for writing waits for another writer; zero or less to fail at once.
    ///
    /// The wait blocks the thread, retries the lock at intervals of at most 50 ms, and ignores the
    /// task's cancellation. After the timeout, opening throws `locked`.
    public var lockTimeout: Duration

    /// Receives messages about what opening found and about failures of background work; nil for
    /// none.
    public var log: LogHandler?

    /// What the journal is opened for; ``JournalCopy`` sets it.
    var purpose = JournalPurpose.use
    /// The heights of the subtrees in the tree file; tests use smaller ones.
    package var treeLayout = TreeLayout()
    /// The pause before each page of the tree while records are being appended; tests use none.
    package var treePause = Duration.seconds(1)

    /// Creates options.
    ///
    /// All defaults are safe.
    public init(
        durability: Durability = .synced, segmentSize: UInt64 = 128 << 20, storage: any JournalStorage = FileStorage(),
        entropy: any EntropySource = SystemEntropy(), expectedHead: JournalHead? = nil, createIfMissing: Bool = true,
        slotSyncDelay: Duration? = .milliseconds(100), executor: (any TaskExecutor)? = nil,
        lockTimeout: Duration = .zero, log: LogHandler? = nil
    ) {
        self.durability = durability
        self.segmentSize = segmentSize
        self.storage = storage
        self.entropy = entropy
        self.expectedHead = expectedHead
        self.createIfMissing = createIfMissing
        self.slotSyncDelay = slotSyncDelay
        self.executor = executor
        self.lockTimeout = lockTimeout
        self.log = log
    }
}
