public import ChatDomain

/// The answer to a command that was not refused: given once everything that it rests on is durable.
public struct Receipt: Hashable, Sendable {
    /// The positions of the events, nil where nothing was appended because the command's effect held already.
    public var positions: ClosedRange<Position>?

    /// The events that the command appended; for a duplicate those that it appended the first time.
    public var events: [RecordedEvent]

    /// Whether the id had been used by the same command before.
    public var duplicate: Bool

    /// Makes a receipt.
    public init(positions: ClosedRange<Position>?, events: [RecordedEvent], duplicate: Bool) {
        self.positions = positions
        self.events = events
        self.duplicate = duplicate
    }
}

extension Receipt: Encodable {
    private enum CodingKeys: CodingKey { case positions, events, duplicate }

    /// Writes `{"positions":[12,12],"events":[...],"duplicate":false}`; the positions are null where nothing was appended.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(positions.map { [$0.lowerBound, $0.upperBound] }, forKey: .positions)
        try container.encode(events, forKey: .events)
        try container.encode(duplicate, forKey: .duplicate)
    }
}
