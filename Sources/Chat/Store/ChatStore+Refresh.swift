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
        // One caller at a time, so that events reach the rules and the read models in order. Queries
        // need no lock that is held while the log is read.
        try refreshing.withLock { _ throws(ChatError) in try apply(log, through: last) }
        return last
    }

    /// Applies the events up to a position.
    ///
    /// The caller holds the lock of refreshes.
    private func apply(_ log: any RefreshableLog, through last: Position) throws(ChatError) {
        let (head, lastErasure) = decider.withLock { ($0.rules.head, $0.rules.erasures.last ?? 0) }
        guard head < last else { return }
        var end: JournalHead?
        // An earlier refresh may have ended inside a commit that orders an erasure.
        var ordersErasure = lastErasure > readSide.position
        func apply(_ batch: inout EventBatch) {
            if batch.rows.contains(where: { $0.kind == .userErased || $0.kind == .contentErased }) {
                ordersErasure = true
            }
            decider.withLock { decider in
                readSide.apply(&batch, to: &decider.rules)
                publish(decider.rules)
            }
        }
        var decoder = BatchDecoder(from: head + 1)
        var failure: ChatError?
        do throws(JournalError) {
            try log.forEachCommittedRecord(in: head + 1...last) { position, commit, state, kept, erasable in
                guard decoder.add(position, state, kept, erasable, apply) else { return false }
                if position == commit.position { end = commit }
                return true
            }
            failure = decoder.failure
        } catch {
            failure = .journal(error)
        }
        decoder.finish(apply)
        // Without a whole commit, nothing new is shown.
        if let end {
            // The events are shown only once the content that they erase is hidden.
            if ordersErasure {
                try applyNewErasures(through: end.position)
            } else {
                readSide.show(through: end.position)
            }
            if readSide.position >= end.position { appliedHead.withLock { $0 = end } }
        }
        if let failure { throw failure }
    }
}
