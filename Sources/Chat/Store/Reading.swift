public import ChatDomain
import EventJournal
import Locking

extension ChatStore {
    /// Calls the closure with each matching event after a position, in order.
    ///
    /// The scan ends at the last durable position at the time of the call.
    ///
    /// - Parameters:
    ///   - position: The exclusive start; 0 for every event.
    ///   - last: The inclusive end; nil for the last durable position.
    ///   - filter: The conditions on events; a viewer receives them redacted as in
    ///     ``EventFilter/viewer``.
    ///   - body: Receives each event; returns false to stop.
    /// - Throws: ``ChatError`` if a record cannot be read or decoded. No record is skipped.
    /// - Complexity: O(*n*) in the number of events after the position, in constant memory.
    public func forEachEvent(
        after position: Position = 0, upTo last: Position? = nil, matching filter: EventFilter = EventFilter(),
        _ body: (RecordedEvent) -> Bool
    ) throws(ChatError) {
        let end = min(shownPosition, last ?? .max)
        guard position < end else { return }
        try Self.read(log, position + 1...end, contents: .all) { event, position in
            shown(RecordedEvent(position: position, event: event), through: filter).map(body) ?? true
        }
    }

    /// Returns the events at these positions.
    func events(at positions: ClosedRange<Position>) throws(ChatError) -> [ChatEvent] {
        var events: [ChatEvent] = []
        try Self.read(log, positions, contents: .all) { event, _ in
            events.append(event)
            return true
        }
        return events
    }

    /// Returns the event at this position.
    func event(at position: Position) throws(ChatError) -> ChatEvent {
        var found: ChatEvent?
        try Self.read(log, position...position, contents: .all) { event, _ in
            found = event
            return true
        }
        guard let found else { preconditionFailure("The log must return each requested record or throw.") }
        return found
    }

    /// Decodes the records at these positions in place and passes them to the closure until it
    /// returns false.
    static func read(
        _ log: any CommitLog, _ positions: ClosedRange<Position>, contents: ContentSelection, _ body: (ChatEvent, Position) -> Bool
    ) throws(ChatError) {
        var undecodable: ChatError?
        try wrapping { () throws(JournalError) in
            try log.forEachRecord(in: positions) { position, state, kept, erasable in
                do throws(EventDecodingError) {
                    return body(try ChatEvent(kept: kept, erasable: state == .whole ? erasable : nil, contents: contents), position)
                } catch {
                    undecodable = .undecodable(position: position, error)
                    return false
                }
            }
        }
        if let undecodable { throw undecodable }
    }
}

extension ChatStore {
    /// Returns a matching event redacted for the viewer; nil if it does not match or is not
    /// visible.
    func shown(_ recorded: RecordedEvent, through filter: EventFilter) -> RecordedEvent? {
        guard filter.matches(recorded.event.details) else { return nil }
        guard let viewer = filter.viewer, !filter.passesViewer(recorded.event.details) else { return recorded }
        // Apply every durable event first, so that a departure known to the caller takes effect.
        readSide.apply(log, through: log.durablePosition)
        return present { $0.shown(recorded, to: viewer, present: $1) }
    }

    /// The last visible position: durable, and applied to the read models.
    var shownPosition: Position {
        readSide.apply(log, through: log.durablePosition)
        return readSide.position
    }
}

/// Consecutive events of a log that match a filter, with the last position scanned.
struct FeedBatch {
    /// The maximum number of events in a batch.
    static let eventCount = 256
    /// The number of bytes of text at which a batch ends.
    static let byteCount = 64 << 10
    /// The maximum number of records scanned per call for a selective filter.
    static let scanCount: Position = 4_096

    var events: [RecordedEvent] = []
    /// The last position scanned.
    var through: Position
}

extension ChatStore {
    /// Reads the first matching events at these positions, at most one batch.
    ///
    /// The events are not redacted; redaction happens at delivery, with the viewer's rights at that
    /// time.
    ///
    /// - Throws: ``ChatError`` if the first record cannot be read or decoded. Before a later faulty
    ///   record the batch ends.
    func feedBatch(_ positions: ClosedRange<Position>, matching filter: EventFilter = EventFilter()) throws(ChatError) -> FeedBatch {
        var batch = FeedBatch(through: positions.lowerBound - 1)
        var byteCount = 0
        do throws(ChatError) {
            try Self.read(log, positions, contents: .all) { event, position in
                batch.through = position
                let recorded = RecordedEvent(position: position, event: event)
                guard shown(recorded, through: filter) != nil else { return true }
                batch.events.append(recorded)
                byteCount += event.textByteCount
                return batch.events.count < FeedBatch.eventCount && byteCount < FeedBatch.byteCount
            }
        } catch {
            // The events before the error are valid, and the next call throws the error again.
            if batch.through < positions.lowerBound { throw error }
        }
        return batch
    }
}
