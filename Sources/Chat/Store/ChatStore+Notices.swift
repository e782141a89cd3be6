import ChatDomain
import EventJournal
import Locking
import Projections

/// The notices of one event that are still to be delivered, before the event.
struct PendingNotices: Sendable {
    enum Cause: Sendable {
        /// An order of an erasure; the events up to this position are done.
        case erasure(through: Position)
        /// The viewer is no operator any more; the threads that are left to compare.
        case threads(Scan)
    }

    let event: FollowedEvent
    var cause: Cause
}

extension ChatStore {
    /// Whether a user could read a thread as of a position, whether or not they still can.
    ///
    /// For a server, which lets a client that was away follow the thread to the end of its access.
    package func couldRead(_ thread: ThreadID, _ user: UserID, asOf position: Position) -> Bool {
        withCurrentModels { models, _ in models.mayRead(user, thread, asOf: position) }
    }

    /// The number of events or threads that one section of the models' lock compares.
    private static let noticesPerSection = 512

    /// Returns the cause of an event's notices, unless they are at most one.
    func manyNotices(of event: RecordedEvent, for viewer: UserID, through filter: EventFilter) -> PendingNotices.Cause?
    {
        switch event.kind {
        // A live view, which receives the order itself, loads everything again.
        case .userErased, .contentErased: return filter.includesErasures ? nil : .erasure(through: 0)
        case .operatorRevoked where event.user == viewer:
            return withCurrentModels { models, _ in .threads(models.threadScan()) }
        default: return nil
        }
    }

    /// Returns the thread that an event ended the viewer's access to, among those of the filter.
    func lostThread(_ event: RecordedEvent, for viewer: UserID, through filter: EventFilter) -> ThreadID? {
        guard event.event.mayEndAccess, let thread = event.event.relatedThread, filter.admits(thread) else {
            return nil
        }
        readSide.apply(log, through: log.durablePosition)
        return withCurrentModels { models, _ in
            models.endsAccess(of: viewer, to: thread, at: event.position) ? thread : nil
        }
    }

    /// Returns threads that an event ended the viewer's access to, of the next rows of a scan.
    func lostThreads(_ scan: inout Scan, at position: Position, for viewer: UserID, through filter: EventFilter)
        -> [ThreadID]
    {
        var rest = scan
        defer { scan = rest }
        return withCurrentModels { models, _ in
            var lost: [ThreadID] = []
            models.forEach(&rest, limit: Self.noticesPerSection) { row in
                let thread = models.threadID(ofThread: row)
                if filter.admits(thread), models.endsAccess(of: viewer, to: thread, at: position) {
                    lost.append(thread)
                }
            }
            return lost
        }
    }

    /// Returns what an order erased of the content that a viewer could be shown, at most one piece.
    ///
    /// - Parameter position: The events up to this position are done; nil at the end.
    func erasedContent(
        by order: RecordedEvent, after position: inout Position?, for viewer: UserID, through filter: EventFilter
    ) throws(ChatError) -> ErasedContent {
        readSide.apply(log, through: log.durablePosition)
        let scope = try scope(of: order)
        let start = position ?? 0
        position = nil
        if start == 0, !withCurrentModels({ $0.mayConcern(scope, viewer, through: filter, current: $1) }) {
            return ErasedContent()
        }
        let rest =
            start < order.position - 1 ? scope.positions.clamped(to: start + 1...order.position - 1) : PositionSet()
        let (events, end) = try concernedEvents(rest)
        var content = ErasedContent()
        var last = end
        withCurrentModels { models, now in
            var found = ErasedContentFinder(viewer: viewer, filter: filter, current: now, subjects: scope.subjects)
            if start == 0 { for user in scope.subjects { found.addUser(user, models) } }
            for event in events where last == end {
                found.add(event, models)
                if found.isFull { last = event.position }
            }
            content = found.content(models)
        }
        if let final = rest.ranges.last?.upperBound, last < final { position = last }
        return content
    }

    private func scope(of order: RecordedEvent) throws(ChatError) -> ErasureScope {
        try erasureScopes.withLock { scopes throws(ChatError) in
            try scopes.scope(of: order.position) { () throws(ChatError) in
                let models = withCurrentModels { models, _ in models }
                return try ErasureScope(order, of: log, others: models.otherConcernedUser)
            }
        }
    }

    /// Reads the first events of a set, without content, for one section.
    private func concernedEvents(_ positions: PositionSet) throws(ChatError) -> (
        events: [ConcernedEvent], end: Position
    ) {
        var events: [ConcernedEvent] = []
        var failure: ChatError?
        // Records in a small gap cost less than another read.
        var spans: [ClosedRange<Position>] = []
        for range in positions.ranges.prefix(Self.noticesPerSection) {
            if let last = spans.last, range.lowerBound - last.upperBound <= 64 {
                spans[spans.count - 1] = last.lowerBound...range.upperBound
            } else {
                spans.append(range)
            }
        }
        for span in spans where events.count < Self.noticesPerSection && failure == nil {
            try log.readRecords(in: span) { position, state, kept, _ in
                guard positions.contains(position) else { return true }
                do throws(EventDecodingError) {
                    let event = try ChatEvent(kept: kept, erasable: nil, contents: .all)
                    events.append(ConcernedEvent(position: position, event: event, hasLostContent: state != .whole))
                } catch {
                    failure = .undecodable(position: position, error)
                }
                return failure == nil && events.count < Self.noticesPerSection
            }
        }
        if let failure { throw failure }
        return (events, events.last?.position ?? 0)
    }
}
