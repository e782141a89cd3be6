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
