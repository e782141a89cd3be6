import ChatDomain
import Columns
import EventJournal
import Locking
import Projections

// Orders that were not carried out before the store was opened, or that another process appended.

extension ChatStore {
    /// Hides the content that orders have erased and the log still has.
    ///
    /// - Parameter models: The state after all events of the log.
    /// - Returns: Whether an order may be unfinished, and whether there is such content. Without it,
    ///   other files can still have copies.
    static func hidePendingContent(
        in log: any CommitLog, _ models: borrowing StoreModels
    ) throws(ChatError) -> (isUnfinished: Bool, hasContent: Bool) {
        guard let log = log as? any ErasableLog, let last = models.rules.erasures.last, last > log.erasedThrough else {
            return (false, false)
        }
        let orders = try orders(models.rules.erasures, after: log.erasedThrough, in: log)
        let identities = models.models.identities
        let content = try ErasableContent(orders, in: 1...models.position, of: log) { identities.author(ofPostRemovedBy: $0) }
        if content.positions.isEmpty { return (true, false) }
        log.setHiddenContent(content.positions)
        return (true, true)
    }

    /// Whether files still have content that is hidden because its erasure is ordered.
    package var isErasureUnfinished: Bool { (log as? any ErasableLog).map { !$0.hiddenContent.isEmpty } ?? false }

    /// Reads the orders after a position.
    private static func orders(
        _ positions: PackedColumn<Position>, after start: Position, in log: any CommitLog
    ) throws(ChatError) -> ErasureOrders {
        var orders = ErasureOrders()
        for position in positions.indices.map({ positions[$0] }) where position > start {
            try forEachDecodedEvent(log, position...position, contents: .all) { event, position in
                orders.add(event, at: position)
                return true
            }
        }
        return orders
    }

    /// Carries out the orders that were found at the opening; a failure is reported, and the next
    /// erasure or opening tries again.
    func completeErasure(_ report: LogHandler?) {
        guard let log = log as? any ErasableLog, !log.isReadOnly else { return }
        do throws(ChatError) {
            try carryOut(through: decider.withLock { $0.rules.erasures.last ?? 0 }, in: log)
        } catch {
            report?(LogMessage(.error, "An erasure could not be completed: \(error)"))
        }
    }

    /// Obeys orders that another process has appended: hides the content and rebuilds the models.
    ///
    /// The caller holds the decider's lock of a read-only store whose models end with the orders and
    /// do not show them yet.
    ///
    /// - Parameter end: The last position to show.
    func obeyNewErasures(through end: Position, _ rules: inout RuleState) throws(ChatError) {
        guard let log = log as? any ErasableLog else { return }
        let identities = withCurrentModels { models, _ in models.identities }
        // All that they concern: the writer may have replaced the files, and copies in memory remain.
        let orders = try Self.orders(rules.erasures, after: readSide.position, in: log)
        let content = try ErasableContent(orders, in: 1...end, of: log, includesErased: true) { identities.author(ofPostRemovedBy: $0) }
        conceal(content.positions, in: log)
        var rebuilt = StoreModels()
        try Self.replay(log, 1...end, into: &rebuilt)
        rules = rebuilt.rules
        _ = readSide.replaceModels(rebuilt.models)
        concealment.advance()
    }
}
