/// One immutable fact of the chat with its time and its content.
///
/// An event does not know its position; ``RecordedEvent`` joins the two.
public struct ChatEvent: Hashable, Sendable {
    /// When the store recorded it, never decreasing along a journal: 0 to 2^48 - 1 milliseconds since 1970.
    public var recordedAt: Timestamp

    /// Where it comes from: decided here, or imported with the time it bore there.
    public var origin: EventOrigin

    /// What happened.
    public var details: EventDetails

    /// What was written.
    public var content: EventContent

    /// The correlation id of the command, if it had one; nil also when the content is not there.
    public var correlation: String?

    /// Makes an event.
    public init(
        recordedAt: Timestamp, origin: EventOrigin = .native, details: EventDetails, content: EventContent = .none,
        correlation: String? = nil
    ) {
        self.recordedAt = recordedAt
        self.origin = origin
        self.details = details
        self.content = content
        self.correlation = correlation
    }
}

/// Where a command and its events come from.
public enum EventOrigin: Hashable, Sendable {
    /// Decided by this store as it happened.
    case native

    /// Taken over from another system, with the original time if that is known; an import skips the rule of residence.
    case imported(sentAt: Timestamp?)

    /// The original time of an import.
    public var sentAt: Timestamp? {
        if case .imported(let sentAt) = self { return sentAt }
        return nil
    }
}

extension ChatEvent {
    /// The times at which an event can be recorded: what six bytes hold.
    static let recordable = Timestamp(millisecondsSince1970: 0)...Timestamp(millisecondsSince1970: 1 << 48 - 1)

    /// The kind; nil for one that this version does not know.
    public var kind: EventKind? { details.kind }

    /// The time to show: the original one of an import, or else the recorded one.
    public var createdAt: Timestamp { origin.sentAt ?? recordedAt }

    /// Whether the journal no longer holds the content of this event.
    public var isErased: Bool {
        switch content {
        case .erased, .opaque(_, erasable: nil): true
        default: false
        }
    }

    /// The body of a message, a reply or an edit.
    public var body: String? {
        if case .body(let body) = content { return body }
        return nil
    }

    /// The username that was taken.
    public var username: Username? { content.username }

    /// The identity provider's own name for the user who registered.
    public var subject: String? { content.subject }

    /// The postcode that was set.
    public var postcode: Postcode? { content.postcode }

    /// The name of the thread that was opened: an outward code's thread is named by the code.
    public var threadName: String? {
        if case .threadOpened(let opened) = details { return content.threadName(of: opened.thread) }
        return nil
    }

    /// The description of the device of a session.
    public var device: String? {
        if case .device(let device) = content { return device }
        return nil
    }
}

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
}
