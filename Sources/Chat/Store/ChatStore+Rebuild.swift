import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Rebuilds the read models and the rules from the first event and replaces the current ones.
    ///
    /// Use it to audit an open store: afterwards every answer follows from the journal, not from
    /// earlier memory contents or a checkpoint.
    ///
    /// - Returns: Whether the replaced models were equal to the rebuilt ones.
    /// - Throws: ``ChatError/journal(_:)`` if the store is closed or the journal cannot be read;
    ///   ``ChatError/undecodable(position:_:)`` if a record does not decode. The current models
    ///   then stay.
    /// - Complexity: O(*n*) in the number of events. The models take twice their memory until the
    ///   call returns. Queries do not wait; commands wait while the events appended during the
    ///   rebuild are made durable and applied. Erasures wait until the call returns.
    @discardableResult
    public func rebuild() throws(ChatError) -> Bool {
        // An erasure hides content before its order is appended, and shows it again if that fails.
        try erasing.withLock { _ throws(ChatError) in
            while true { if let isEqual = try rebuildUnlessErased() { return isEqual } }
        }
    }

    /// Rebuilds and replaces the models; nil if content was erased meanwhile.
    ///
    /// The caller holds the lock of erasures. A read-only store can still apply an erasure that
    /// another process ordered.
    private func rebuildUnlessErased() throws(ChatError) -> Bool? {
        let epoch = erasedPositions.epoch
        var rebuilt = StoreModels()
        let shown = readSide.position
        if shown > 0 { try Self.replay(log, 1...shown, into: &rebuilt) }
        // The locks prevent new decisions and a refresh, so that the rules and the read models end
        // with the same event.
        let former: StoreModels? = try refreshing.withLock { _ throws(ChatError) in
            try decider.withLock { decider throws(ChatError) in
                // The rebuilt models may have content that was erased meanwhile.
                if epoch != erasedPositions.epoch { return nil }
                try applyDecidedEvents(decider)
                let last = readSide.position
                if last > rebuilt.position {
                    try Self.forEachDecodedBatch(log, rebuilt.position + 1...last) { rebuilt.apply(&$0) }
                }
                let former = StoreModels(decider.rules, readSide.replaceModels(rebuilt.readModels))
                decider.rules = rebuilt.rules
                return former
            }
        }
        return former.map { $0 == rebuilt }
    }
}
