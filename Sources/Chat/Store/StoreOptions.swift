import ChatDomain
public import EventJournal

/// The configuration of a store.
///
/// With an injected clock, id generator, entropy source and storage, a run is deterministic to the
/// byte, except for ``checkpoints``. With an injected executor, so is a run of concurrent tasks.
public struct StoreOptions: Sendable {
    /// The journal's configuration, which includes the executor of all background work.
    public var journal: JournalOptions
    /// The source of event times.
    public var clock: any WallClock
    /// Whether the store believes what its clock shows at the opening, whatever the last recorded
    /// time is.
    ///
    /// Otherwise it rejects commands with `clockStepped` while the clock is more than a day before
    /// that time, or more than 400 days after it. In both cases it rejects them after a step of
    /// more than a day.
    public var acceptsClock = false
    /// The source of ids that callers omit.
    public var ids: any IDGenerator
    /// Says what is wrong with a custom event, whose command is then rejected as `invalidPayload`
    /// with this description; nil for an event that is right.
    ///
    /// Called for each command of a custom event, outside of the store's locks, before it is
    /// decided; other rules, and an id that was used before, take precedence. Not called for
    /// imported events. It may query the store and projections. It sees no earlier command of the
    /// same batch, and two commands at once can both pass: what counts the events must check again.
    public var customEventFault: (@Sendable (_ event: ProposedCustomEvent, _ store: ChatStore) -> String?)?
    /// When the store writes checkpoints of the read models; nil neither writes nor reads them.
    ///
    /// Checkpoints make opening faster. A read-only store reads checkpoints and never writes them.
    /// They contain random hash seeds, the only bytes in a journal's directory that injected
    /// dependencies do not determine.
    public var checkpoints: CheckpointOptions?
    /// The capacity in bytes of the cache of recently read texts; 0 disables it.
    public var textCacheByteCount: Int
    /// The maximum number of recent events kept in memory, shared by all consumers of the feed.
    ///
    /// The buffer is allocated with the first event that is read for a consumer, and holds at most
    /// 4 MiB of text. A consumer that lags behind it reads the log.
    public var recentEventCount: Int

    /// Creates options.
    public init(
        journal: JournalOptions = JournalOptions(), clock: any WallClock = SystemClock(),
        ids: any IDGenerator = UUIDv7Generator(),
        checkpoints: CheckpointOptions? = CheckpointOptions(),
        textCacheByteCount: Int = 16 << 20, recentEventCount: Int = 4_096
    ) {
        self.journal = journal
        self.clock = clock
        self.ids = ids
        self.checkpoints = checkpoints
        self.textCacheByteCount = textCacheByteCount
        self.recentEventCount = recentEventCount
    }
}
