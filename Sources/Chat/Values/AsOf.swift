public import ChatDomain

/// The moment of which a query asks: what came later is not seen.
public enum AsOf: Hashable, Sendable {
    /// As it is: up to the last durable position.
    case now
    /// As it was once the event at this position was durable; 0 for the time before the first.
    case position(Position)
    /// As it was at a time: up to the last event that was recorded then or earlier.
    case time(Timestamp)
}
