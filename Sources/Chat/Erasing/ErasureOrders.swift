import ChatDomain
import Columns
import EventJournal
import Projections

/// The orders of erasures in a history, and the events that they concern.
struct ErasureOrders {
    /// The users whose content is erased, each with the position of the order.
    private(set) var users: [UserID: Position] = [:]
    /// The events whose content is erased.
    private(set) var positions = PositionSet()

    /// Whether there is no order.
    var isEmpty: Bool { users.isEmpty && positions.isEmpty }

    /// Adds an event, if it orders an erasure.
    mutating func add(_ event: ChatEvent, at position: Position) {
        switch (event.kind, event.user) {
        case (.userErased, let user?): add(user, orderedAt: position)
        case (.contentErased, _): positions.formUnion(event.erasedPositions ?? PositionSet())
        default: break
        }
    }

    /// Adds the erasure of the content of a user up to a position.
    private mutating func add(_ user: UserID, orderedAt position: Position) {
        users[user] = max(users[user] ?? 0, position)
    }

    /// Adds orders that are not in the history yet; that of a user concerns all events so far.
    mutating func add(_ requests: [ErasureRequest]) {
        var ranges = positions.ranges
        for request in requests {
            switch request {
            case .user(let user, _): add(user, orderedAt: .max)
            case .positions(let positions, _): ranges += positions.ranges
            }
        }
        positions = PositionSet(ranges)
    }

    /// Adds the orders of another history.
    mutating func add(_ other: ErasureOrders) {
        for (user, position) in other.users { add(user, orderedAt: position) }
        positions.formUnion(other.positions)
    }

    /// Whether an order concerns an event.
    ///
    /// - Parameter others: Returns another user whom an event concerns:
    ///   ``Projections/ReadModels/otherConcernedUser(by:at:)``.
    func concern(_ event: EventRow, at position: Position, others: (EventRow, Position) -> UserID?) -> Bool {
        if positions.contains(position) { return true }
        if users.isEmpty { return false }
        var isConcerned = false
        event.forEachConcernedUser(at: position, others: others) { user in
            if let order = users[user], position <= order { isConcerned = true }
        }
        return isConcerned
    }
}

extension EventRow {
    /// Calls the body with each user whose erasure concerns the event: they caused it, or it is
    /// about them.
    ///
    /// - Parameter others: As for ``ErasureOrders/concern(_:at:others:)``.
    func forEachConcernedUser(at position: Position, others: (EventRow, Position) -> UserID?, _ body: (UserID) -> Void)
    {
        guard kind?.form.namesUser == true else { return }
        body(UserID(bits: user))
        if kind?.form.hasOtherActor == true {
            body(UserID(bits: otherActor))
        } else if let other = others(self, position) {
            body(other)
        }
    }
}

/// The events of a log that orders of erasures concern and whose content the log still has.
struct ErasableContent {
    private(set) var positions = PositionSet()
    private var includesErased = false
    /// Whether the rules or the read models index the content of any of the events.
    private(set) var isIndexed = false

    /// No content.
    init() {}

    /// Searches a range of positions.
    ///
    /// - Parameters:
    ///   - includesErased: Whether to find events too that have lost their content.
    ///   - others: As for ``ErasureOrders/concern(_:at:others:)``.
    /// - Complexity: O(*n*) in the number of positions, without decoding content.
    init(
        _ orders: ErasureOrders, in range: ClosedRange<Position>, of log: any CommitLog, includesErased: Bool = false,
        others: (EventRow, Position) -> UserID?
    ) throws(ChatError) {
        self.includesErased = includesErased
        if orders.users.isEmpty {
            for part in orders.positions.clamped(to: range).ranges { try search(orders, part, log, others) }
        } else {
            try search(orders, range, log, others)
        }
    }

    mutating func add(_ other: ErasableContent) {
        positions.formUnion(other.positions)
        isIndexed = isIndexed || other.isIndexed
    }

    private mutating func search(
        _ orders: ErasureOrders, _ range: ClosedRange<Position>, _ log: any CommitLog,
        _ others: (EventRow, Position) -> UserID?
    ) throws(ChatError) {
        var undecodable: ChatError?
        try log.readRecords(in: range) { position, state, kept, erasable in
            guard state == .whole && erasable.byteCount > 0 || includesErased else { return true }
            do throws(EventDecodingError) {
                let row = try EventRow(kept: kept)
                guard orders.concern(row, at: position, others: others) else { return true }
                positions.append(position)
                if row.kind?.form.isIndexed ?? true { isIndexed = true }
                return true
            } catch {
                undecodable = .undecodable(position: position, error)
                return false
            }
        }
        if let undecodable { throw undecodable }
    }
}

extension ReadModels {
    /// Returns another user than those whom an event names, whose erasure concerns it: the author
    /// of the post that it removes, or the opener of the direct thread whose opening it belongs to.
    func otherConcernedUser(by event: EventRow, at position: Position) -> UserID? {
        switch event.kind {
        case .messageRemoved, .replyRemoved: event.post.flatMap { authorID(of: $0) }
        case .threadJoined: opener(ofJoinAt: position, in: ThreadID(bits: event.thread))
        default: nil
        }
    }
}
