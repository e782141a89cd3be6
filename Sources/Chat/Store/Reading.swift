public import ChatDomain
import EventJournal
import Locking

extension ChatStore {
    /// Calls a closure with the events after a position, in order, up to the durable end at the time of the call.
    ///
    /// - Parameters:
    ///   - position: The events after this one; 0 for all.
    ///   - filter: Which of them; a viewer is shown them as ``EventFilter/viewer`` says.
    ///   - body: Is given each event; returns whether to go on.
    /// - Throws: ``ChatError`` if a record cannot be read or is no event; nothing is skipped.
    /// - Complexity: O(*n*) in the events after the position; memory does not grow with them.
    public func forEachEvent(
        after position: Position = 0, matching filter: EventFilter = EventFilter(), _ body: (RecordedEvent) -> Bool
    ) throws(ChatError) {
        let end = shownPosition
        guard position < end else { return }
        try Self.read(log, position + 1...end, contents: .all) { event, position in
            shown(RecordedEvent(position: position, event: event), through: filter).map(body) ?? true
        }
    }

    /// The events at some positions.
    func events(at positions: ClosedRange<Position>) throws(ChatError) -> [ChatEvent] {
        var events: [ChatEvent] = []
        try Self.read(log, positions, contents: .all) { event, _ in
            events.append(event)
            return true
        }
        return events
    }

    /// The event at one position.
    func event(at position: Position) throws(ChatError) -> ChatEvent {
        var found: ChatEvent?
        try Self.read(log, position...position, contents: .all) { event, _ in
            found = event
            return true
        }
        guard let found else { preconditionFailure("the journal gives each record that it is asked for, or an error") }
        return found
    }

    /// The way of a reading: records of the log, decoded in place, to whoever applies them.
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
    /// An event that matches a filter, as its viewer is shown it by now; nil if it does not match or may not be shown.
    func shown(_ recorded: RecordedEvent, through filter: EventFilter) -> RecordedEvent? {
        guard filter.matches(recorded.event.details) else { return nil }
        guard let viewer = filter.viewer, !filter.passesThreads(recorded.event.details) else { return recorded }
        // What is durable decides, so that a departure that a caller may know of is seen.
        readSide.apply(log, through: log.durablePosition)
        return present { $0.shown(recorded, to: viewer, present: $1) }
    }

    /// The last position that queries and followers are shown: durable, and applied to the read models.
    var shownPosition: Position {
        readSide.apply(log, through: log.durablePosition)
        return readSide.position
    }
}

/// Consecutive events of a log that passed a filter, and how far they go.
struct FeedBatch {
    /// The most events of a batch.
    static let eventCount = 256
    /// The bytes of text from which on a batch that is read ends.
    static let byteCount = 64 << 10
    /// The records that are read at a time for a filter that lets few pass.
    static let scanCount: Position = 4_096

    var events: [RecordedEvent] = []
    /// What stands up to here has been read.
    var through: Position
}

extension ChatStore {
    /// Reads the first events at some positions that match, as many as a follower is given at a time.
    ///
    /// The events are whole: what a viewer is shown of them is decided as each is delivered.
    ///
    /// - Throws: ``ChatError`` if the first record cannot be read or is no event; before a later one the batch ends.
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
            // What was read is right, and the error comes again for whoever reads on.
            if batch.through < positions.lowerBound { throw error }
        }
        return batch
    }
}
