/// An event and its position in the journal.
public struct RecordedEvent: Hashable, Sendable {
    /// The event's number in its journal.
    public var position: Position
    /// What happened.
    public var event: ChatEvent
    /// The fields that exist in the journal and are kept from the reader; empty in the operator's raw form.
    public var redacted: RedactedFields

    /// Joins an event and its position.
    public init(position: Position, event: ChatEvent, redacted: RedactedFields = []) {
        self.position = position
        self.event = event
        self.redacted = redacted
    }
}

/// What is asked of an event most, without the step in between.
extension RecordedEvent {
    /// The kind of the event; nil for one that this version does not know.
    public var kind: EventKind? { event.kind }
    /// The kept part of the event: its kind and its ids, numbers and positions.
    public var details: EventDetails { event.details }
    /// The erasable part of the event.
    public var content: EventContent { event.content }
    /// The body of a message, a reply or an edit.
    public var body: String? { event.body }
    /// When the store recorded the event.
    public var recordedAt: Timestamp { event.recordedAt }
    /// The time to show: the original one of an import, or else the recorded one.
    public var createdAt: Timestamp { event.createdAt }
    /// The correlation id of the command, nil if it had none.
    public var correlation: String? { event.correlation }
}

/// The fields of an event's content that are kept from a reader, who is shown null in their place.
///
/// A correlation id and a subject that are kept from a reader are not named: that there is one is kept from the reader too.
public struct RedactedFields: OptionSet, Hashable, Sendable {
    /// The fields as bits.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The text of a message, a reply or an edit.
    public static let body = RedactedFields(rawValue: 1)
    /// The username that was taken.
    public static let username = RedactedFields(rawValue: 2)
    /// The postcode that was set; its outward code is shown.
    public static let postcode = RedactedFields(rawValue: 4)
    /// The name of the thread that was opened.
    public static let name = RedactedFields(rawValue: 8)
    /// The description of the device of a session.
    public static let device = RedactedFields(rawValue: 16)

    /// The fields and their names in JSON, in the order in which they are listed there.
    static let all: [(field: RedactedFields, key: FieldKey)] = [
        (.body, .body), (.username, .username), (.postcode, .postcode), (.name, .name), (.device, .device),
    ]
}
