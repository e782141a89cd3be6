import ChatDomain
import Columns
import EventJournal
import Projections

/// The erasures that a ledger lists and a history does not order.
///
/// The history is then an older copy, or a file of it was lost. An entry concerns only events that
/// were recorded before its order, because a copy that was in use since has other events at later
/// positions.
struct MissingOrders {
    /// The orders to append.
    private(set) var requests: [ErasureRequest] = []
    /// What they concern.
    private(set) var orders = ErasureOrders()

    /// Compares a ledger with a history.
    ///
    /// - Parameters:
    ///   - ordered: The orders of the history.
    ///   - models: The state after all events of the log.
    /// - Complexity: O(*m* log *n*) in the entries and events, with O(log *n*) reads for each entry
    ///   that is missing or names events.
    init(
        _ ledger: ErasureLedger, besides ordered: ErasureOrders, in models: borrowing StoreModels, of log: any ErasableLog
    ) throws(ChatError) {
        for entry in ledger.entries {
            if let user = entry.user {
                guard orders.users[user] == nil, let index = models.models.identities.index(ofUser: user),
                    index < models.rules.users.count, case let row = models.rules.users[index], row.registeredAt > 0, !row.isErased,
                    row.registeredAt <= (try Self.lastPosition(recordedBy: entry.recordedAt, of: log, models.position))
                else { continue }
                add(.user(user, reason: entry.reason))
            } else if let positions = entry.positions, let first = positions.ranges.first?.lowerBound, first <= models.position {
                guard try Self.leaf(at: first, of: log) == entry.leaf else { continue }
                let last = try Self.lastPosition(recordedBy: entry.recordedAt, of: log, models.position)
                let missing = positions.clamped(to: 1...max(1, last)).subtracting(ordered.positions).subtracting(orders.positions)
                if last > 0, !missing.isEmpty { add(.positions(missing, reason: entry.reason)) }
            }
        }
    }

    private mutating func add(_ request: ErasureRequest) {
        requests.append(request)
        orders.add(request)
    }

    private static func leaf(at position: Position, of log: any ErasableLog) throws(ChatError) -> MerkleHash? {
        guard let log = log as? any TreeLog else { return nil }
        return try wrappingJournalErrors { () throws(JournalError) in try log.disclosedRecord(at: position).leaf }
    }

    /// Returns the position of the last event that was recorded at a time or before; 0 for none.
    private static func lastPosition(recordedBy time: Timestamp, of log: any CommitLog, _ end: Position) throws(ChatError) -> Position {
        // The times do not decrease along a history.
        var (first, next) = (Position(1), end + 1)
        while first < next {
            let middle = first + (next - first) / 2
            var recordedAt: Result<Timestamp, ChatError>?
            try wrappingJournalErrors { () throws(JournalError) in
                try log.forEachRecord(in: middle...middle) { position, _, kept, _ in
                    recordedAt = Result { () throws(EventDecodingError) in try EventRow(kept: kept).recordedAt }
                        .mapError { .undecodable(position: position, $0) }
                    return true
                }
            }
            let isLater = try recordedAt.map { recorded throws(ChatError) in try recorded.get() > time } ?? false
            if isLater { next = middle } else { first = middle + 1 }
        }
        return first - 1
    }
}
