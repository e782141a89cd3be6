/// The fields of an event; many kinds share a layout.
///
/// <doc:EventEncoding> specifies the bytes, <doc:EventJSON> the JSON.
enum EventLayout: Sendable {
    case user, postcode, thread, policy, message, reply, marker, session, member, role, sanction, messageReport, replyReport, block
    case custom, userErasure, contentErasure, none

    /// The fields of the kept part, in the order of the bytes.
    var kept: [EventField] {
        switch self {
        case .user: [.user]
        case .postcode: [.user, .thread]
        case .thread: [.thread, .user, .number]
        case .policy: [.thread, .user, .number, .policy, .history]
        case .message: [.thread, .message, .user, .number]
        case .reply: [.thread, .parent, .reply, .user, .number]
        case .marker: [.user, .thread, .upTo]
        case .session: [.user, .session]
        case .member: [.thread, .user, .otherActor, .number]
        case .role: [.thread, .user, .otherActor, .number, .role]
        case .sanction: [.thread, .user, .otherActor, .number, .until]
        case .messageReport: [.thread, .message, .user]
        case .replyReport: [.thread, .parent, .reply, .user]
        case .block: [.user, .blocked]
        case .custom: [.thread, .customEvent, .user, .number, .customKind]
        case .userErasure: [.user, .erasureReason]
        case .contentErasure: [.erasureReason, .ranges]
        case .none: []
        }
    }

    /// The fields in JSON, in their order.
    var json: [EventField] {
        switch self {
        case .user: [.user, .content]
        case .postcode: [.user, .content, .thread]
        case .thread: [.thread, .number, .content, .user]
        case .policy: [.thread, .number, .policy, .history, .user]
        case .message: [.thread, .number, .message, .user, .content]
        case .reply: [.thread, .number, .parent, .reply, .user, .content]
        case .marker: [.user, .thread, .upTo]
        case .session: [.user, .session, .content]
        case .member: [.thread, .number, .user, .otherActor, .content]
        case .role: [.thread, .number, .user, .role, .otherActor]
        case .sanction: [.thread, .number, .user, .otherActor, .content, .until]
        case .messageReport: [.thread, .message, .user, .content]
        case .replyReport: [.thread, .parent, .reply, .user, .content]
        case .block: [.blocked, .user]
        case .custom: [.thread, .number, .customEvent, .customKind, .user, .content]
        case .userErasure: [.user, .erasureReason]
        case .contentErasure: [.ranges, .erasureReason]
        case .none: []
        }
    }
}

/// A field of an event.
enum EventField: UInt8, Sendable {
    /// The thread.
    case thread = 1
    /// The user who acted, or whom the event concerns; ``EventForm/userKey`` is its key in JSON.
    case user
    /// The number within the thread, and the position of a read marker.
    case number, upTo
    /// The message, the message that a reply answers, and the reply.
    case message, parent, reply
    /// The session, and the custom event.
    case session, customEvent
    /// The user who acted on another, and the user who is blocked.
    case otherActor, blocked
    /// Numbers that stand for a name or a time; a policy stands before its history.
    case policy, history, role, until
    /// Texts and positions that belong to the content, but are never erased: the kind of a custom event,
    /// and the reason and the positions of an erasure.
    case customKind, erasureReason, ranges
    /// The place of the erasable content in JSON.
    case content

    /// Whether the field is an id.
    var isID: Bool {
        switch self {
        case .thread, .user, .message, .parent, .reply, .session, .customEvent, .otherActor, .blocked: true
        case .number, .upTo, .policy, .history, .role, .until, .customKind, .erasureReason, .ranges, .content: false
        }
    }
}

/// At most eight fields, in one word: a replay reads such a list for each event.
struct EventFieldList: Sequence, IteratorProtocol, Sendable {
    private var fields: UInt64 = 0
    /// The number of ids before the first other field.
    let leadingIDCount: Int

    init(_ fields: [EventField]) {
        precondition(fields.count <= 8, "a list has at most eight fields")
        leadingIDCount = fields.prefix(while: \.isID).count
        for field in fields.reversed() { self.fields = self.fields << 8 | UInt64(field.rawValue) }
    }

    @inline(__always)
    mutating func next() -> EventField? {
        defer { fields >>= 8 }
        return EventField(rawValue: UInt8(truncatingIfNeeded: fields))
    }
}
