import ChatDomain
import EventJournal
import Locking
import Projections

/// What everybody who follows a store shares: the last events, decoded once, and one wait on the log for all.
///
/// Whoever is among the last events takes theirs from here; whoever is behind them reads the log for themselves, a batch at a time; whoever has seen everything waits here.
/// A task waits on the log for as long as somebody waits here, and ends when nobody does.
final class EventFeed: Sendable {
    struct State {
        var recent: RecentEvents
        var waiters = FeedWaiters()
        /// The task that waits on the log, and its number.
        var pump: (number: UInt64, task: Task<Void, Never>)?
        var lastPump: UInt64 = 0
    }

    /// What a follower who asks for what comes after a position is to do.
    enum View {
        /// Take these.
        case recent([RecordedEvent])
        /// Read the log: what follows the position up to here is no longer among the last events.
        case older(through: Position)
        /// Nothing follows that the feed knows of.
        case end
    }

    private let state: Lock<State>
    /// Held by whoever takes in new events, so that each is read once.
    private let reading = Lock(())

    private let executor: (any TaskExecutor)?

    /// - Parameter executor: Where the task that waits on the log runs; nil for where tasks do.
    init(recent: RecentEvents, _ executor: (any TaskExecutor)? = nil) {
        state = Lock(State(recent: recent))
        self.executor = executor
    }

    var waiterCount: Int { state.withLock { $0.waiters.count } }
    /// Whether a task waits on the log.
    var isPumping: Bool { state.withLock { $0.pump != nil } }

    /// Looks for what follows a position, at most so many events.
    func look(after position: Position, limit: Int) -> View {
        state.withLock { state in
            if position >= state.recent.position { return .end }
            guard position + 1 >= state.recent.start else { return .older(through: state.recent.start - 1) }
            return .recent(state.recent.events(after: position, limit: limit))
        }
    }

    /// Takes in what a store shows by now, and wakes those whom it concerns.
    ///
    /// - Returns: The last position that the feed knows of, which is at least what the store showed at the time of the call.
    /// - Throws: ``ChatError`` if the next event cannot be read; what stands before it has been taken in.
    @discardableResult
    func advance(_ store: ChatStore) throws(ChatError) -> Position {
        let end = store.shownPosition
        let known = state.withLock { $0.recent.position }
        if known >= end { return known }
        var woken: [(task: FeedWaiters.Continuation, position: Position)] = []
        // Outside the lock: others go on while the tasks are woken one after another.
        defer { for waiter in woken { waiter.task.resume(returning: .look(after: waiter.position)) } }
        let result: Result<Position, ChatError> = reading.withLock { _ in
            var position = state.withLock { state in
                // What would give way again before anybody could look need not come, unless somebody waits for it.
                let capacity = UInt64(state.recent.capacity)
                if state.waiters.isEmpty, end > capacity, end - capacity > state.recent.position { state.recent.skip(to: end - capacity) }
                return state.recent.position
            }
            do throws(ChatError) {
                while position < end {
                    let batch = try store.feedBatch(position + 1...end)
                    woken += take(batch.events, of: store)
                    position = batch.through
                }
            } catch {
                return .failure(error)
            }
            return .success(position)
        }
        return try result.get()
    }

    private func take(_ events: [RecordedEvent], of store: ChatStore) -> [(FeedWaiters.Continuation, Position)] {
        let keys = events.map { one in
            one.event.details.keys { user in store.present { models, _ in models.threadsEver(of: user) } }
        }
        return state.withLock { state in
            var woken: [(FeedWaiters.Continuation, Position)] = []
            for (event, keys) in zip(events, keys) {
                state.recent.append(event)
                if !state.waiters.isEmpty { woken += state.waiters.take(event, keys).map { ($0, event.position - 1) } }
            }
            return woken
        }
    }

    /// Waits for an event that a filter may let pass, without holding a thread.
    func wait(after position: Position, matching filter: EventFilter, of store: ChatStore) async -> FeedWaiters.Wakeup {
        let memberships = filter.viewer.map { viewer in
            store.threads(of: viewer, asOf: position)
        }
        let keys = filter.keys(memberships ?? [])
        let id = state.withLock { $0.waiters.makeID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { task in
                let wakeup = state.withLock { state -> FeedWaiters.Wakeup? in
                    // Asked under the lock: a cancellation that comes later takes the waiter out again.
                    if Task.isCancelled { return .cancelled }
                    if state.recent.position > position { return .look(after: position) }
                    state.waiters.add(id, FeedWaiters.Waiter(filter: filter, position: position, keys: keys, task: task))
                    startPump(&state, store)
                    return nil
                }
                if let wakeup { task.resume(returning: wakeup) }
            }
        } onCancel: {
            let task = state.withLock { state in
                let task = state.waiters.remove(id)
                if state.waiters.isEmpty { stopPump(&state) }
                return task
            }
            task?.resume(returning: .cancelled)
        }
    }
}

extension EventFeed {
    private func startPump(_ state: inout State, _ store: ChatStore) {
        guard state.pump == nil else { return }
        state.lastPump += 1
        let (number, position) = (state.lastPump, state.recent.position)
        // Of nobody's priority, actor or task-local values: it works for everybody.
        state.pump = (number, Task.detached(executorPreference: executor) { await self.pump(number, store, after: position) })
    }

    private func stopPump(_ state: inout State) {
        state.pump?.task.cancel()
        state.pump = nil
    }

    /// Waits on the log, and takes in what comes, until nobody waits any more.
    private func pump(_ number: UInt64, _ store: ChatStore, after position: Position) async {
        var seen = position
        while true {
            do throws(ChatError) {
                // After what the log has told, not after what has been taken in: a store that is read-only may show less.
                seen = try await Self.more(of: store.log, after: seen)
                try refresh(store)
            } catch {
                end(pump: number, with: error)
                return
            }
            let isOver = state.withLock { state in
                // Another one has begun, for those who came when this one had been stopped.
                guard state.pump?.number == number else { return true }
                if state.waiters.isEmpty { state.pump = nil }
                return state.waiters.isEmpty
            }
            if isOver { return }
        }
    }

    /// Takes in what is new, on a reader what the writer has added first.
    private func refresh(_ store: ChatStore) throws(ChatError) {
        do throws(ChatError) { try store.refresh() } catch {
            // What stands before the place that cannot be read is right, and comes first.
            try advance(store)
            throw error
        }
        try advance(store)
    }

    private static func more(of log: any CommitLog, after position: Position) async throws(ChatError) -> Position {
        do { return try await log.waitForMore(after: position) } catch { throw .journal(error) }
    }

    private func end(pump number: UInt64, with error: ChatError) {
        // Of one that was stopped nobody waits for an answer.
        if case .journal(let error) = error, error.code == .cancelled { return }
        let tasks = state.withLock { state in
            if state.pump?.number == number { state.pump = nil }
            return state.waiters.removeAll()
        }
        for task in tasks { task.resume(returning: error.isClosed ? .ended : .failed(error)) }
    }
}

extension ChatError {
    /// Whether the store or its log was closed.
    var isClosed: Bool {
        if case .journal(let error) = self { error.code == .closed } else { false }
    }
}
