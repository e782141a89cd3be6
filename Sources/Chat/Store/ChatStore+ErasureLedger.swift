import ChatDomain
import Columns
import EventJournal
import Locking

// The ledger of erasures beside the log, and its entries for the orders of a history.

extension ChatStore {
    /// Returns the erasures that were ordered after a position, with the events that have lost
    /// their content, for another system that has copies of them.
    ///
    /// For the host: no viewer's rights apply. ``ErasureLedger/Entry/positions`` has the events,
    /// also for the erasure of a user. An entry has no leaves.
    ///
    /// - Throws: ``ChatError`` if a record cannot be read or decoded.
    /// - Complexity: O(*n*) in the events up to the last order.
    public func erasures(after position: Position = 0) throws(ChatError) -> [ErasureLedger.Entry] {
        _ = applyDurableEvents()
        let orders = decider.withLock { $0.rules.erasures }
        var entries = try Self.entries(of: orders.indices.map { orders[$0] }.filter { $0 > position }, in: log)
        var erased = [PositionSet](repeating: PositionSet(), count: entries.count)
        let users = Dictionary(entries.indices.compactMap { index in entries[index].user.map { ($0, index) } }) {
            first, _ in first
        }
        guard !users.isEmpty, let last = entries.last?.position else { return entries }
        let models = withCurrentModels { models, _ in models }
        try log.readRecords(in: 1...last) { position, state, kept, _ in
            // The rules have decoded the record before.
            guard state != .whole, let row = try? EventRow(kept: kept) else { return true }
            row.forEachConcernedUser(at: position, others: models.otherConcernedUser) { user in
                if let index = users[user], position < entries[index].position { erased[index].append(position) }
            }
            return true
        }
        for index in users.values { entries[index].positions = erased[index] }
        return entries
    }

    /// Returns the users whose erasure the ledger lists, also those that the history lacks.
    ///
    /// A history lacks them if it is an older copy, from before their registration. Blocks the
    /// thread.
    ///
    /// - Throws: ``ChatError/journal(_:)``, with `ledgerDamaged` if the ledger was changed or cut
    ///   off.
    /// - Complexity: O(*n*) in the entries of the ledger.
    package func usersErasedByLedger() throws(ChatError) -> Set<UserID> {
        guard let log = log as? any ErasableLog else { return [] }
        return Set(try Self.ledger(of: log).entries.compactMap(\.user))
    }

    /// Reads the ledger of a log; empty if there is none.
    ///
    /// - Throws: ``ChatError/journal(_:)`` with `ledgerDamaged` if it was changed or cut off.
    static func ledger(of log: any ErasableLog) throws(ChatError) -> ErasureLedger {
        try ledger(try wrappingErrors(of: log.readLedger()))
    }

    /// Parses a ledger; nil is the empty one.
    static func ledger(_ bytes: [UInt8]?) throws(ChatError) -> ErasureLedger {
        guard let bytes else { return ErasureLedger() }
        let problem: String
        do throws(ProofTextError) {
            if let text = String(validating: bytes, as: UTF8.self) { return try ErasureLedger(parsing: text) }
            problem = "it is not UTF-8"
        } catch {
            problem = "\(error)"
        }
        throw .journal(
            JournalError(
                .ledgerDamaged,
                "The file 'ledger' of the journal, which lists erasures, is damaged: \(problem). Put a copy of it in its place. "
                    + "Only if the journal is not an older copy, remove it: the next opening makes it again."))
    }

    /// Adds the orders of the history to the ledger of a log with a tree.
    func listOrders(in log: any ErasableLog) throws(ChatError) {
        guard let tree = log as? any TreeLog else { return }
        let former = try Self.ledger(of: log)
        var ledger = former
        let orders = decider.withLock { $0.rules.erasures }
        let known = Set(former.entries.map(\.withoutLeaves))
        var entries = try Self.entries(of: orders.indices.map { orders[$0] }, in: log).filter { !known.contains($0) }
        for index in entries.indices {
            guard let positions = entries[index].positions else { continue }
            entries[index].leaves = try wrappingJournalErrors { () throws(JournalError) in
                try positions.ranges.joined().map { position throws(JournalError) in
                    try tree.disclosedRecord(at: position).leaf
                }
            }
        }
        ledger.add(entries)
        guard ledger != former else { return }
        try wrappingErrors(of: log.writeLedger(Array(ledger.text.utf8)))
    }

    /// Returns the entries for the orders at some positions, without leaves.
    private static func entries(of orders: [Position], in log: any CommitLog) throws(ChatError) -> [ErasureLedger.Entry]
    {
        var entries: [ErasureLedger.Entry] = []
        for position in orders {
            try forEachDecodedEvent(log, position...position, contents: .all) { event, position in
                entries.append(ErasureLedger.Entry(event, at: position))
                return true
            }
        }
        return entries
    }
}

extension ErasureLedger.Entry {
    /// The entry apart from the leaves.
    fileprivate var withoutLeaves: ErasureLedger.Entry {
        var entry = self
        entry.leaves = nil
        return entry
    }

    /// Creates the entry of an order, without leaves.
    fileprivate init(_ order: ChatEvent, at position: Position) {
        self.init(
            position: position, recordedAt: order.recordedAt, user: order.user, positions: order.erasedPositions,
            reason: order.reason ?? "")
    }
}
