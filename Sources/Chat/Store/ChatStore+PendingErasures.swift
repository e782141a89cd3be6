import ChatDomain
import Columns
import EventJournal
import Locking
import Projections

// Orders that were not carried out before the store was opened, or that another process appended.

/// The erasures that an opening has to complete.
struct PendingErasures {
    /// Whether an order may be unfinished.
    var isUnfinished = false
    /// Whether a record still has content that an order concerns.
    ///
    /// If not, checkpoints or cut bytes may still have copies.
    var hasContent = false
    /// The erasures that the ledger lists and the history does not order.
    var missing: [ErasureRequest] = []
}

extension ChatStore {
    /// Hides the content that was erased by an order, or by the ledger, and that the log still has.
    ///
    /// - Parameter models: The state after all events of the log.
    static func hidePendingContent(in log: any CommitLog, _ models: borrowing StoreModels) throws(ChatError)
        -> PendingErasures
    {
        guard let log = log as? any ErasableLog else { return PendingErasures() }
        let erasedThrough = log.erasedThrough
        let last = models.rules.erasures.last ?? 0
        if let erasedThrough, last <= erasedThrough { return PendingErasures() }
        let ledger = try erasedThrough == nil ? ledger(of: log) : ErasureLedger()
        if last == 0, ledger.entries.isEmpty { return PendingErasures() }
        var orders = try orders(models.rules.erasures, after: erasedThrough ?? 0, in: log)
        let missing = try MissingOrders(ledger, besides: orders, in: models, of: log)
        orders.add(missing.orders)
        let others = models.readModels.otherConcernedUser
        let content = try ErasableContent(orders, in: 1...max(1, models.position), of: log, others: others)
        if !content.positions.isEmpty { log.setHiddenContent(content.positions) }
        return PendingErasures(isUnfinished: true, hasContent: !content.positions.isEmpty, missing: missing.requests)
    }

    /// Returns the content of a log that was erased by an order, or by the ledger, and that the log
    /// still has.
    ///
    /// The content of a read-only log is hidden then. A log that is open for writing belongs to a
    /// store, which has hidden it.
    ///
    /// - Complexity: That of an opening if there can be such content; otherwise reads at most the
    ///   records.
    static func pendingContent(of log: any ErasableLog) throws(ChatError) -> PositionSet {
        // Only the state of a store tells which events an order concerns.
        if log.isReadOnly, try canHaveErasedContent(log, through: log.durablePosition) {
            _ = try openReadOnly(log: log)
        }
        return log.hiddenContent
    }

    /// Whether a log may have content whose erasure is ordered, or listed in the ledger.
    static func canHaveErasedContent(_ log: any ErasableLog, through last: Position) throws(ChatError) -> Bool {
        let start = log.erasedThrough
        guard last > start ?? 0 else { return false }
        if start == nil, try !ledger(of: log).entries.isEmpty { return true }
        var isFound = false
        try log.readRecords(in: (start ?? 0) + 1...last) { _, _, kept, _ in
            let kind = kept.byteCount > 0 ? EventKind(rawValue: kept.byte(at: 0)) : nil
            isFound = kind == .userErased || kind == .contentErased
            return !isFound
        }
        return isFound
    }

    /// Whether files still have content that is hidden because its erasure is ordered.
    package var isErasureUnfinished: Bool { (log as? any ErasableLog).map { !$0.hiddenContent.isEmpty } ?? false }

    /// Reads the orders after a position.
    static func orders(
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

    /// Appends the orders that only the ledger has, carries out all orders that were found at the
    /// opening, and ends the roles that erased users still have.
    ///
    /// A failure is reported, and the next erasure or opening tries again.
    func complete(_ pending: PendingErasures, _ report: LogHandler?) {
        guard let log = log as? any ErasableLog, !log.isReadOnly, !decider.withLock({ $0.rules.hasUnknownEvents })
        else { return }
        do throws(ChatError) {
            if !pending.isUnfinished {
                try endRolesOfErasedUsers()
            } else if pending.missing.isEmpty {
                try finishErasures(orderedThrough: lastOrder, in: log)
                try endRolesOfErasedUsers()
            } else {
                try order(pending.missing, isRepetition: true, in: log)
            }
        } catch {
            report?(LogMessage(.error, "An erasure could not be completed: \(error)"))
        }
    }

    /// Applies erasures that another process has ordered: hides the content and rebuilds the
    /// models.
    ///
    /// The caller holds the lock of refreshes of a read-only store whose models end with the orders
    /// and do not show them yet.
    ///
    /// - Parameter end: The last position to show.
    func applyNewErasures(through end: Position) throws(ChatError) {
        guard let log = log as? any ErasableLog else { return }
        let others = withCurrentModels { models, _ in models }.otherConcernedUser
        // All that they concern: the writer may have replaced the files, and copies in memory
        // remain.
        let ordered = decider.withLock { $0.rules.erasures }
        let orders = try Self.orders(ordered, after: readSide.position, in: log)
        var rebuilt = StoreModels()
        if end > 0 {
            let content = try ErasableContent(orders, in: 1...end, of: log, includesErased: true, others: others)
            hideAndForget(content.positions, in: log)
            try Self.replay(log, 1...end, into: &rebuilt)
        }
        decider.withLock { decider in
            decider.rules = rebuilt.rules
            _ = readSide.replaceModels(rebuilt.readModels)
            publish(rebuilt.rules)
        }
        erasedPositions.advance()
    }
}
