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
