import ChatDomain
import EventJournal
import Projections

/// Compares the orders of erasures and the ledgers with the records: each record that an order
/// concerns has lost its content, and no other record is an erased one.
struct ErasureVerification {
    private var orders = ErasureOrders()
    /// The records in the states `erased` and `reserved`; no erasure makes the second.
    private var erased = PositionSet()
    /// The records in the state `withheld`.
    private var withheld = PositionSet()

    /// Adds the next event.
    mutating func add(_ event: ChatEvent, _ state: RecordContentState, at position: Position) {
        orders.add(event, at: position)
        switch state {
        case .whole: break
        case .erased, .reserved: erased.append(position)
        case .withheld: withheld.append(position)
        }
    }

    /// Returns the differences, and the number of records whose content is withheld without an
    /// order.
    ///
    /// - Parameters:
    ///   - log: It hides what it still has and may not be shown.
    ///   - models: The state after all records.
    ///   - own: The ledger beside the journal. It stands for the orders that an older copy lacks.
    ///   - other: A ledger from another place.
    /// - Complexity: O(*n*) in the number of records if there is an order, otherwise in the number
    ///   of those without content.
    func result(
        _ log: any ErasableLog, _ models: borrowing StoreModels, _ own: ErasureLedger, _ other: ErasureLedger
    ) throws(ChatError) -> (findings: [JournalFinding], withheldCount: UInt64) {
        let readModels = models.readModels
        func content(_ orders: ErasureOrders) throws(ChatError) -> PositionSet {
            try ErasableContent(orders, in: 1...max(1, models.position), of: log, others: readModels.otherConcernedUser)
                .positions
        }
        var known = orders
        known.add(try MissingOrders(own, besides: known, in: models, of: log).orders)
        // The journal does not deliver what it hides.
        var unfinished = try content(known)
        unfinished.formUnion(log.hiddenContent)
        var findings = unfinished.ranges.map { range in
            JournalFinding(
                "erasureUnfinished",
                "an erasure is ordered, and the files still have the content; open the journal for writing to complete it",
                positions: range)
        }
        let listed = try MissingOrders(other, besides: known, in: models, of: log).orders
        findings += try content(listed).ranges.map { range in
            JournalFinding(
                "ledgerContentPresent", "the ledger lists the content as erased, and the journal has it",
                positions: range)
        }
        known.add(listed)
        findings += try notConcerned(erased, by: known, log, readModels).ranges.map { range in
            JournalFinding("stubWithoutErasure", "the content is erased, but no event orders it", positions: range)
        }
        return (findings, try notConcerned(withheld, by: known, log, readModels).count)
    }

    /// Returns the records that no order concerns.
    private func notConcerned(
        _ positions: PositionSet, by orders: ErasureOrders, _ log: any ErasableLog, _ models: ReadModels
    ) throws(ChatError) -> PositionSet {
        var rest = PositionSet()
        for range in positions.ranges {
            try log.readRecords(in: range) { position, _, kept, _ in
                // A record that does not decode is a finding of its own.
                guard let row = try? EventRow(kept: kept) else { return true }
                if !orders.concern(row, at: position, others: models.otherConcernedUser) { rest.append(position) }
                return true
            }
        }
        return rest
    }
}
