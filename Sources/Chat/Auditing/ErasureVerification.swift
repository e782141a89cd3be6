import ChatDomain
import EventJournal

/// Compares the orders of erasures with the records: each record that an order concerns has lost its
/// content, and no other record is an erased one.
struct ErasureVerification {
    private var orders = ErasureOrders()
    /// The records in the states `erased` and `sealed`; no erasure makes the second.
    private var erased = PositionSet()
    /// The records in the state `withheld`.
    private var withheld = PositionSet()

    /// Adds the next event.
    mutating func add(_ event: ChatEvent, _ state: RecordContentState, at position: Position) {
        orders.add(event, at: position)
        switch state {
        case .whole: break
        case .erased, .sealed: erased.append(position)
        case .withheld: withheld.append(position)
        }
    }

    /// Returns the differences, and the number of records whose content is withheld without an
    /// order.
    ///
    /// - Parameter unfinished: The records that an order concerns and whose content the files still
    ///   have; the journal hides it.
    /// - Complexity: O(*n*) in the number of records without content.
    func result(
        _ journal: Journal, _ identities: Identities, unfinished: PositionSet
    ) throws(ChatError) -> (findings: [JournalFinding], withheldCount: UInt64) {
        let open = unfinished.ranges.map { range in
            JournalFinding(
                "erasureUnfinished",
                "an erasure is ordered, and the files still have the content; open the journal for writing to complete it",
                positions: range)
        }
        let stubs = try unordered(erased, journal, identities).ranges.map { range in
            JournalFinding("stubWithoutErasure", "the content is erased, but no event orders it", positions: range)
        }
        return (open + stubs, try unordered(withheld, journal, identities).count)
    }

    /// Returns the records that no order concerns.
    private func unordered(_ positions: PositionSet, _ journal: Journal, _ identities: Identities) throws(ChatError) -> PositionSet {
        var unordered = PositionSet()
        for range in positions.ranges {
            try wrappingJournalErrors { () throws(JournalError) in
                try journal.forEachRecord(in: range) { position, _, kept, _ in
                    // A record that does not decode is a finding of its own.
                    guard let row = try? EventRow(kept: kept) else { return true }
                    if !orders.concern(row, at: position, author: { identities.author(ofPostRemovedBy: $0) }) { unordered.append(position) }
                    return true
                }
            }
        }
        return unordered
    }
}
