import ChatDomain
import EventJournal
import Locking
import Projections

/// The state shared by all consumers of a store's events: recent events and one wait on the log.
///
/// A consumer within the recent events reads them from memory, where each is decoded once. A
/// consumer behind them reads the log in batches. A consumer that has seen every event suspends
/// here. One task, the watcher, waits on the log while at least one consumer is suspended.
final class EventFeed: Sendable {
    struct State {
        var recent: RecentEvents
        var waiters = FeedWaiters()
        /// The watcher, and its number, which distinguishes it from later ones.
        var watcher: (number: UInt64, task: Task<Void, Never>)?
        /// The number of the latest watcher.
        var lastWatcher: UInt64 = 0
    }

    /// The next step of a consumer at a position.
    enum ReadResult {
        /// Deliver these events.
        case recent([FollowedEvent])
        /// Read the log up to this position, because the recent events start after it.
        case evicted(through: Position)
        /// Wait: the feed has no later event.
        case end
    }

    private let state: Lock<State>
    /// Held while new events are read, so that each event is read once.
    private let readLock = Lock(())

    /// The waiters that one section of a lock delivers an event to.
    private static let deliveryCount = 128

    private let executor: (any TaskExecutor)?

    /// Creates a feed.
    ///
    /// - Parameter executor: Runs the task that waits on the log; nil for the default executor.
    init(recent: RecentEvents, _ executor: (any TaskExecutor)? = nil) {
        state = Lock(State(recent: recent))
        self.executor = executor
    }

    var waiterCount: Int { state.withLock { $0.waiters.count } }
    /// Whether the watcher is running.
    var isWatchingLog: Bool { state.withLock { $0.watcher != nil } }

    /// Returns the next step of a consumer at a position, with at most `limit` events.
    func read(after position: Position, limit: Int) -> ReadResult {
        state.withLock { state in
            if position >= state.recent.position { return .end }
            guard position + 1 >= state.recent.firstPosition else {
                return .evicted(through: state.recent.firstPosition - 1)
            }
            return .recent(state.recent.events(after: position, limit: limit))
        }
    }

    /// Drops the recent events, which consumers then read from the log.
    func forgetEvents() {
        // Waits for a read in progress, which appends what it has read.
        readLock.withLock { _ in state.withLock { $0.recent.removeAll() } }
    }

    /// Appends the events that are visible now, and resumes the waiters that they concern.
    ///
    /// - Returns: The feed's last position, which is at least the store's visible position at the
    ///   time of the call.
    /// - Throws: ``ChatError`` if the next event cannot be read; every event before it has been
    ///   appended.
    @discardableResult
    func advance(_ store: ChatStore) throws(ChatError) -> Position {
        let end = store.applyDurableEvents()
        let known = state.withLock { $0.recent.position }
        if known >= end { return known }
        var woken: [(task: FeedWaiters.Continuation, position: Position)] = []
        // Resumed outside the lock, so that other consumers can proceed meanwhile.
        defer { for waiter in woken { waiter.task.resume(returning: .recheck(after: waiter.position)) } }
        return try readLock.withLock { _ throws(ChatError) in
            var position = state.withLock { state in
                // Without waiters, events that do not fit in the ring buffer need not be read.
                let capacity = UInt64(state.recent.capacity)
                if state.waiters.isEmpty, end > capacity, end - capacity > state.recent.position {
                    state.recent.skip(to: end - capacity)
                }
                return state.recent.position
            }
            var commit: JournalHead?
            while position < end {
                let batch = try store.feedBatch(position + 1...end, matching: EventFilter(as: .host), in: commit)
                woken += append(batch.events, of: store)
                (position, commit) = (batch.lastScannedPosition, batch.commit)
            }
            return position
        }
    }

    /// Appends events, and delivers them to the waiters that receive them without their task.
    ///
    /// - Returns: The waiters to resume, with the position after which each reads again.
    private func append(_ events: [FollowedEvent], of store: ChatStore) -> [(FeedWaiters.Continuation, Position)] {
        var woken: [(FeedWaiters.Continuation, Position)] = []
        for event in events {
            let keys = event.recorded.event.keys { user in
                store.withCurrentModels { models, _ in models.everJoinedThreads(of: user) }
            } author: { post in
                store.withCurrentModels { models, _ in models.authorID(of: post) }
            }
            let concerned = state.withLock { state in
                state.recent.append(event)
                let concerned = state.waiters.isEmpty ? [] : state.waiters.waiters(for: event.recorded, keys)
                // The others find out in their tasks what they are shown.
                for waiter in concerned where waiter.push == nil {
                    if let task = state.waiters.remove(waiter) { woken.append((task, event.recorded.position - 1)) }
                }
                return concerned.filter { $0.push != nil }
            }
            var (texts, rest) = (SharedTexts(), concerned[...])
            while !rest.isEmpty {
                let some = rest.prefix(Self.deliveryCount)
                rest = rest.dropFirst(Self.deliveryCount)
                let deliveries = store.deliveries(of: event.recorded, to: some.lazy.map(\.filter))
                // A waiter that was removed meanwhile gets nothing: its consumer has ended.
                state.withLock { state in
                    for (waiter, delivery) in zip(some, deliveries) where state.waiters.contains(waiter) {
                        if waiter.accepts(delivery, of: event, &texts) { continue }
                        if let task = state.waiters.remove(waiter) { woken.append((task, event.recorded.position - 1)) }
                    }
                }
            }
        }
        return woken
    }

    /// Returns what a consumer waits for: an event after a position that may match the filter.
    ///
    /// - Parameter push: Receives events meanwhile; the wait goes on until it does not accept one,
    ///   or one needs more than that.
    func waiter(after position: Position, matching filter: EventFilter, of store: ChatStore, _ push: LivePush?)
        -> FeedWaiters.Waiter
    {
        var memberships: [ThreadID]? = []
        if let viewer = filter.viewer.user {
            let isOperator = store.withCurrentModels { models, _ in models.isOperator(viewer, asOf: position) }
            memberships = isOperator ? nil : store.threads(of: viewer, asOf: position)
        }
        return FeedWaiters.Waiter(
            state.withLock { $0.waiters.makeID() }, filter, position, filter.keys(memberships), push)
    }

    /// Suspends until there is what a consumer waits for.
    func wait(_ waiter: FeedWaiters.Waiter, of store: ChatStore) async -> FeedWaiters.Wakeup {
        await withTaskCancellationHandler {
            await withCheckedContinuation { add(waiter, $0, store) }
        } onCancel: {
            cancel(waiter)
        }
    }

    private func add(_ waiter: FeedWaiters.Waiter, _ task: FeedWaiters.Continuation, _ store: ChatStore) {
        let wakeup = state.withLock { state -> FeedWaiters.Wakeup? in
            // Checked under the lock: a later cancellation removes the waiter again.
            if Task.isCancelled { return .cancelled }
            if state.recent.position > waiter.position { return .recheck(after: waiter.position) }
            state.waiters.add(waiter, task)
            startWatcher(&state, store)
            return nil
        }
        if let wakeup { task.resume(returning: wakeup) }
    }

    private func cancel(_ waiter: FeedWaiters.Waiter) {
        let task = state.withLock { state in
            let task = state.waiters.remove(waiter)
            if state.waiters.isEmpty { stopWatcher(&state) }
            return task
        }
        task?.resume(returning: .cancelled)
    }
}

extension EventFeed {
    private func startWatcher(_ state: inout State, _ store: ChatStore) {
        guard state.watcher == nil else { return }
        state.lastWatcher += 1
        let (number, position) = (state.lastWatcher, state.recent.position)
        // Detached, because the task must not inherit one consumer's priority, actor or task-local
        // values.
        state.watcher = (
            number, Task.detached(executorPreference: executor) { await self.watchLog(number, store, after: position) }
        )
    }

    private func stopWatcher(_ state: inout State) {
        state.watcher?.task.cancel()
        state.watcher = nil
    }

    /// Waits on the log and appends new events while waiters exist.
    private func watchLog(_ number: UInt64, _ store: ChatStore, after position: Position) async {
        var seen = position
        while true {
            do throws(ChatError) {
                // Continue after the log's position, not the feed's: in a read-only store, fewer
                // events may be visible.
                seen = try await Self.waitForEvents(of: store, after: seen)
                try refresh(store)
            } catch {
                end(watcher: number, with: error)
                return
            }
            let isOver = state.withLock { state in
                // A newer watcher serves the waiters that arrived after this one was stopped.
                guard state.watcher?.number == number else { return true }
                if state.waiters.isEmpty { state.watcher = nil }
                return state.waiters.isEmpty
            }
            if isOver { return }
        }
    }

    /// Appends new events; a read-only store first refreshes from the writer's journal.
    private func refresh(_ store: ChatStore) throws(ChatError) {
        do throws(ChatError) { try store.refresh() } catch {
            // Deliver the valid events that precede the error.
            try advance(store)
            throw error
        }
        try advance(store)
    }

    private static func waitForEvents(of store: ChatStore, after position: Position) async throws(ChatError) -> Position
    {
        do { return try await store.log.waitForRecords(after: position) } catch { throw store.stopping(after: error) }
    }

    /// Ends every wait with an error.
    func end(with error: ChatError) {
        let tasks = state.withLock { state in
            stopWatcher(&state)
            return state.waiters.removeAll()
        }
        for task in tasks { task.resume(returning: error.isClosed ? .ended : .failed(error)) }
    }

    private func end(watcher number: UInt64, with error: ChatError) {
        // A stopped watcher has no waiters.
        if case .journal(let error) = error, error.code == .cancelled { return }
        let tasks = state.withLock { state in
            if state.watcher?.number == number { state.watcher = nil }
            return state.waiters.removeAll()
        }
        for task in tasks { task.resume(returning: error.isClosed ? .ended : .failed(error)) }
    }
}

extension ChatError {
    /// Whether the store or its log was closed.
    var isClosed: Bool { if case .journal(let error) = self { error.code == .closed } else { false } }
}

/// Consecutive events of a log that match a filter, with the last position scanned.
struct FeedBatch {
    /// The maximum number of events in a batch.
    static let maximumEventCount = 256
    /// The number of bytes of text at which a batch ends.
    static let targetByteCount = 64 << 10
    /// The maximum number of records scanned per call for a selective filter.
    static let maximumScanCount: Position = 4_096

    var events: [FollowedEvent] = []
    /// The last position scanned.
    var lastScannedPosition: Position
    /// The head at the end of the commit that contains the last position scanned.
    var commit: JournalHead?
}

extension ChatStore {
    /// Reads the first events at these positions that match or have notices, at most one batch.
    ///
    /// The events are not redacted, because delivery redacts them with the viewer's rights at that
    /// time. They are redacted here only to test whether they are visible.
    ///
    /// - Parameter known: ``FeedBatch/commit`` of the batch that ends before these positions.
    /// - Throws: ``ChatError`` if the first record cannot be read or decoded. Before a later faulty
    ///   record the batch ends.
    func feedBatch(
        _ positions: ClosedRange<Position>, matching filter: EventFilter, in known: JournalHead? = nil
    ) throws(ChatError) -> FeedBatch {
        var batch = FeedBatch(lastScannedPosition: positions.lowerBound - 1)
        var byteCount = 0
        do throws(ChatError) {
            try Self.readCommitted(log, positions, in: known) { event, position, commit in
                (batch.lastScannedPosition, batch.commit) = (position, commit)
                let recorded = RecordedEvent(position: position, event: event)
                guard isDelivered(recorded, through: filter) else { return true }
                batch.events.append(
                    FollowedEvent(recorded: recorded, resumeToken: ResumeToken(after: position, in: commit)))
                byteCount += event.textByteCount
                return batch.events.count < FeedBatch.maximumEventCount && byteCount < FeedBatch.targetByteCount
            }
        } catch {
            // The events before the error are valid, and the next call throws the error again.
            if batch.lastScannedPosition < positions.lowerBound { throw error }
        }
        return batch
    }

    /// Whether a follower delivers an event or notices of it.
    private func isDelivered(_ event: RecordedEvent, through filter: EventFilter) -> Bool {
        if visibleEvent(event, through: filter) != nil { return true }
        guard let viewer = filter.viewerOfNotices else { return false }
        return manyNotices(of: event, for: viewer, through: filter) != nil
            || lostThread(event, for: viewer, through: filter) != nil
    }
}

extension FeedWaiters.Waiter {
    /// Delivers an event without the consumer's task; returns false if the task must be resumed.
    fileprivate func accepts(_ delivery: LiveDelivery, of event: FollowedEvent, _ texts: inout SharedTexts) -> Bool {
        guard let push else { return false }
        switch delivery {
        case .none: return true
        case .event(let shown): return push(FollowedEvent(recorded: shown, resumeToken: event.resumeToken), &texts)
        case .wake: return false
        }
    }
}

extension ChatStore {
    /// Decides what becomes of a new event for followers that wait for it.
    func deliveries(of recorded: RecordedEvent, to filters: some Collection<EventFilter>) -> [LiveDelivery] {
        // A departure that is durable takes effect.
        readSide.apply(log, through: log.durablePosition)
        let event = withoutErased(recorded)
        return withCurrentModels { models, current in
            filters.map { models.delivery(of: event, through: $0, current: current) }
        }
    }
}
