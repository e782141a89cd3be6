public import ChatDomain
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Calls the closure with each matching event after a position, in order.
    ///
    /// The scan ends at the last durable position at the time of the call.
    ///
    /// - Parameters:
    ///   - position: The exclusive start; 0 for every event. There are no events after a position
    ///     beyond the end.
    ///   - last: The inclusive end; nil for the last durable position.
    ///   - filter: The conditions on events; a viewer receives them redacted as in
    ///     ``EventFilter/viewer``.
    ///   - body: Receives each event; ends the scan by setting `stop`.
    /// - Throws: ``ChatError`` if a record cannot be read or decoded. No record is skipped.
    /// - Complexity: O(*n*) in the number of events after the position, in constant memory.
    public func forEachEvent(
        after position: Position = 0, upTo last: Position? = nil, matching filter: EventFilter,
        _ body: (_ event: RecordedEvent, _ stop: inout Bool) -> Void
    ) throws(ChatError) {
        let end = min(applyDurableEvents(), last ?? .max)
        guard position < end else { return }
        var next = position + 1
        var stop = false
        while !stop, next <= end {
            // The writer of another process may have erased what comes next.
            if next > position + 1 { try refresh() }
            let last = log.isReadOnly ? min(end, next + FeedBatch.maximumScanCount - 1) : end
            try Self.forEachDecodedEvent(log, next...last, contents: .all) { event, position in
                if let event = visibleEvent(RecordedEvent(position: position, event: event), through: filter) {
                    body(event, &stop)
                }
                return !stop
            }
            next = last + 1
        }
    }

    /// Returns the next matching events of a thread, of those with a number in the thread.
    ///
    /// - Parameters:
    ///   - thread: The thread, which the viewer of the filter must be able to read.
    ///   - position: The exclusive start.
    ///   - limit: The maximum number of events.
    ///   - filter: The conditions on events, whose viewer receives them redacted.
    ///   - point: The point in the history up to which events are returned.
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread` or `notAMember`; ``ChatError`` if
    ///   a record cannot be read or decoded.
    /// - Complexity: Reads at most ``ThreadEvents/maximumReadCount`` events.
    package func events(
        of thread: ThreadID, after position: Position, limit: Int, matching filter: EventFilter, asOf point: AsOf
    ) throws(ChatError) -> ThreadEvents {
        // Messages are most events of a thread, and have no other kind.
        let includesMessages = filter.customKinds == nil && filter.kinds?.contains(.messagePosted) ?? true
        let positions = try query(point, as: filter.viewer) { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return models.eventPositions(
                ofThread: thread, after: position, limit: ThreadEvents.maximumReadCount,
                includesMessages: includesMessages,
                asOf: view.position)
        }
        var found = ThreadEvents(
            events: [], end: position, hasMore: positions.count == ThreadEvents.maximumReadCount, isLast: false)
        var decoder = RecordDecoder(contents: .all)
        for start in stride(from: 0, to: positions.count, by: ThreadEvents.batchCount) where found.events.count < limit
        {
            try wrappingJournalErrors { () throws(JournalError) in
                try log.forEachRecord(at: Array(positions[start...].prefix(ThreadEvents.batchCount))) {
                    position, state, kept, erasable in
                    guard found.events.count < limit, let event = decoder.event(position, state, kept, erasable) else {
                        return false
                    }
                    visibleEvent(RecordedEvent(position: position, event: event), through: filter).map {
                        found.events.append($0)
                    }
                    found.end = position
                    return true
                }
            }
            if let failure = decoder.failure { throw failure }
        }
        found.isLast = !found.hasMore && found.end == positions.last ?? position
        if found.events.count == limit { found.hasMore = false }
        return found
    }

    /// Returns the events at these positions.
    func events(at positions: ClosedRange<Position>) throws(ChatError) -> [ChatEvent] {
        var events: [ChatEvent] = []
        try Self.forEachDecodedEvent(log, positions, contents: .all) { event, _ in
            events.append(event)
            return true
        }
        return events
    }

    /// Returns the event at this position.
    func event(at position: Position) throws(ChatError) -> ChatEvent {
        var found: ChatEvent?
        try Self.forEachDecodedEvent(log, position...position, contents: .all) { event, _ in
            found = event
            return true
        }
        guard let found else { preconditionFailure("The log must return each requested record or throw.") }
        return found
    }

    /// Decodes the records at these positions in place and passes them to the closure until it
    /// returns false.
    static func forEachDecodedEvent(
        _ log: any CommitLog, _ positions: ClosedRange<Position>, contents: ContentSelection,
        _ body: (ChatEvent, Position) -> Bool
    ) throws(ChatError) {
        var decoder = RecordDecoder(contents: contents)
        try log.readRecords(in: positions) { position, state, kept, erasable in
            decoder.event(position, state, kept, erasable).map { body($0, position) } ?? false
        }
        if let failure = decoder.failure { throw failure }
    }

    /// Decodes the records at these positions with the head at the end of each record's commit.
    ///
    /// On a log that is not a ``HistoryLog``, the closure receives the durable head.
    ///
    /// - Parameter known: The head of the commit that contains the first record, if it was read
    ///   before. Without it, a read that starts inside a commit begins at the commit's header.
    static func readCommitted(
        _ log: any CommitLog, _ positions: ClosedRange<Position>, in known: JournalHead? = nil,
        _ body: (ChatEvent, Position, JournalHead) -> Bool
    ) throws(ChatError) {
        guard let log = log as? any HistoryLog else {
            let head = log.head
            return try forEachDecodedEvent(log, positions, contents: .all) { event, position in
                body(event, position, head)
            }
        }
        var next = positions.lowerBound
        if let known, known.position >= next {
            let last = min(known.position, positions.upperBound)
            try forEachDecodedEvent(log, next...last, contents: .all) { event, position in
                next = position + 1
                return body(event, position, known)
            }
            // An earlier end: the closure has stopped the read.
            guard next == last + 1, last < positions.upperBound else { return }
        }
        var decoder = RecordDecoder(contents: .all)
        try wrappingJournalErrors { () throws(JournalError) in
            try log.forEachCommittedRecord(in: next...positions.upperBound) { position, commit, state, kept, erasable in
                decoder.event(position, state, kept, erasable).map { body($0, position, commit) } ?? false
            }
        }
        if let failure = decoder.failure { throw failure }
    }
}

/// The next events of a thread.
package struct ThreadEvents: Sendable {
    /// The maximum number of events that are read for one page.
    package static let maximumReadCount = 1_000
    /// The number of events that are read at once: a log on PostgreSQL sends them all.
    fileprivate static let batchCount = 200

    /// The matching events, oldest first.
    package fileprivate(set) var events: [RecordedEvent]
    /// The position of the last event that was read; the start if there is none.
    package fileprivate(set) var end: Position
    /// Whether reading ended at ``maximumReadCount``, before the limit of matching events.
    package fileprivate(set) var hasMore: Bool
    /// Whether no event of the thread follows ``end``, as of the point that was read.
    package fileprivate(set) var isLast: Bool
}

/// Decodes the records of a read, and keeps the error, because the read's closure cannot throw.
private struct RecordDecoder {
    let contents: ContentSelection
    private(set) var failure: ChatError?

    /// Returns the event; nil after an error, which ends the read.
    mutating func event(_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan)
        -> ChatEvent?
    {
        do throws(EventDecodingError) {
            return try ChatEvent(kept: kept, erasable: state == .whole ? erasable : nil, contents: contents)
        } catch {
            failure = .undecodable(position: position, error)
            return nil
        }
    }
}

extension ChatStore {
    /// Returns a matching event redacted for the viewer; nil if it does not match or is not
    /// visible.
    func visibleEvent(_ recorded: RecordedEvent, through filter: EventFilter) -> RecordedEvent? {
        guard filter.matches(recorded.event) else { return nil }
        let recorded = withoutErased(recorded)
        guard filter.viewer != .host else { return recorded }
        // Apply every durable event first, so that a departure known to the caller takes effect.
        readSide.apply(log, through: log.durablePosition)
        return withCurrentModels { $0.visible(recorded, through: filter, current: $1) }
    }

    /// Returns the event without content if that was erased, perhaps after the event was read.
    func withoutErased(_ recorded: RecordedEvent) -> RecordedEvent {
        guard erasedPositions.contains(recorded.position) else { return recorded }
        var erased = recorded
        erased.event = recorded.event.withoutContent
        return erased
    }

    /// Applies every durable event to the read models, and returns the last visible position.
    func applyDurableEvents() -> Position {
        readSide.apply(log, through: log.durablePosition)
        return readSide.position
    }
}
