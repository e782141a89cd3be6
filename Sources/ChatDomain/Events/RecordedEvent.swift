/// An event and its position in the journal.
public struct RecordedEvent: Hashable, Sendable {
    /// The event's number in its journal.
    public var position: Position
    /// What happened.
    public var event: Event
    /// The fields that exist in the journal and are kept from the reader; empty in the operator's raw form.
    public var redacted: RedactedFields

    /// Joins an event and its position.
    public init(position: Position, event: Event, redacted: RedactedFields = []) {
        self.position = position
        self.event = event
        self.redacted = redacted
    }
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
