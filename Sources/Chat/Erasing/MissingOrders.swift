import ChatDomain
import Columns
import EventJournal
import MerkleLog
import Projections

/// The erasures that a ledger lists and a history does not order.
///
/// The history is then an older copy, or a part of it was lost. An entry for events concerns a
/// position only if its leaf equals the listed one: the copy may have other events there. An entry
/// for a user concerns the user only if they registered before the order's time.
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
    /// - Complexity: O(*m* log *n*) in the entries, their events and the events of the log. Reads
    ///   the events that an entry names and no order does, and all events once if the registration
    ///   of a user is lost.
    init(
        _ ledger: ErasureLedger, besides ordered: ErasureOrders, in models: borrowing StoreModels,
        of log: any ErasableLog
    ) throws(ChatError) {
        // A ledger lists an order again after each restored copy.
        var claimed = Set<Position>()
        var claimedUsers = Set<UserID>()
        var unregistered: [UserID: ErasureLedger.Entry] = [:]
        let runs = models.readModels.runStarts
        func lastPosition(before entry: ErasureLedger.Entry) throws(ChatError) -> Position {
            try models.position == 0
                ? 0 : log.lastPosition(through: models.position, runs: runs) { $0 <= entry.recordedAt }
        }
        for entry in ledger.entries {
            if let user = entry.user {
                guard ordered.users[user] == nil, let index = models.readModels.identities.index(ofUser: user) else {
                    continue
                }
                guard index < models.rules.users.count, case let row = models.rules.users[index], row.registeredAt > 0
                else {
                    // The registration is lost. No order can name the user, but their other events
                    // exist.
                    unregistered[user] = unregistered[user] ?? entry
                    continue
                }
                guard !row.isErased, row.registeredAt <= (try lastPosition(before: entry))
                else { continue }
                if claimedUsers.insert(user).inserted { requests.append(.user(user, reason: entry.reason)) }
            } else if let positions = entry.positions, let leaves = entry.leaves {
                let missing = try Self.sameEvents(
                    positions, leaves, besides: ordered.positions, of: log, models.position
                )
                .filter { claimed.insert($0).inserted }
                if !missing.isEmpty {
                    requests.append(.positions(PositionSet(missing.map { $0...$0 }), reason: entry.reason))
                }
            }
        }
        if !unregistered.isEmpty {
            var ends: [UserID: Position] = [:]
            for (user, entry) in unregistered { ends[user] = try lastPosition(before: entry) }
            try addEvents(of: unregistered, until: ends, besides: ordered.positions, models, log)
        }
        orders.add(requests)
    }

    /// Returns those of an entry's events that the log has and no order names.
    private static func sameEvents(
        _ positions: PositionSet, _ leaves: [MerkleHash], besides ordered: PositionSet, of log: any ErasableLog,
        _ end: Position
    ) throws(ChatError) -> [Position] {
        guard let log = log as? any TreeLog, let first = positions.ranges.first, let last = positions.ranges.last,
            first.lowerBound <= end
        else { return [] }
        let known = ordered.clamped(to: first.lowerBound...last.upperBound)
        var same: [Position] = []
        var index = 0
        for position in positions.ranges.lazy.joined() {
            guard position <= end else { break }
            defer { index += 1 }
            if known.contains(position) { continue }
            let leaf = try wrappingErrors(of: log.disclosedRecord(at: position).leaf)
            if leaf == leaves[index] { same.append(position) }
        }
        return same
    }

    /// Adds the events of users whose registration the history does not have, up to the time of the
    /// order.
    private mutating func addEvents(
        of users: [UserID: ErasureLedger.Entry], until ends: [UserID: Position], besides ordered: PositionSet,
        _ models: borrowing StoreModels, _ log: any ErasableLog
    ) throws(ChatError) {
        let readModels = models.readModels
        var found: [UserID: PositionSet] = [:]
        try log.readRecords(in: 1...models.position) { position, _, kept, _ in
            // The rules have decoded the record before.
            guard !ordered.contains(position), let row = try? EventRow(kept: kept) else { return true }
            row.forEachConcernedUser(at: position, others: readModels.otherConcernedUser) { user in
                if let end = ends[user], position <= end { found[user, default: PositionSet()].append(position) }
            }
            return true
        }
        for (user, positions) in found.sorted(by: { $0.key < $1.key }) {
            guard let reason = users[user]?.reason else { continue }
            requests.append(.positions(positions, reason: reason))
        }
    }
}
