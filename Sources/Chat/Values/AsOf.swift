public import ChatDomain

/// The point in the history that a query reads as of.
public enum AsOf: Hashable, Sendable {
    /// The present: the last durable position.
    case now
    /// Right after the event at this position became durable; 0 precedes the first event.
    case position(Position)
    /// The last event recorded at or before this time.
    case time(Timestamp)
}
