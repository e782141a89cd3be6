import ChatDomain
import EventJournal
import Locking

/// One who follows: where they stand, what they want, and how the next events are found.
struct Follower: Sendable {
    let store: ChatStore
    let filter: EventFilter
    let bufferingPolicy: BufferingPolicy
    /// Everything up to here was delivered, or the filter did not let it pass.
    private(set) var position: Position
    /// What the position is to be checked against, once.
    private let token: ResumeToken?
    private var isChecked = false
    /// Whether the end has been reached once, so that what comes is new.
    private var isLive = false

    init(_ store: ChatStore, after position: Position, _ token: ResumeToken?, _ filter: EventFilter, _ bufferingPolicy: BufferingPolicy) {
        (self.store, self.position, self.token, self.filter, self.bufferingPolicy) = (store, position, token, filter, bufferingPolicy)
    }

    /// What a follower is to do next.
    enum Step: Sendable {
        /// Deliver these.
        case events([RecordedEvent])
        /// Wait for more: everything has been seen.
        case wait
        /// Nothing: the store is closed or the task cancelled.
        case end
    }

    /// Finds the next events, at least one, if there are any.
    ///
    /// Not on the caller's actor: events that are not among the last ones are read from the log. It returns for a wait, so that one who waits holds none of its memory.
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
        while !Task.isCancelled {
            guard let events = isLive ? try waitingEvents() : try nextBatch() else {
                isLive = true
                return .wait
            }
            if !events.isEmpty { return .events(events) }
            // A filter may let nothing pass for long: others, and a cancellation, have their turn.
            await Task.yield()
        }
        return .end
    }

    /// Waits until something may be there, without holding a thread; false at the end.
    mutating func wait() async throws(ChatError) -> Bool {
        switch await store.feed.wait(after: position, matching: filter, of: store) {
        case .look(let seen): position = seen
        case .ended, .cancelled: return false
        case .failed(let error): throw error
        }
        return true
    }

    /// Refuses a place from which nobody can follow on, and a viewer whom there is not.
    private mutating func check() throws(ChatError) {
        if isChecked { return }
        do throws(ChatError) { try checkAsShown() } catch {
            // The writer may have gone beyond what a reader shows.
            guard store.log.isReadOnly else { throw error }
            try store.refresh()
            try checkAsShown()
        }
        isChecked = true
    }

    private func checkAsShown() throws(ChatError) {
        if let token {
            try store.check(token)
        } else if position > store.shownPosition {
            throw .rejected(.invalidPosition)
        }
        // Also finds out that the store has been closed.
        try store.query(.now, for: filter.viewer) { models, view throws(ChatError) in try models.requireViewer(of: view) }
    }

    /// What there is for a consumer who was at the end: paced a batch of it, bounded all of it or an error.
    private mutating func waitingEvents() throws(ChatError) -> [RecordedEvent]? {
        guard case .bounded(let limit) = bufferingPolicy else { return try nextBatch() }
        let start = position
        // First all that there is, so that it is known how much waits.
        try store.feed.advance(store)
        var waiting: [RecordedEvent] = []
        while true {
            switch store.feed.look(after: position, limit: FeedBatch.eventCount) {
            case .end: return position == start ? nil : waiting
            case .older: throw .lagged(from: start)
            case .recent(let events):
                waiting += select(events)
                if waiting.count > max(1, limit) { throw .lagged(from: start) }
            }
        }
    }

    /// The next events that match, out of a batch of those that follow; nil at the end.
    private mutating func nextBatch() throws(ChatError) -> [RecordedEvent]? {
        switch store.feed.look(after: position, limit: FeedBatch.eventCount) {
        case .recent(let events): return select(events)
        case .older(let end):
            let batch = try store.feedBatch(position + 1...min(end, position + FeedBatch.scanCount), matching: filter)
            position = batch.through
            return batch.events
        case .end: return try store.feed.advance(store) > position ? try nextBatch() : nil
        }
    }

    private mutating func select(_ events: [RecordedEvent]) -> [RecordedEvent] {
        position = events.last?.position ?? position
        return events.filter { store.shown($0, through: filter) != nil }
    }
}
