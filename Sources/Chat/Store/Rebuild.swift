import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Builds the read models and the state of the rules once more from the first event, beside those in use, and puts them in their place.
    ///
    /// For an audit of a store that is open: whatever has become of the former ones in memory or came from a checkpoint, afterwards every answer follows from the journal
    /// as it is now.
    ///
    /// - Returns: Whether the former ones were the same.
    /// - Throws: ``ChatError/journal(_:)`` if the store is closed, or the journal cannot be read; ``ChatError/undecodable(position:_:)``. The former ones then stay.
    /// - Complexity: O(*n*) in the events of the journal, and their memory a second time until it returns. Queries do not wait; commands wait until what has come meanwhile is
    ///   durable and applied.
    @discardableResult
    public func rebuild() throws(ChatError) -> Bool {
        var rebuilt = StoreModels()
        let shown = readSide.position
        if shown > 0 { try Self.replay(log, 1...shown, into: &rebuilt) }
        // Nothing is decided while the rest is applied, so that the two end with the same event.
        let result: Result<StoreModels, ChatError> = decider.withLock { decider in
            do throws(ChatError) {
                try applyEverything(decider)
                let last = readSide.position
                if last > rebuilt.position { try Self.decode(log, rebuilt.position + 1...last) { rebuilt.apply(&$0) } }
            } catch {
                return .failure(error)
            }
            let former = StoreModels(decider.rules, readSide.exchange(rebuilt.models))
            decider.rules = rebuilt.rules
            return .success(former)
        }
        return try result.get() == rebuilt
    }
}
