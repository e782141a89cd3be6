public import ChatDomain
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Applies what another process has made durable since a store was opened for reading, or since the last time.
    ///
    /// Queries see all of it at once when it returns: never a part of a commit. A store that is open for writing, or on another log than a journal, knows everything: it
    /// does nothing.
    ///
    /// - Returns: The last position that is shown.
    /// - Throws: ``ChatError/journal(_:)`` if what is new is damaged or cannot be read, ``ChatError/undecodable(position:_:)`` if a record is no
    ///   event; the views then end with the last commit before it.
    /// - Complexity: O(*n*) in the new events.
    @discardableResult
    public func refresh() throws(ChatError) -> Position {
        guard let journal, journal.isReadOnly else { return readSide.position }
        let last = try wrapping { () throws(JournalError) in try journal.refresh() }
        // The decider keeps the order in which events reach the read models.
        let result: Result<Void, ChatError> = decider.withLock { decider in
            do throws(ChatError) { return .success(try apply(journal, through: last, to: &decider.rules)) } catch { return .failure(error) }
        }
        try result.get()
        return last
    }

    private func apply(_ journal: Journal, through last: Position, to rules: inout RuleState) throws(ChatError) {
        let head = rules.head
        guard head < last else { return }
        try readSide.catchUp(&rules) { apply in
            var end: Position = 0
            var decoder = BatchDecoder(from: head + 1)
            defer { decoder.finish(apply) }
            do throws(JournalError) {
                try journal.forEachCommittedRecord(in: head + 1...last) { position, commitEnd, state, kept, erasable in
                    guard decoder.add(position, state, kept, erasable, apply) else { return false }
                    if position == commitEnd { end = position }
                    return true
                }
            } catch {
                return (end, .journal(error))
            }
            return (end, decoder.failure)
        }
    }
}
