import ChatDomain
import EventJournal
import Locking

/// The state of one follower: its position, its filter, and how it finds the next events.
struct Follower: Sendable {
    let store: ChatStore
    private(set) var filter: EventFilter
    let bufferingPolicy: BufferingPolicy
    /// The position up to which every event was delivered or did not match the filter.
    private(set) var position: Position
    /// The head of the last commit that was read; a token names it if ``position`` is at most its
    /// last position.
    private var commit: JournalHead?
    /// The last position to deliver; nil if the sequence has none.
    private let end: Position?
    /// The token that the start position is checked against, once.
    private let token: ResumeToken?
    private var isChecked = false
    /// Whether the follower has reached the end once; from then on, every event is new.
    private var isLive = false
    /// The notices to deliver before anything else; their event is the one after ``position``.
    private var pending: PendingNotices?
    /// Receives new events while the follower waits.
    private var push: LivePush?

    init(
        _ store: ChatStore, after position: Position, upTo end: Position?, _ token: ResumeToken?, _ filter: EventFilter,
        _ bufferingPolicy: BufferingPolicy
    ) {
        (self.store, self.position, self.end, self.token, self.filter, self.bufferingPolicy) = (
            store, position, end, token, filter, bufferingPolicy
        )
    }

    /// The follower with the notices of its viewer.
    var withNotices: Follower {
        var follower = self
        follower.filter.includesNotices = true
        return follower
    }

    /// The follower that delivers new events without its task.
    ///
    /// A sequence with a last position waits for the events that the host sees, and one that is
    /// bounded counts what waits: both deliver with their task.
    func pushing(_ push: LivePush?) -> Follower {
        var follower = self
        if end == nil, bufferingPolicy == .paced { follower.push = push }
        return follower
    }

    /// The next action of a follower.
    enum Step: Sendable {
        /// Deliver these updates.
        case updates([FollowedUpdate])
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
            guard let updates = pending != nil ? try nextNotices() : isLive ? try waitingUpdates() : try nextBatch()
            else {
                isLive = true
                return .wait
            }
            if !updates.isEmpty { return .updates(updates) }
            // A filter may match nothing for a long time: lets other tasks run, and notices a
            // cancellation.
            await Task.yield()
        }
        return .end
    }

    /// Waits for new events without blocking a thread; returns false at the end of the sequence.
    mutating func wait() async throws(ChatError) -> Bool {
        switch await store.feed.wait(makeWaiter(), of: store) {
        case .recheck(let seen): position = seen
        case .ended, .cancelled: return false
        case .failed(let error): throw error
        }
        return true
    }

    private func makeWaiter() -> FeedWaiters.Waiter {
        // With a last position, every event matters: reaching it ends the sequence even if no event
        // matches.
        store.feed.waiter(after: position, matching: end == nil ? filter : EventFilter(as: .host), of: store, push)
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
        try store.query(.now, as: filter.viewer) { models, view throws(ChatError) in try models.requireViewer(of: view)
        }
    }

    /// Returns the new events: one batch if paced, all of them or an error if bounded.
    private mutating func waitingUpdates() throws(ChatError) -> [FollowedUpdate]? {
        guard case .bounded(let limit) = bufferingPolicy else { return try nextBatch() }
        let start = position
        // Applies all new events first, so that the number of waiting events is known.
        try store.feed.advance(store)
        var waiting: [FollowedUpdate] = []
        while true {
            if hasEnded || pending != nil { return waiting }
            switch store.feed.read(after: position, limit: FeedBatch.maximumEventCount) {
            case .end: return position == start ? nil : waiting
            case .evicted: throw .lagged(from: start)
            case .recent(let events):
                waiting += select(events)
                if waiting.count > max(1, limit) { throw .lagged(from: start) }
            }
        }
    }

    /// Returns the updates of the next batch; nil at the end of the log.
    private mutating func nextBatch() throws(ChatError) -> [FollowedUpdate]? {
        switch store.feed.read(after: position, limit: FeedBatch.maximumEventCount) {
        case .recent(let events): return select(events)
        case .evicted(let available):
            // The writer may have erased what comes next.
            try store.refresh()
            let batch = try store.feedBatch(
                position + 1...min(available, position + FeedBatch.maximumScanCount, end ?? .max), matching: filter,
                in: commit)
            let updates = select(batch.events)
            if pending == nil { (position, commit) = (batch.lastScannedPosition, batch.commit) }
            return updates
        case .end: return try store.feed.advance(store) > position ? try nextBatch() : nil
        }
    }

    /// Returns the updates of events that follow ``position``, up to one with many notices.
    private mutating func select(_ events: [FollowedEvent]) -> [FollowedUpdate] {
        let wanted = end.map { end in events.prefix { $0.recorded.position <= end } } ?? events[...]
        var updates: [FollowedUpdate] = []
        for event in wanted {
            if let viewer = filter.viewerOfNotices {
                if let cause = store.manyNotices(of: event.recorded, for: viewer, through: filter) {
                    pending = PendingNotices(event: event, cause: cause)
                    (position, commit) = (event.recorded.position - 1, event.resumeToken.head)
                    return updates
                }
                let lost = store.lostThread(event.recorded, for: viewer, through: filter)
                append(event, after: lost.map { thread in [{ .accessLost(thread, $0) }] } ?? [], to: &updates)
            } else {
                append(event, after: [], to: &updates)
            }
        }
        if let last = wanted.last { (position, commit) = (last.recorded.position, last.resumeToken.head) }
        return updates
    }

    /// Appends the last notices of an event and, if the viewer may see it, the event.
    ///
    /// What follows must not be lost at a resume, so only the last update has the token after the
    /// event.
    private func append(
        _ event: FollowedEvent, after notices: [(ResumeToken) -> FollowedUpdate], to updates: inout [FollowedUpdate]
    ) {
        let isVisible = store.visibleEvent(event.recorded, through: filter) != nil
        for (index, notice) in notices.enumerated() {
            updates.append(notice(isVisible || index + 1 < notices.count ? event.tokenBefore : event.resumeToken))
        }
        if isVisible { updates.append(.event(event)) }
    }

    /// Returns the next notices of the pending event, with the event after the last one.
    private mutating func nextNotices() throws(ChatError) -> [FollowedUpdate] {
        guard var pending, let viewer = filter.viewerOfNotices else { return [] }
        let event = pending.event
        var notices: [(ResumeToken) -> FollowedUpdate] = []
        var isDone = true
        switch pending.cause {
        case .erasure(let done):
            var next: Position? = done
            let content = try store.erasedContent(by: event.recorded, after: &next, for: viewer, through: filter)
            if !content.isEmpty { notices = [{ .erased(content, $0) }] }
            if let next { (pending.cause, isDone) = (.erasure(through: next), false) }
        case .threads(var scan):
            let threads = store.lostThreads(&scan, at: event.recorded.position, for: viewer, through: filter)
            notices = threads.map { thread in { .accessLost(thread, $0) } }
            (pending.cause, isDone) = (.threads(scan), scan.isAtEnd)
        }
        var updates: [FollowedUpdate] = []
        if isDone {
            append(event, after: notices, to: &updates)
            (position, commit, self.pending) = (event.recorded.position, event.resumeToken.head, nil)
        } else {
            updates = notices.map { $0(event.tokenBefore) }
            self.pending = pending
        }
        return updates
    }
}

extension FollowedEvent {
    /// Continues before the event.
    fileprivate var tokenBefore: ResumeToken { ResumeToken(after: recorded.position - 1, in: resumeToken.head) }
}
