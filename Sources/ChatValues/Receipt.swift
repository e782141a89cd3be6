public import ChatDomain

/// The answer to an accepted command, returned once every event that it depends on is durable.
public struct Receipt: Sendable {
    /// The positions of the appended events; nil if the command's effect already held, or if its user
    /// has done the opposite after what the command names as seen.
    public var positions: ClosedRange<Position>? {
        count == 0 ? nil : firstPosition...firstPosition + Position(count - 1)
    }

    /// The position from which every query shows the command's effect.
    ///
    /// This is the last of ``positions``. If the command appended nothing, it is the position at
    /// which that was decided.
    public var position: Position { count == 0 ? firstPosition : firstPosition + Position(count - 1) }

    /// The events that the command appended; for a duplicate, the events of the original command.
    ///
    /// The events of a duplicate contain no text other than the text that this caller sent.
    ///
    /// - Complexity: O(*n*) in the number of events, at each call.
    public var events: [RecordedEvent] {
        zip(firstPosition..., appendedEvents).map {
            RecordedEvent(position: $0, event: $1, redacted: $0 == firstPosition ? redacted : [])
        }
    }

    /// Whether the same command had already used this id.
    public var isDuplicate: Bool

    /// 0 if a report reaches no user: its thread has no owner and no moderator, and the community
    /// has no operator; nil otherwise, also for any other command.
    ///
    /// Erased users do not count.
    public var moderatorCount: Int?

    private let firstPosition: Position
    private let appended: Appended
    /// The fields withheld from the caller of a duplicate.
    ///
    /// They apply to the first event only, because the other events of a creating command have no
    /// text.
    private let redacted: RedactedFields

    /// The events, built on demand because most callers never read them.
    private enum Appended: Sendable {
        case events([ChatEvent])
        /// A single event, whose text is in the request; it has no list.
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
        case .row(let row, let request):
            [ChatEvent(row, request.command.unindexedContent(of: row.kind), correlation: request.correlation)]
        }
    }

    /// Creates a receipt.
    ///
    /// - Parameters:
    ///   - events: The events that the command appended; empty if its effect already held.
    ///   - first: The position of the first event; without events, the position at which the effect
    ///     already held.
    ///   - isDuplicate: Whether the same command had already used this id.
    public init(events: [ChatEvent] = [], from first: Position = 0, isDuplicate: Bool = false) {
        appended = .events(events)
        self.firstPosition = first
        self.isDuplicate = isDuplicate
        redacted = []
    }

    /// Creates the receipt of a command from its rows in a batch.
    package init(_ rows: Range<Int>, of batch: borrowing EventBatch, _ request: CommandRequest) {
        let row = batch.rows[rows.lowerBound]
        let isInRequest = rows.count == 1 && row.kind?.form.isIndexed == false && !row.hasMentions
        appended = isInRequest ? .row(row, request) : .events(batch.events(rows, of: request))
        firstPosition = batch.position(rows.lowerBound)
        isDuplicate = false
        redacted = []
    }

    /// Creates the receipt of a duplicate from the original events, redacted for the caller.
    package init(duplicateOf events: [RecordedEvent]) {
        appended = .events(events.map(\.event))
        firstPosition = events.first?.position ?? 0
        isDuplicate = true
        redacted = events.first?.redacted ?? []
    }
}

extension Receipt: Hashable {
    /// Whether two receipts have equal events, equal ``isDuplicate`` and equal ``moderatorCount``.
    public static func == (first: Receipt, second: Receipt) -> Bool {
        first.isDuplicate == second.isDuplicate && first.moderatorCount == second.moderatorCount
            && first.events == second.events
    }

    /// Hashes ``events`` and ``isDuplicate``.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(isDuplicate)
        hasher.combine(events)
    }
}

extension Receipt: Codable {
    private enum CodingKeys: String, CodingKey {
        case positions, events
        case isDuplicate = "duplicate"
        case moderatorCount = "moderators"
    }

    /// Encodes `{"positions":[12,12],"events":[...],"duplicate":false}`; absent positions are null.
    ///
    /// ``moderatorCount`` is `"moderators":0`, or absent if it is nil.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(positions.map { [$0.lowerBound, $0.upperBound] }, forKey: .positions)
        try container.encode(events, forKey: .events)
        try container.encode(isDuplicate, forKey: .isDuplicate)
        try container.encodeIfPresent(moderatorCount, forKey: .moderatorCount)
    }

    /// Decodes the form that `encode(to:)` writes; without events, ``position`` is 0.
    ///
    /// - Throws: `DecodingError`, also if the positions are not those of the events.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let events = try container.decode([RecordedEvent].self, forKey: .events)
        let positions = try container.decodeIfPresent([Position].self, forKey: .positions)
        let first = events.first?.position ?? 0
        let expected = first > .max / 2 ? [] : zip(first..., events).map(\.0)
        guard events.map(\.position) == expected, positions == expected.last.map({ [first, $0] }),
            events.dropFirst().allSatisfy(\.redacted.isEmpty)
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .positions, in: container, debugDescription: "the positions are not those of the events")
        }
        firstPosition = first
        appended = .events(events.map(\.event))
        redacted = events.first?.redacted ?? []
        isDuplicate = try container.decode(Bool.self, forKey: .isDuplicate)
        moderatorCount = try container.decodeIfPresent(Int.self, forKey: .moderatorCount)
    }
}

// The ids of what the command created, including ids made by the store.

extension Receipt {
    /// The registered user; nil for any other command.
    public var user: UserID? { createdID(.userRegistered) { $0.userID } }

    /// The opened thread, also a direct one; nil for any other command.
    public var thread: ThreadID? {
        createdID(.threadOpened) { $0.relatedThreadID } ?? createdID(.directOpened) { $0.relatedThreadID }
    }

    /// The posted message; nil for any other command.
    public var message: MessageID? { createdID(.messagePosted) { $0.messageID } }

    /// The posted reply; nil for any other command.
    public var reply: ReplyID? { createdID(.replyPosted) { $0.replyID } }

    /// The edit; nil for any other command, and for a duplicate of one of an earlier version.
    public var edit: EditID? { createdID(.messageEdited) { $0.editID } ?? createdID(.replyEdited) { $0.editID } }

    /// The custom event; nil for any other command.
    public var customEvent: CustomEventID? { createdID(.custom) { $0.customEventID } }

    /// The started session; nil for any other command.
    public var session: SessionID? { createdID(.sessionStarted) { $0.sessionID } }

    /// Returns the id that the closure takes from the appended event of a kind.
    private func createdID<ID>(_ kind: EventKind, _ id: (EventRow) -> ID?) -> ID? {
        appendedEvents.first { $0.kind == kind }.flatMap { id($0.row) }
    }
}
