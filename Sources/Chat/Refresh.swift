public import ChatDomain
import EventJournal
import Locking
import Projections

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
        // Whoever decides also keeps the order in which events reach the read models; queries go on between two portions.
        let result: Result<Void, ChatError> = decider.withLock { _ in
            do throws(ChatError) { return .success(try takeIn(through: last)) } catch { return .failure(error) }
        }
        try result.get()
        return last
    }

    private func takeIn(through last: Position) throws(ChatError) {
        let head = models.withLock { $0.value.position }
        guard head < last else { return }
        try Self.catchUp(log, head + 1...last) { body in models.withLock { body(&$0.value) } }
    }
}
