public import ChatDomain

/// The answer to a command that was not refused: given once everything that it rests on is durable.
public struct Receipt: Sendable {
    /// The positions of the events, nil where nothing was appended because the command's effect held already.
    public var positions: ClosedRange<Position>? {
        count == 0 ? nil : first...first + Position(count - 1)
    }

    /// The position from which on every query shows the command's effect.
    ///
    /// The last of ``positions``; where nothing was appended, the position at which the effect held already.
    public var position: Position { count == 0 ? first : first + Position(count - 1) }

    /// The events that the command appended; for a duplicate those that it appended the first time, with no text but what this caller sent.
    ///
    /// - Complexity: O(*n*) in their number, at each call.
    public var events: [RecordedEvent] {
        zip(first..., appendedEvents).map { RecordedEvent(position: $0, event: $1, redacted: $0 == first ? redacted : []) }
    }

    /// Whether the id had been used by the same command before.
    public var isDuplicate: Bool

    private let first: Position
    private let appended: Appended
    /// What is kept from the caller of a duplicate; of the events of a command that creates something only the first has text.
    private let redacted: RedactedFields

    /// The events, which most callers never read.
    private enum Appended: Sendable {
        case events([ChatEvent])
        /// One event, whose text is that of the request.
        case row(EventRow, CommandRequest)
    }

    private var count: Int {
        switch appended {
        case .events(let events): events.count
        case .row: 1
        }
    }

    private var appendedEvents: [ChatEvent] {
        switch appended {
        case .events(let events): events
        case .row(let row, let request): [ChatEvent(row, request.command.text(of: row.kind), correlation: request.correlation)]
        }
    }

    /// Makes a receipt.
    ///
    /// - Parameters:
    ///   - events: What the command appended, none where its effect held already.
    ///   - first: The position of the first of them; without events, the position at which the effect held already.
    ///   - isDuplicate: Whether the id had been used by the same command before.
    public init(events: [ChatEvent] = [], from first: Position = 0, isDuplicate: Bool = false) {
        appended = .events(events)
        self.first = first
        self.isDuplicate = isDuplicate
        redacted = []
    }

    /// Makes the receipt of a command whose events are some rows of a batch.
    init(_ rows: Range<Int>, of batch: borrowing EventBatch, _ request: CommandRequest) {
        let row = batch.rows[rows.lowerBound]
        appended = rows.count == 1 && row.kind?.isIndexed == false ? .row(row, request) : .events(batch.events(rows, of: request))
        first = batch.position(rows.lowerBound)
        isDuplicate = false
        redacted = []
    }

    /// Makes the receipt of a command that came again, from the events of the first time as the caller is shown them.
    init(duplicateOf events: [RecordedEvent]) {
        appended = .events(events.map(\.event))
        first = events.first?.position ?? 0
        isDuplicate = true
        redacted = events.first?.redacted ?? []
    }
}

extension Receipt: Hashable {
    /// Whether two receipts have the same events and are duplicates alike.
    public static func == (first: Receipt, second: Receipt) -> Bool {
        first.isDuplicate == second.isDuplicate && first.events == second.events
    }

    /// Hashes what a receipt says.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(isDuplicate)
        hasher.combine(events)
    }
}

extension Receipt: Encodable {
    private enum CodingKeys: String, CodingKey {
        case positions, events
        case isDuplicate = "duplicate"
    }

    /// Writes `{"positions":[12,12],"events":[...],"duplicate":false}`; the positions are null where nothing was appended.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(positions.map { [$0.lowerBound, $0.upperBound] }, forKey: .positions)
        try container.encode(events, forKey: .events)
        try container.encode(isDuplicate, forKey: .isDuplicate)
    }
}

/// What the command created, nil if it created nothing of the kind: the ids that the store made are found here.
extension Receipt {
    /// The user who was registered.
    public var user: UserID? { first { if case .userRegistered(let details) = $0 { details.user } else { nil } } }

    /// The thread that was opened.
    public var thread: ThreadID? { first { if case .threadOpened(let details) = $0 { details.thread } else { nil } } }

    /// The message that was posted.
    public var message: MessageID? { first { if case .messagePosted(let details) = $0 { details.message } else { nil } } }

    /// The reply that was posted.
    public var reply: ReplyID? { first { if case .replyPosted(let details) = $0 { details.reply } else { nil } } }

    /// The session that was started.
    public var session: SessionID? { first { if case .sessionStarted(let details) = $0 { details.session } else { nil } } }

    private func first<ID>(_ id: (EventDetails) -> ID?) -> ID? {
        for event in appendedEvents { if let found = id(event.details) { return found } }
        return nil
    }
}
