public import ChatDomain
import EventJournal
import Synchronization

extension ChatStore {
    /// Takes in what another process has made durable since a store was opened for reading, or since the last time.
    ///
    /// A store that is open for writing, or on another log than a journal, knows all there is: it does nothing.
    ///
    /// - Returns: The last position that is shown.
    /// - Throws: ``ChatError/journal(_:)`` if what is new is damaged or cannot be read, ``ChatError/undecodable(position:_:)`` if a record is no
    ///   event; the views then end before it.
    /// - Complexity: O(*n*) in the new events.
    @discardableResult
    public func refresh() throws(ChatError) -> Position {
        guard let journal, journal.isReadOnly else { return log.durablePosition }
        let last = try wrapping { () throws(JournalError) in try journal.refresh() }
        // Whoever decides also keeps the order in which events reach the views.
        let result: Result<Void, ChatError> = decider.withLock { decider in
            do throws(ChatError) { return .success(try takeIn(through: last, &decider)) } catch { return .failure(error) }
        }
        try result.get()
        return last
    }

    private func takeIn(through last: Position, _ decider: inout Decider) throws(ChatError) {
        while decider.state.head < last {
            let first = decider.state.head + 1
            var events: [RecordedEvent] = []
            // So many at a time, so that a reader that is far behind does not take memory for all of them.
            let positions = first...min(last, first + 4_095)
            try Self.read(log, positions, contents: .indexed) { event, position in
                events.append(RecordedEvent(position: position, event: event))
                return true
            }
            for one in events { decider.state.evolve(one.event, at: one.position) }
            views.withLock { views in
                views.add(events)
                views.show(through: positions.upperBound)
            }
        }
    }
}
