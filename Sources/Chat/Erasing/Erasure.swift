public import ChatDomain
import Primitives

/// The result of an erasure, which an event of the journal orders.
public struct Erasure: Hashable, Sendable {
    /// The user whose content was erased; nil if the order names events.
    public var user: UserID?
    /// The events whose content this call removed, those of an earlier unfinished erasure included.
    public var positions: PositionSet
    /// The reason of the order.
    public var reason: String
    /// The positions of the events that order the erasure; nil if there was no content to erase, or
    /// the user had been erased before.
    public var orders: ClosedRange<Position>?
    /// The head of the history after the order.
    public var head: JournalHead

    /// Creates a result.
    public init(
        user: UserID?, positions: PositionSet, reason: String, orders: ClosedRange<Position>?, head: JournalHead
    ) {
        self.user = user
        self.positions = positions
        self.reason = reason
        self.orders = orders
        self.head = head
    }
}

extension Erasure: Encodable {
    private enum CodingKeys: AbsentAsNullKey { case user, positions, reason, head, orders }
}
