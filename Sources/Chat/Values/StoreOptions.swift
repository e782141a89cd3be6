public import ChatDomain
public import EventJournal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How a store is opened; with the clock, the ids, the entropy and the storage injected, a run is deterministic to the byte, and with the executor one of concurrent tasks too.
public struct StoreOptions: Sendable {
    /// How the journal is opened: durability, storage, entropy, segment size, expected head; and the executor for what the journal and the store do in the background.
    public var journal: JournalOptions
    /// Tells the time of the events.
    public var clock: any WallClock
    /// Makes the ids that callers leave out.
    public var ids: any IDGenerator
    /// When checkpoints of the read models are written, which make opening faster; nil to neither write nor read any.
    ///
    /// Matters for a store on a journal that it may write; one that is open for reading only reads them. They hold random seeds of hash tables: the one thing in
    /// a journal's directory that does not follow from what is injected.
    public var checkpoints: CheckpointOptions?
    /// How many bytes of memory the texts of posts that were shown lately may take, so that a busy thread is not read from the journal each time; 0 for none.
    public var textCacheByteCount: Int
    /// How many of the last events are kept in memory once somebody follows the store, for all followers together.
    ///
    /// Fewer where they have more than 4 MiB of text. Whoever is further behind reads the log.
    public var recentEventCount: Int

    /// Makes options.
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

/// Tells the time of day; it may stand still or go back, the store never records an earlier time than before.
public protocol WallClock: Sendable {
    /// The present time.
    func now() -> Timestamp
}

/// The machine's clock.
public struct SystemClock: WallClock {
    /// Makes the clock.
    public init() {}

    /// The present time, to the millisecond.
    public func now() -> Timestamp {
        Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)))
    }
}

/// Makes ids.
public protocol IDGenerator: Sendable {
    /// A new id, different from every other.
    func makeID(at time: Timestamp) -> UInt128
}

/// Makes UUIDv7 ids (RFC 9562 section 5.7) from the time and an entropy source.
public struct UUIDv7Generator: IDGenerator {
    private let entropy: any EntropySource

    /// Makes a generator that draws 16 bytes for each id.
    public init(entropy: any EntropySource = SystemEntropy()) { self.entropy = entropy }

    /// A new id.
    public func makeID(at time: Timestamp) -> UInt128 {
        var bytes = [UInt8](repeating: 0, count: 16)
        var span = bytes.mutableSpan
        // Raw access to bytes is called unsafe for types of which not every bit pattern is a value; of bytes every one is.
        var raw = unsafe span.mutableBytes
        entropy.fill(&raw)
        let random = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return UserID(version7At: time, random: random).bits
    }
}

/// When a store writes checkpoints of its read models, so that the next opening need not replay the whole journal.
///
/// Writing one takes time and space in proportion to the journal, in the background; commands do not wait for it. Whatever is chosen changes how long an opening
/// takes and nothing else: a checkpoint that does not fit the journal is ignored.
public struct CheckpointOptions: Hashable, Sendable {
    /// While the store is open: once so many events have come since the last one, and at least a quarter as many as it covers; nil for never.
    ///
    /// The quarter keeps what is written for all checkpoints in proportion to the journal, however long that gets.
    public var interval: UInt64?
    /// At ``ChatStore/close()``: if at least so many events have come since the last one; nil for never.
    public var atClose: UInt64?
    /// After an opening that had to replay at least so many events; nil for never.
    public var afterReplay: UInt64?

    /// Makes options.
    public init(interval: UInt64? = 250_000, atClose: UInt64? = 20_000, afterReplay: UInt64? = 100_000) {
        self.interval = interval
        self.atClose = atClose
        self.afterReplay = afterReplay
    }

    /// Checkpoints that are there are used, and none is written but by ``ChatStore/writeCheckpoint()``.
    public static let loadingOnly = CheckpointOptions(interval: nil, atClose: nil, afterReplay: nil)

    /// The position from which on one is due while the store is open.
    func next(after last: Position) -> Position {
        guard let interval else { return .max }
        let (next, overflows) = last.addingReportingOverflow(max(interval, last / 4, 1))
        return overflows ? .max : next
    }
}
