public import ChatDomain
import Columns
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Applies the events that another process has made durable since this store was opened or
    /// refreshed.
    ///
    /// Queries see all new events at once when the call returns, and never part of a commit. Does
    /// nothing on a store that is open for writing, whose read models are always current, and on a
    /// log that is not a `RefreshableLog`.
    ///
    /// - Returns: The last visible position.
    /// - Throws: ``ChatError/journal(_:)`` if a new record is damaged or cannot be read,
    ///   ``ChatError/undecodable(position:_:)`` if it does not decode. The views then end with the
    ///   last commit before it.
    /// - Complexity: O(*n*) in the number of new events.
    @discardableResult
    public func refresh() throws(ChatError) -> Position {
        guard log.isReadOnly, let log = log as? any RefreshableLog else { return readSide.position }
        let last = try wrappingErrors(of: log.refresh())
        // The decider's lock preserves the order in which events reach the read models.
        try decider.withLock { (decider) throws(ChatError) in try apply(log, through: last, to: &decider.rules) }
        return last
    }

    private func apply(_ log: any RefreshableLog, through last: Position, to rules: inout RuleState) throws(ChatError) {
        let head = rules.head
        guard head < last else { return }
        var end: JournalHead?
        // An earlier refresh may have ended inside a commit that orders an erasure.
        var ordersErasure = rules.erasures.last ?? 0 > readSide.position
        let caughtUp = Result { () throws(ChatError) in
            try readSide.catchUp(&rules) { apply in
                func noting(_ batch: inout EventBatch) {
                    if batch.rows.contains(where: { $0.kind == .userErased || $0.kind == .contentErased }) {
                        ordersErasure = true
                    }
                    apply(&batch)
                }
                var decoder = BatchDecoder(from: head + 1)
                // The events are shown only once the content that they erase is hidden.
                func shown(_ failure: ChatError?) -> (Position, ChatError?) {
                    decoder.finish(noting)
                    return (ordersErasure ? 0 : end?.position ?? 0, failure)
                }
                do throws(JournalError) {
                    try log.forEachCommittedRecord(in: head + 1...last) { position, commit, state, kept, erasable in
                        guard decoder.add(position, state, kept, erasable, noting) else { return false }
                        if position == commit.position { end = commit }
                        return true
                    }
                } catch {
                    return shown(.journal(error))
                }
                return shown(decoder.failure)
            }
        }
        // Without a whole commit, nothing new is shown.
        if ordersErasure, let end { try applyNewErasures(through: end.position, &rules) }
        if let end, readSide.position >= end.position { appliedHead.withLock { $0 = end } }
        try caughtUp.get()
    }
}
