/// How a journal is opened.
public struct JournalOptions: Sendable {
    /// When an append counts as durable.
    ///
    /// The journal does not remember a choice: each opening makes its own.
    public var durability: Durability
    /// The size in bytes at which a new segment file is begun; taken as the nearer bound when outside ``JournalLimits/segmentBytes``.
    public var segmentSize: UInt64
    /// What the journal's files are on.
    public var storage: any JournalStorage
    /// Where random bytes come from.
    public var entropy: any EntropySource
    /// A head taken earlier, which the journal must contain; opening refuses (`headMismatch`) when it does not.
    public var expectedHead: JournalHead?
    /// Whether opening for writing makes the journal when there is none.
    public var createIfMissing: Bool
    /// How long after a sync, if none follows it, the note of what was synced is synced itself; nil for not before the next roll-over,
    /// ``Journal/synchronize()`` or ``Journal/close()``.
    ///
    /// The one thing that a journal does by the clock; nil makes a run on a simulated disk follow from its seed.
    public var idleDelay: Duration?
    /// Where a journal leads the syncs that tasks wait for, and a store on it wakes its followers and writes its checkpoints; nil for threads of their own.
    ///
    /// These are the places where tasks meet: with an executor that runs one step at a time in an order that follows from a seed, as `SeededExecutor` of `ChatTesting`
    /// does, so does a concurrent history. A sync blocks the executor's thread for as long as it takes.
    public var executor: (any TaskExecutor)?

    /// How long opening for writing waits while another writer has the journal; not at all where it is zero or less.
    ///
    /// The wait blocks the thread, asks for the lock again at intervals of at most 50 ms, and ignores the cancellation of a task. When the time is over, opening
    /// throws `locked`.
    public var lockTimeout: Duration

    /// Makes options; every one has a safe default.
    public init(
        durability: Durability = .synced, segmentSize: UInt64 = 128 << 20, storage: any JournalStorage = FileStorage(),
        entropy: any EntropySource = SystemEntropy(), expectedHead: JournalHead? = nil, createIfMissing: Bool = true,
        idleDelay: Duration? = .milliseconds(100), executor: (any TaskExecutor)? = nil,
        lockTimeout: Duration = .zero
    ) {
        self.durability = durability
        self.segmentSize = segmentSize
        self.storage = storage
        self.entropy = entropy
        self.expectedHead = expectedHead
        self.createIfMissing = createIfMissing
        self.idleDelay = idleDelay
        self.executor = executor
        self.lockTimeout = lockTimeout
    }
}
