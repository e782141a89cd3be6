import ChatDomain
import EventJournal
import Locking

/// The state of one follower: its position, its filter, and how it finds the next events.
struct Follower: Sendable {
    let store: ChatStore
    let filter: EventFilter
    let bufferingPolicy: BufferingPolicy
    /// The position up to which every event was delivered or did not match the filter.
    private(set) var position: Position
    /// The head of the last commit that was read; it names ``position`` if its own position is not
    /// smaller.
    private var commit: JournalHead?
    /// The last position to deliver; nil if the sequence has none.
    private let end: Position?
    /// The token that the start position is checked against, once.
    private let token: ResumeToken?
    private var isChecked = false
    /// Whether the follower has reached the end once; from then on, every event is new.
    private var isLive = false

    init(
        _ store: ChatStore, after position: Position, upTo end: Position?, _ token: ResumeToken?, _ filter: EventFilter,
        _ bufferingPolicy: BufferingPolicy
    ) {
        (self.store, self.position, self.end, self.token, self.filter, self.bufferingPolicy) = (
            store, position, end, token, filter, bufferingPolicy
        )
    }

    /// The next action of a follower.
    enum Step: Sendable {
        /// Deliver these events.
        case events([FollowedEvent])
        /// Wait for new events: all existing ones have been seen.
        case wait
        /// End the sequence: its last position is reached, the store is closed or the task is
        /// cancelled.
        case end
    }

    /// The token that continues after ``position``; nil if that needs a read.
    var resumeToken: ResumeToken? {
        guard let commit, commit.position >= position else { return nil }
        return ResumeToken(after: position, in: commit)
    }

    /// Whether the last position to deliver has been reached.
    private var hasEnded: Bool { end.map { position >= $0 } ?? false }

    /// Finds the next batch of matching events, if any.
    ///
    /// Runs outside the caller's actor, because older events are read from the log. Returns the
    /// advanced follower with its next action. Returns before a wait, so that a waiting follower
    /// holds no memory of this function.
    @concurrent static func step(of follower: Follower) async throws(ChatError) -> (Follower, Step) {
        var follower = follower
        do throws(ChatError) {
            let step = try await follower.step()
            return (follower, step)
        } catch {
            if error.isClosed { return (follower, .end) }
            throw error
        }
    }

    private mutating func step() async throws(ChatError) -> Step {
        try check()
        // A store that was closed ends the sequence behind its last event.
        if let failure = store.failure, failure.code != .closed { throw .journal(failure) }
        while !Task.isCancelled, !hasEnded {
            guard let events = isLive ? try waitingEvents() : try nextBatch() else {
                isLive = true
                return .wait
            }
            if !events.isEmpty { return .events(events) }
            // A filter may match nothing for a long time: lets other tasks run, and notices a
            // cancellation.
            await Task.yield()
        }
        return .end
    }

    /// Waits for new events without blocking a thread; returns false at the end of the sequence.
    mutating func wait() async throws(ChatError) -> Bool {
        // With a last position, every event matters: reaching it ends the sequence even if no event
        // matches.
        let awaited = end == nil ? filter : EventFilter()
        switch await store.feed.wait(after: position, matching: awaited, of: store) {
        case .recheck(let seen): position = seen
        case .ended, .cancelled: return false
        case .failed(let error): throw error
        }
        return true
    }

    /// Throws if the start position or the viewer is invalid.
    private mutating func check() throws(ChatError) {
        if isChecked { return }
        do throws(ChatError) { try checkAsShown() } catch {
            // The writer may be ahead of what this reader has applied.
            guard store.log.isReadOnly else { throw error }
            try store.refresh()
            try checkAsShown()
        }
        isChecked = true
    }

    /// Throws if the start position or the viewer is invalid in the current read models.
    private func checkAsShown() throws(ChatError) {
        if let token {
            try store.check(token)
        } else if position > store.applyDurableEvents() {
            throw .rejected(.invalidPosition)
        }
        // Throws as well if the store is closed.
        try store.query(.now, for: filter.viewer) { models, view throws(ChatError) in try models.requireViewer(of: view) }
    }

    /// Returns the new events: one batch if paced, all of them or an error if bounded.
    private mutating func waitingEvents() throws(ChatError) -> [FollowedEvent]? {
        guard case .bounded(let limit) = bufferingPolicy else { return try nextBatch() }
        let start = position
        // Applies all new events first, so that the number of waiting events is known.
        try store.feed.advance(store)
        var waiting: [FollowedEvent] = []
        while true {
            if hasEnded { return waiting }
            switch store.feed.read(after: position, limit: FeedBatch.maximumEventCount) {
            case .end: return position == start ? nil : waiting
            case .evicted: throw .lagged(from: start)
            case .recent(let events):
                waiting += select(events)
                if waiting.count > max(1, limit) { throw .lagged(from: start) }
            }
        }
    }

    /// Returns the matching events of the next batch; nil at the end of the log.
    private mutating func nextBatch() throws(ChatError) -> [FollowedEvent]? {
        switch store.feed.read(after: position, limit: FeedBatch.maximumEventCount) {
        case .recent(let events): return select(events)
        case .evicted(let available):
            // The writer may have erased what comes next.
            try store.refresh()
            let batch = try store.feedBatch(
                position + 1...min(available, position + FeedBatch.maximumScanCount, end ?? .max), matching: filter, in: commit)
            (position, commit) = (batch.lastScannedPosition, batch.commit)
            return batch.events
        case .end: return try store.feed.advance(store) > position ? try nextBatch() : nil
        }
    }

    private mutating func select(_ events: [FollowedEvent]) -> [FollowedEvent] {
        let wanted = end.map { end in events.prefix { $0.recorded.position <= end } } ?? events[...]
        if let last = wanted.last { (position, commit) = (last.recorded.position, last.resumeToken.head) }
        return wanted.filter { store.visibleEvent($0.recorded, through: filter) != nil }
    }
}
