import ChatDomain
public import EventJournal
import Locking
import Projections

/// The facade of the chat: executes commands and answers queries over one log.
///
/// ```swift
/// let store = try ChatStore.open(directory)
/// let sw1a = ThreadID(OutwardCode("SW1A")!)
/// try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
/// try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))  // joins the thread SW1A
/// let receipt = try store.executeBlocking(.postMessage(thread: sw1a, body: "Milk?", by: ann))
/// let messages = try store.reader(as: .user(ann)).timeline(sw1a)
/// let before = try store.reader(as: .host, asOf: .position(receipt.position - 1)).timeline(sw1a)
/// try store.close()
/// ```
///
/// The log is a journal on files unless another is given. A store is safe to use from any number of
/// tasks and threads. Commands are decided one at a time; callers that wait for durability share
/// the journal's syncs. Queries return durable events only.
public final class ChatStore: Sendable {
    let log: any CommitLog
    /// The log as a journal, for operations that only a journal has; nil for any other log.
    let journal: Journal?
    let clock: any WallClock
    /// Runs tasks that may read a `RemoteLog`; nil for any other log.
    package let readExecutor: (any TaskExecutor)?
    /// Runs blocking calls for tasks: ``inBackground(_:)`` and custom projections.
    let background: BackgroundRunner
    let ids: any IDGenerator
    /// ``StoreOptions/customEventFault``.
    let customEventFault: (@Sendable (ProposedCustomEvent, ChatStore) -> String?)?
    let decider: FairLock<Decider>
    /// What ``clockStatus`` and ``statistics`` are answered from.
    let published: Lock<PublishedState>
    /// Held while a read-only store reads what its writer has appended; acquired after ``erasing`` and
    /// before all other locks.
    let refreshing = Lock(())
    let readSide: ReadSide
    /// The head at the end of what a read-only store has applied; its log may be ahead.
    let appliedHead: Lock<JournalHead>
    /// Writes the checkpoints; nil if the log keeps none.
    let checkpointer: Checkpointer?
    /// Whether a call of ``close()`` has already stopped the checkpoints.
    private let closing = Lock(false)
    let textCache: Lock<TextCache>
    let textCacheByteCount: Int
    /// What was erased while the store was open.
    let erasedPositions: ErasedPositions
    /// Held during an erasure; acquired before all other locks.
    let erasing = Lock(())
    /// The scopes of orders that followers told their viewers of.
    let erasureScopes = Lock(ErasureScopes())
    /// The state shared by all consumers of the store's events.
    let feed: EventFeed
    /// The one record of why the store has stopped: ``failure``.
    let stopped = Lock<JournalError?>(nil)

    /// Opens a journal for reading and writing, and creates it if none exists.
    ///
    /// A journal with event kinds that this version does not know is opened read-only: commands
    /// then throw ``ChatError/newerEvents``. An opening that throws leaves the files as they were,
    /// apart from those that it created. Opening loads the latest checkpoint of the read models
    /// (``StoreOptions/checkpoints``) and replays the events after it, or every event if no
    /// checkpoint matches. Memory is proportional to the journal's length.
    ///
    /// - Parameters:
    ///   - directory: The path of the journal's directory.
    ///   - options: The configuration of the store.
    /// - Throws: ``ChatError/journal(_:)`` if the directory is not a journal, or the journal is
    ///   locked, damaged, of a newer version or unreadable; ``ChatError/undecodable(position:_:)``
    ///   if a record does not decode.
    public static func open(_ directory: String, options: StoreOptions = StoreOptions()) throws(ChatError) -> ChatStore
    {
        // The files stay as they are until the events are known to be readable.
        let store = try ChatStore(
            try wrappingErrors(of: Journal.prepare(directory, options: options.journal)), options)
        guard store.decider.withLock({ $0.rules.hasUnknownEvents }) else { return store }
        // Release the lock, because the newer version that wrote these events may need the journal.
        try store.close()
        return try openReadOnly(directory, options: options)
    }

    /// Opens a journal for reading, up to its last durable position; another process may be writing
    /// it.
    ///
    /// Call ``refresh()`` to read later events.
    ///
    /// - Throws: The errors of ``open(_:options:)``; also ``ChatError/journal(_:)`` if no journal
    ///   exists.
    public static func openReadOnly(_ directory: String, options: StoreOptions = StoreOptions()) throws(ChatError)
        -> ChatStore
    {
        try ChatStore(
            try wrappingErrors(of: Journal.openReadOnly(directory, options: options.journal)), options)
    }

    /// Creates a store with an in-memory journal, for tests and previews.
    ///
    /// - Throws: ``ChatError/journal(_:)`` only if the options expect a head that an empty journal
    ///   does not have.
    public static func inMemory(options: StoreOptions = StoreOptions()) throws(ChatError) -> ChatStore {
        var options = options
        options.journal.storage = MemoryStorage()
        return try open("memory", options: options)
    }

    /// Opens a store on a custom log, for example a replicated one, and replays it.
    ///
    /// The store owns the log: no other code may append to it, and ``close()`` closes it. If this
    /// throws, the log stays open and belongs to the caller. With event kinds that this version
    /// does not know, commands throw ``ChatError/newerEvents``.
    ///
    /// - Parameters:
    ///   - log: An open log, empty or written by a store. Appended records are made durable first.
    ///   - options: Of the journal's options only the executor and the log handler apply. The
    ///     options of checkpoints apply to a `CheckpointLog`.
    /// - Throws: ``ChatError/journal(_:)`` if the log fails or cannot be read;
    ///   ``ChatError/undecodable(position:_:)`` if a record does not decode.
    public static func open(log: any CommitLog, options: StoreOptions = StoreOptions()) throws(ChatError) -> ChatStore {
        try ChatStore(log, options)
    }

    /// Opens a store on a custom log that is open for reading; another process may be writing it.
    ///
    /// Call ``refresh()`` to read later events, if the log is a `RefreshableLog`. Content that was
    /// erased by an order, and that the log still has, is hidden in the log.
    ///
    /// - Precondition: The log is read-only.
    /// - Parameters:
    ///   - log: An open log. The store owns it, as with ``open(log:options:)``.
    ///   - options: As for ``open(log:options:)``.
    /// - Throws: The errors of ``open(log:options:)``.
    public static func openReadOnly(log: any CommitLog, options: StoreOptions = StoreOptions()) throws(ChatError)
        -> ChatStore
    {
        precondition(log.isReadOnly, "The log is open for writing.")
        return try ChatStore(log, options)
    }

    private init(_ log: any CommitLog, _ options: StoreOptions) throws(ChatError) {
        // Replay ends at the durable position, and commands append after the last: both must be
        // equal.
        try wrappingErrors(of: log.waitUntilDurable(log.lastPosition))
        let checkpointLog = log as? any CheckpointLog
        var (models, statistics) = Self.loadCheckpoint(checkpointLog, options.checkpoints, options.journal.log)
        var start = models.position
        let head = log.head
        let end = head.position
        if end > start { try Self.replay(log, start + 1...end, into: &models) }
        let erasure = try Self.hidePendingContent(in: log, models)
        if erasure.hasContent {
            // The checkpoint and the replay contain what must not be shown.
            (models, start) = (StoreModels(), 0)
            try Self.replay(log, 1...end, into: &models)
        }
        statistics.replayedCount = end - start
        // Every check that can refuse the log was made. Events of a newer version are only read.
        if let journal = log as? Journal, !models.rules.hasUnknownEvents {
            try wrappingErrors(of: journal.beginWriting())
        }
        self.log = log
        journal = log as? Journal
        readExecutor = (log as? any RemoteLog)?.readExecutor
        clock = options.clock
        background = BackgroundRunner("Chat.background", isConcurrent: true, options.journal.executor)
        ids = options.ids
        customEventFault = options.customEventFault
        let erasedPositions = ErasedPositions()
        self.erasedPositions = erasedPositions
        let checkpointer = checkpointLog.map { [clock] in
            Checkpointer(
                options.checkpoints, $0, clock, statistics, erasedPositions, options.journal.executor,
                options.journal.log)
        }
        self.checkpointer = checkpointer
        decider = FairLock(
            Decider(models.rules, nextCheckpoint: checkpointer?.options?.nextPosition(after: start) ?? .max))
        readSide = ReadSide(models.readModels)
        var state = PublishedState(models.rules)
        if options.acceptsClock { state.clockCheck.accept(ClockCheck.Reading(options.clock)) }
        published = Lock(state)
        appliedHead = Lock(head)
        textCacheByteCount = options.textCacheByteCount
        textCache = Lock(TextCache(capacity: options.textCacheByteCount))
        feed = EventFeed(
            recent: RecentEvents(capacity: options.recentEventCount), options.journal.executor ?? readExecutor)
        complete(erasure, options.journal.log)
        if let least = checkpointer?.options?.afterReplay, end - start >= max(least, 1), !log.isReadOnly {
            decider.withLock { beginCheckpoint(&$0) }
            readSide.applyDurable(log)
        }
    }

    deinit {
        // Stops background work, so that the journal's lock is released with the store.
        checkpointer?.stop()
    }

    /// The log's head: its id, the durable position and the chain value at that position.
    ///
    /// Applies the durable events, so that every later query shows at least that position. A
    /// read-only store has the head of its last ``refresh()``.
    public var head: JournalHead {
        if log.isReadOnly { return appliedHead.withLock { $0 } }
        let head = log.head
        readSide.apply(log, through: head.position)
        return head
    }

    /// The recovery report of the opening; nil if the log is not a `Journal`.
    public var recovery: RecoveryReport? { journal?.recovery }

    /// Waits until every appended event is durable, and closes the log; a journal is marked clean.
    ///
    /// Later commands and queries throw a `closed` error; a second close does nothing. A checkpoint
    /// in progress is abandoned. If at least ``CheckpointOptions/atClose`` events follow the last
    /// checkpoint, the call writes a new one, which shortens the next opening. It also stores the
    /// hashes of the Merkle tree that the store's events have completed, and some more of those
    /// that are missing.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if an appended event could not be made durable.
    public func close() throws(ChatError) {
        // Under the lock: no command is decided any more.
        decider.withLock { _ in record(log.failure ?? JournalError(.closed, "The store has been closed.")) }
        // A concurrent close waits here: the log must stay open until the last checkpoint is
        // written.
        closing.withLock { hasClosed in
            if !hasClosed, (try? log.waitUntilDurable(log.lastPosition)) != nil {
                readSide.applyDurable(log)
                writeFinalCheckpoint()
                journal?.storeCompletedTreePages()
            }
            hasClosed = true
        }
        try wrappingErrors(of: log.close())
    }
}

extension ChatStore {
    /// Reads the head of a journal without replaying it.
    ///
    /// - Throws: The errors of ``openReadOnly(_:options:)``.
    public static func head(ofJournalAt directory: String, options: JournalOptions = JournalOptions()) throws(ChatError)
        -> JournalHead
    {
        try wrappingErrors(of: Journal.openReadOnly(directory, options: options).head)
    }
}

extension ChatStore {
    /// Calls a `@concurrent` function that may read the log, on ``readExecutor`` if there is one.
    func onReadExecutor<Value>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws(ChatError) -> Value
    ) async throws(ChatError) -> Value {
        guard let readExecutor else { return try await work() }
        return try await withTaskExecutorPreference(readExecutor, operation: work)
    }
}
