public import ChatDomain
public import EventJournal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The configuration of a store.
///
/// With an injected clock, id generator, entropy source and storage, a run is deterministic to the
/// byte, except for ``checkpoints``. With an injected executor, so is a run of concurrent tasks.
public struct StoreOptions: Sendable {
    /// The journal's configuration, which includes the executor of all background work.
    public var journal: JournalOptions
    /// The source of event times.
    public var clock: any WallClock
    /// The source of ids that callers omit.
    public var ids: any IDGenerator
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
        journal: JournalOptions = JournalOptions(), clock: any WallClock = SystemClock(), ids: any IDGenerator = UUIDv7Generator(),
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

/// A source of the current time.
///
/// The time may stand still or go backwards: the store never records an earlier time than the
/// previous one.
public protocol WallClock: Sendable {
    /// Returns the current time.
    func now() -> Timestamp
}

/// The system clock.
public struct SystemClock: WallClock {
    /// Creates the clock.
    public init() {}

    /// Returns the current time with millisecond precision.
    public func now() -> Timestamp {
        Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)))
    }
}

/// A source of ids.
public protocol IDGenerator: Sendable {
    /// Returns a new, globally unique id.
    func makeID(at time: Timestamp) -> UInt128
}

/// A generator of UUIDv7 ids (RFC 9562 section 5.7) from the time and an entropy source.
public struct UUIDv7Generator: IDGenerator {
    private let entropy: any EntropySource

    /// Creates a generator that draws 16 bytes per id.
    public init(entropy: any EntropySource = SystemEntropy()) { self.entropy = entropy }

    /// Returns a new id.
    public func makeID(at time: Timestamp) -> UInt128 {
        var bytes = [UInt8](repeating: 0, count: 16)
        var span = bytes.mutableSpan
        // `mutableBytes` is unsafe for types with invalid bit patterns; every bit pattern of a byte
        // is valid.
        var raw = unsafe span.mutableBytes
        entropy.fill(&raw)
        let random = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return UserID(version7At: time, random: random).bits
    }
}

/// When a store writes checkpoints of its read models, or of a custom projection.
///
/// A checkpoint shortens the replay at the next opening.
///
/// A checkpoint takes time and space proportional to the journal and is written in the background,
/// without blocking commands. These options affect only the duration of an opening: a checkpoint
/// that does not match the journal is ignored.
public struct CheckpointOptions: Hashable, Sendable {
    /// The minimum number of events between two checkpoints while the store is open; nil disables
    /// them.
    ///
    /// The interval is at least a quarter of the events covered by the previous checkpoint; for a
    /// custom projection, that number of events divided by ``count``. The total size of all
    /// checkpoints written thus stays proportional to the journal.
    public var interval: UInt64?
    /// The minimum number of new events for a checkpoint at ``ChatStore/close()``; nil disables it.
    public var atClose: UInt64?
    /// The minimum number of events replayed at once for a checkpoint after it; nil disables it.
    public var afterReplay: UInt64?
    /// The maximum number of checkpoints kept of a custom projection, at least 1.
    ///
    /// A query as of an earlier position starts from the nearest checkpoint before it. A new
    /// checkpoint beyond the maximum removes the one whose neighbours are nearest to each other; the
    /// start of the history counts as a neighbour, and the latest checkpoint always stays. Does not
    /// apply to the store's own read models, which need one checkpoint for queries as of any
    /// position.
    public var count: Int

    /// Creates options.
    public init(interval: UInt64? = 250_000, atClose: UInt64? = 20_000, afterReplay: UInt64? = 100_000, count: Int = 8) {
        self.interval = interval
        self.atClose = atClose
        self.afterReplay = afterReplay
        self.count = count
    }

    /// Loads existing checkpoints and writes none except by ``ChatStore/writeCheckpoint()`` and
    /// ``ProjectionHandle/writeCheckpoint()``.
    public static let loadingOnly = CheckpointOptions(interval: nil, atClose: nil, afterReplay: nil)

    /// Returns the position at which the next checkpoint of the read models is due while the store
    /// is open.
    func nextPosition(after last: Position) -> Position { nextPosition(after: last, share: 4) }

    /// Returns the position at which the next checkpoint of a custom projection is due.
    func nextProjectionCheckpoint(after last: Position) -> Position { nextPosition(after: last, share: Position(max(1, count))) }

    private func nextPosition(after last: Position, share: Position) -> Position {
        guard let interval else { return .max }
        let (next, overflows) = last.addingReportingOverflow(max(interval, last / share, 1))
        return overflows ? .max : next
    }
}
