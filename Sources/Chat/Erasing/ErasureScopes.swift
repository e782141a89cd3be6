import ChatDomain
import EventJournal
import Projections

/// The events that one order of an erasure concerns.
struct ErasureScope: Sendable {
    /// The position of the order.
    let order: Position
    /// The users whose content or name is erased.
    private(set) var subjects: Set<UserID> = []
    /// The events that the order concerns, also those that never had content, and every event of
    /// the subjects: they tell who could be shown a name.
    private(set) var positions = PositionSet()
    /// The threads of the events.
    private(set) var threads: Set<ThreadID> = []
    /// The users whom the events name.
    private(set) var users: Set<UserID> = []
    /// The users whose text about them is erased.
    private(set) var profiles: Set<UserID> = []

    /// Finds the events of an order.
    ///
    /// - Parameter others: As for ``ErasureOrders/concern(_:at:others:)``.
    /// - Complexity: O(*n*) in the events before the order if it erases a user or a name, otherwise
    ///   in the events that it names, without decoding content.
    init(_ order: RecordedEvent, of log: any CommitLog, others: (EventRow, Position) -> UserID?) throws(ChatError) {
        self.order = order.position
        guard order.position > 1 else { return }
        let history = 1...order.position - 1
        var orders = ErasureOrders()
        orders.add(order.event, at: order.position)
        if let user = order.user {
            subjects = [user]
        } else {
            let ranges = orders.positions.clamped(to: history).ranges
            try add(ranges, orders, log, others)
            if subjects.isEmpty { return }
            orders.add(subjects.map { .user($0, reason: "") })
            positions = PositionSet()
        }
        try add([history], orders, log, others)
    }

    private mutating func add(
        _ ranges: [ClosedRange<Position>], _ orders: ErasureOrders, _ log: any CommitLog,
        _ others: (EventRow, Position) -> UserID?
    ) throws(ChatError) {
        for range in ranges {
            try log.readRecords(in: range) { position, state, kept, _ in
                // The rules have decoded the record before.
                guard let row = try? EventRow(kept: kept), orders.concern(row, at: position, others: others) else {
                    return true
                }
                positions.append(position)
                if row.thread != 0 { threads.insert(ThreadID(bits: row.thread)) }
                row.forEachConcernedUser(at: position, others: others) { users.insert($0) }
                switch row.kind {
                case .userBlocked, .userUnblocked: users.insert(UserID(bits: row.secondID))
                case .profileSet: if state != .whole { profiles.insert(UserID(bits: row.user)) }
                case .userRegistered, .usernameChanged: if state != .whole { subjects.insert(UserID(bits: row.user)) }
                default: break
                }
                return true
            }
        }
    }
}

/// An event that an order of an erasure concerns.
struct ConcernedEvent {
    let position: Position
    let event: ChatEvent
    let hasLostContent: Bool
}

/// The scopes of the latest orders that followers asked for, shared by all of them.
struct ErasureScopes {
    private static let capacity = 4
    private var scopes: [ErasureScope] = []

    /// Returns the scope of an order, found by the closure if it is not kept.
    mutating func scope(of order: Position, _ find: () throws(ChatError) -> ErasureScope) throws(ChatError)
        -> ErasureScope
    {
        if let known = scopes.first(where: { $0.order == order }) { return known }
        let scope = try find()
        if scopes.count == Self.capacity { scopes.removeFirst() }
        scopes.append(scope)
        return scope
    }
}
