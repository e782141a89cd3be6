import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Builds the read models once more from the first event, beside those that are asked meanwhile, and puts them in their place.
    ///
    /// For an audit of a store that is open: whatever has become of the kept ones in memory or came from a checkpoint, afterwards every answer follows from the journal
    /// as it is now.
    ///
    /// - Returns: Whether those that were kept were the same.
    /// - Throws: ``ChatError/journal(_:)`` if the store is closed, or the journal cannot be read; ``ChatError/undecodable(position:_:)``. The kept ones then stay.
    /// - Complexity: O(*n*) in the events of the journal, and their memory a second time until it returns. Queries do not wait; commands wait for what has come meanwhile to
    ///   be taken in.
    @discardableResult
    public func rebuild() throws(ChatError) -> Bool {
        var beside = ReadModels()
        let shown = present { $1 }
        if shown > 0 { try Self.replay(log, 1...shown, into: &beside) }
        // Nothing is decided while the rest is taken in, so that the two end with the same event.
        let result: Result<ReadModels, ChatError> = decider.withLock { decider in
            if let failure = decider.failure { return .failure(.journal(failure)) }
            let last = models.withLock { $0.value.position }
            do throws(ChatError) {
                if last > beside.position { try Self.catchUp(log, beside.position + 1...last) { body in body(&beside) } }
            } catch {
                return .failure(error)
            }
            return .success(
                models.withLock { models in
                    let kept = models.value
                    models.value = beside
                    return kept
                })
        }
        return try result.get() == beside
    }
}
