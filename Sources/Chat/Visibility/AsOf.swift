public import ChatDomain

/// The point in the history that a query reads as of.
public enum AsOf: Hashable, Sendable {
    /// The last durable position at the time of the query.
    case now
    /// After the event at this position; 0 is before the first event. The position may be inside a
    /// commit.
    case position(Position)
    /// The last event recorded at or before this time.
    case time(Timestamp)
}
