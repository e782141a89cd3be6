import ChatDomain
import EventJournal

/// Compares the orders of erasures with the records: each record that an order concerns has lost its
/// content, and no other record is an erased one.
struct ErasureVerification {
    private var orders = ErasureOrders()
    /// The records in the state `erased`.
    private var erased = PositionSet()

    /// Adds the next event.
    mutating func add(_ event: ChatEvent, _ state: RecordContentState, at position: Position) {
        orders.add(event, at: position)
        if state == .erased { erased.append(position) }
    }

    /// Returns the differences.
    ///
    /// - Complexity: O(1) without erasures; otherwise O(*n*) in the events up to the position.
    func findings(_ journal: Journal, _ identities: Identities, through last: Position) throws(ChatError) -> [JournalFinding] {
        if last == 0 || orders.isEmpty && erased.isEmpty { return [] }
        let content = try ErasableContent(orders, in: 1...last, of: journal) { identities.author(ofPostRemovedBy: $0) }
        let unfinished = content.positions.ranges.map { range in
            JournalFinding(
                "erasureUnfinished",
                "an erasure is ordered, and the files still have the content; open the journal for writing to complete it",
                positions: range)
        }
        return try unfinished + unorderedStubs(journal, identities)
    }

    private func unorderedStubs(_ journal: Journal, _ identities: Identities) throws(ChatError) -> [JournalFinding] {
        var unordered = PositionSet()
        for range in erased.ranges {
            try wrappingJournalErrors { () throws(JournalError) in
                try journal.forEachRecord(in: range) { position, _, kept, _ in
                    // A record that does not decode is a finding of its own.
                    guard let row = try? EventRow(kept: kept) else { return true }
                    if !orders.concern(row, at: position, author: { identities.author(ofPostRemovedBy: $0) }) { unordered.append(position) }
                    return true
                }
            }
        }
        return unordered.ranges.map { range in
            JournalFinding("stubWithoutErasure", "the content is erased, but no event orders it", positions: range)
        }
    }
}
