import ChatDomain
public import EventJournal
import Locking
import Projections

/// The facade of the chat: commands in, receipts and views out, over one log, which is a journal on files unless another is given.
///
/// A store may be used from any number of tasks and threads at once. Commands are decided one after another; those who wait for the disk share its syncs.
/// Views show what is durable and nothing else.
public final class ChatStore: Sendable {
    let log: any CommitLog
    /// The log where it is a journal on files, for what only such a one has.
    let journal: Journal?
    let clock: any WallClock
    let ids: any IDGenerator
    let decider: FairLock<Decider>
    let readSide: ReadSide
    /// Writes the checkpoints; nil on a log that is no journal.
    let checkpointer: Checkpointer?
    /// Whether a close has ended the checkpoints.
    private let closing = Lock(false)
    let textCache: Lock<TextCache>
    /// What those who follow the store share.
    let feed: EventFeed

    /// Opens a journal to write and to read, and makes it if there is none.
    ///
    /// A journal that holds events of a kind that this version does not know is opened read-only: commands are then refused with ``ChatError/newerEvents``.
    /// Reads the latest checkpoint of the read models (``StoreOptions/checkpoints``) and replays what follows it, or all of the journal where there is none that
    /// fits; memory is in proportion to the journal's length in any case.
    ///
    /// - Parameters:
    ///   - directory: The path of the journal's directory.
    ///   - options: Durability, clock, ids, storage and the rest.
    /// - Throws: ``ChatError/journal(_:)`` if it is not ours, locked, damaged, of a newer version or cannot be read;
    ///   ``ChatError/undecodable(position:_:)`` if a record is no event.
    public static func open(_ directory: String, options: StoreOptions = StoreOptions()) throws(ChatError) -> ChatStore {
        let store = try ChatStore(
            try wrapping { () throws(JournalError) in try Journal.open(directory, options: options.journal) }, options)
        guard store.decider.withLock({ $0.rules.hasUnknownEvents }) else { return store }
        // The newer version that wrote these events must find the journal free.
        try store.close()
        return try openReadOnly(directory, options: options)
    }

    /// Opens a journal to read it, as it is at this moment; another process may be writing it.
    ///
    /// - Throws: As ``open(_:options:)``; and ``ChatError/journal(_:)`` if there is no journal.
    public static func openReadOnly(_ directory: String, options: StoreOptions = StoreOptions()) throws(ChatError) -> ChatStore {
        try ChatStore(try wrapping { () throws(JournalError) in try Journal.openReadOnly(directory, options: options.journal) }, options)
    }

    /// Makes a store that keeps its journal in memory, for tests and previews.
    ///
    /// - Throws: ``ChatError/journal(_:)`` only if the options expect a head that an empty journal does not have.
    public static func inMemory(options: StoreOptions = StoreOptions()) throws(ChatError) -> ChatStore {
        var options = options
        options.journal.storage = MemoryStorage()
        return try open("memory", options: options)
    }

    /// Opens a store on a log, for example a replicated one, and replays it.
    ///
    /// The store owns the log from then on: nobody else appends to it, and ``close()`` closes it. When this throws, the log is open and the
    /// caller's as before. Events of a kind that this version does not know make the store refuse commands with ``ChatError/newerEvents``.
    ///
    /// - Parameters:
    ///   - log: An open log, empty or with what a store has written to it. What it has appended is made durable first.
    ///   - options: Of which the clock, the ids and the journal's executor matter; the rest was chosen when the log was opened.
    /// - Throws: ``ChatError/journal(_:)`` if the log fails or cannot be read; ``ChatError/undecodable(position:_:)`` if a record is no event.
    public static func open(log: any CommitLog, options: StoreOptions = StoreOptions()) throws(ChatError) -> ChatStore {
        try ChatStore(log, options)
    }

    private init(_ log: any CommitLog, _ options: StoreOptions) throws(ChatError) {
        // Commands are decided on what can be read, and appended after the last position: the two have to be one.
        try wrapping { () throws(JournalError) in try log.waitUntilDurable(log.lastPosition) }
        let journal = log as? Journal
        var (models, statistics) = Self.loadCheckpoint(journal, options.checkpoints)
        let start = models.position
        let end = log.durablePosition
        if end > start { try Self.replay(log, start + 1...end, into: &models) }
        statistics.replayed = end - start
        self.log = log
        self.journal = journal
        clock = options.clock
        ids = options.ids
        let checkpointer = journal.map { [clock] in Checkpointer(options.checkpoints, $0, clock, statistics, options.journal.executor) }
        self.checkpointer = checkpointer
        decider = FairLock(Decider(models.rules, nextCheckpoint: checkpointer?.options?.next(after: start) ?? .max))
        readSide = ReadSide(models.models)
        textCache = Lock(TextCache(capacity: options.textCacheByteCount))
        feed = EventFeed(recent: RecentEvents(capacity: options.recentEventCount), options.journal.executor)
        if let least = checkpointer?.options?.afterReplay, end - start >= max(least, 1), !log.isReadOnly {
            decider.withLock { beginCheckpoint(&$0) }
            readSide.applyDurable(log)
        }
    }

    deinit {
        // Nobody is to be surprised by a journal that is still held by what a dropped store has begun.
        checkpointer?.stop()
    }

    /// The log's token: its id, the durable position and the chain value there; later queries show at least that position.
    public var head: JournalHead {
        let head = log.head
        readSide.apply(log, through: head.position)
        return head
    }

    /// What was found when the journal was opened; nil for a store on a log that is not a ``Journal``.
    public var recovery: RecoveryReport? { journal?.recovery }

    /// Waits for everything that was appended, and closes the log: a journal is marked clean and released.
    ///
    /// Later commands and queries are refused with `closed`; a second close does nothing. A checkpoint that is being written is given up, and if many events have
    /// come since the last one (``CheckpointOptions/atClose``) one is written now: what a closed journal takes to open is the time to read it.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if something that was appended could not be made durable.
    public func close() throws(ChatError) {
        decider.withLock { decider in
            if decider.failure == nil { decider.failure = JournalError(.closed, "The store has been closed.") }
        }
        readSide.close()
        // Whoever closes at the same time waits: the log is not to be closed under the last checkpoint.
        closing.withLock { hasClosed in
            if !hasClosed, (try? log.waitUntilDurable(log.lastPosition)) != nil {
                readSide.applyDurable(log)
                endCheckpoints()
            }
            hasClosed = true
        }
        try wrapping { () throws(JournalError) in try log.close() }
    }
}

extension ChatStore {
    /// Reads the token of a journal without replaying it.
    ///
    /// - Throws: As ``openReadOnly(_:options:)``.
    public static func head(ofJournalAt directory: String, options: JournalOptions = JournalOptions()) throws(ChatError) -> JournalHead {
        try wrapping { () throws(JournalError) in try Journal.openReadOnly(directory, options: options).head }
    }
}
