/// The fields of an event; many kinds share a layout.
///
/// <doc:EventEncoding> specifies the bytes, <doc:EventJSON> the JSON.
enum EventLayout: Sendable {
    case user, postcode, thread, policy, message, reply, messageEdit, replyEdit, marker, session, member, role,
        sanction, messageReport,
        replyReport, block
    /// That of ``message`` or of ``reply``, by the flag of the row: ``EventForm/layout(_:)``.
    case post
    case custom, userErasure, contentErasure, none
    case notifications, inbox, repair

    /// The fields of the kept part, in the order of the bytes.
    @inline(__always)
    var kept: EventFieldList {
        switch self {
        case .user: EventFieldList(.user)
        case .postcode: EventFieldList(.user, .thread)
        case .thread: EventFieldList(.thread, .user, .number)
        case .policy: EventFieldList(.thread, .user, .number, .policy, .history)
        case .message, .post: EventFieldList(.thread, .message, .user, .number)
        case .reply: EventFieldList(.thread, .parent, .reply, .user, .number)
        case .messageEdit: EventFieldList(.thread, .message, .user, .number, .edit)
        case .replyEdit: EventFieldList(.thread, .parent, .reply, .user, .number, .edit)
        case .marker: EventFieldList(.user, .thread, .upTo)
        case .session: EventFieldList(.user, .session)
        case .member: EventFieldList(.thread, .user, .otherActor, .number)
        case .role: EventFieldList(.thread, .user, .otherActor, .number, .role)
        case .sanction: EventFieldList(.thread, .user, .otherActor, .number, .until)
        case .messageReport: EventFieldList(.thread, .message, .user)
        case .replyReport: EventFieldList(.thread, .parent, .reply, .user)
        case .block: EventFieldList(.user, .blocked)
        case .custom: EventFieldList(.thread, .customEvent, .user, .number, .customKind)
        case .userErasure: EventFieldList(.user, .erasureReason)
        case .contentErasure: EventFieldList(.erasureReason, .ranges)
        case .notifications: EventFieldList(.user, .thread, .level, .until)
        case .inbox: EventFieldList(.user, .upTo)
        case .repair: EventFieldList(.from)
        case .none: EventFieldList()
        }
    }

    /// The fields in JSON, in their order.
    var json: EventFieldList {
        switch self {
        case .user: EventFieldList(.user, .content)
        case .postcode: EventFieldList(.user, .content, .thread)
        case .thread: EventFieldList(.thread, .number, .content, .user)
        case .policy: EventFieldList(.thread, .number, .policy, .history, .user)
        case .message, .post: EventFieldList(.thread, .number, .message, .user, .content)
        case .reply: EventFieldList(.thread, .number, .parent, .reply, .user, .content)
        case .messageEdit: EventFieldList(.thread, .number, .message, .edit, .user, .content)
        case .replyEdit: EventFieldList(.thread, .number, .parent, .reply, .edit, .user, .content)
        case .marker: EventFieldList(.user, .thread, .upTo)
        case .session: EventFieldList(.user, .session, .content)
        case .member: EventFieldList(.thread, .number, .user, .otherActor, .content)
        case .role: EventFieldList(.thread, .number, .user, .role, .otherActor)
        case .sanction: EventFieldList(.thread, .number, .user, .otherActor, .content, .until)
        case .messageReport: EventFieldList(.thread, .message, .user, .content)
        case .replyReport: EventFieldList(.thread, .parent, .reply, .user, .content)
        case .block: EventFieldList(.blocked, .user)
        case .custom: EventFieldList(.thread, .number, .customEvent, .customKind, .user, .content)
        case .userErasure: EventFieldList(.user, .erasureReason)
        case .contentErasure: EventFieldList(.ranges, .erasureReason)
        case .notifications: EventFieldList(.user, .thread, .level, .until)
        case .inbox: EventFieldList(.user, .upTo)
        case .repair: EventFieldList(.from)
        case .none: EventFieldList()
        }
    }

    /// The answers that the events change, if their row does not say.
    var changes: ChangedAnswers {
        switch self {
        case .postcode, .marker: .details
        case .notifications: [.details, .moderation]
        case .inbox: .inbox
        case .policy: [.inbox, .moderation, .access]
        case .member, .role, .sanction, .messageReport, .replyReport: [.inbox, .moderation]
        case .block: [.details, .inbox, .messages, .replies]
        case .message, .messageEdit: [.details, .inbox, .moderation, .messages]
        case .reply: [.inbox, .moderation, .messages, .replies]
        case .replyEdit: [.inbox, .moderation, .replies]
        case .post: [.inbox, .messages, .replies]
        case .user, .thread, .session, .custom, .userErasure, .contentErasure, .repair, .none: []
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
    /// The edit, which one of an earlier version lacks: the last field.
    case edit
    /// The session, and the custom event.
    case session, customEvent
    /// The user who acted on another, and the user who is blocked.
    case otherActor, blocked
    /// Numbers that stand for a name or a time; a policy stands before its history.
    case policy, history, role, until
    /// Texts and positions that belong to the content, but are never erased: the kind of a custom
    /// event, and the reason and the positions of an erasure.
    case customKind, erasureReason, ranges
    /// The place of the erasable content in JSON.
    case content
    /// The number of a level of notifications.
    case level
    /// The first position that a repair lost.
    case from

    // By hand, to be inlined: the switch of a decoder over the field and this one are then one, which
    // makes a replay in place 7 % faster.
    @inline(__always) init?(rawValue: UInt8) {
        switch rawValue {
        case 1: self = .thread
        case 2: self = .user
        case 3: self = .number
        case 4: self = .upTo
        case 5: self = .message
        case 6: self = .parent
        case 7: self = .reply
        case 8: self = .edit
        case 9: self = .session
        case 10: self = .customEvent
        case 11: self = .otherActor
        case 12: self = .blocked
        case 13: self = .policy
        case 14: self = .history
        case 15: self = .role
        case 16: self = .until
        case 17: self = .customKind
        case 18: self = .erasureReason
        case 19: self = .ranges
        case 20: self = .content
        case 21: self = .level
        case 22: self = .from
        default: return nil
        }
    }
}

/// At most seven fields, in one word and as bits: a replay reads such a list for each event.
///
/// The fields are parameters and no array, so that the compiler makes a constant of each list.
struct EventFieldList: Sequence, IteratorProtocol, Sendable {
    private var fields: UInt64
    private let bits: UInt32

    @inline(__always)
    init(
        _ first: EventField? = nil, _ second: EventField? = nil, _ third: EventField? = nil,
        _ fourth: EventField? = nil,
        _ fifth: EventField? = nil, _ sixth: EventField? = nil, _ seventh: EventField? = nil
    ) {
        let (one, two, three) = (first?.rawValue ?? 0, second?.rawValue ?? 0, third?.rawValue ?? 0)
        let (four, five, six, seven) = (
            fourth?.rawValue ?? 0, fifth?.rawValue ?? 0, sixth?.rawValue ?? 0, seventh?.rawValue ?? 0
        )
        fields =
            UInt64(one) | UInt64(two) << 8 | UInt64(three) << 16 | UInt64(four) << 24 | UInt64(five) << 32 | UInt64(six)
            << 40
        fields |= UInt64(seven) << 48
        // Bit 0 is of no field.
        bits =
            1 << UInt32(one) | 1 << UInt32(two) | 1 << UInt32(three) | 1 << UInt32(four) | 1 << UInt32(five) | 1
            << UInt32(six)
            | 1 << UInt32(seven)
    }

    @inline(__always)
    func contains(_ field: EventField) -> Bool { bits >> UInt32(field.rawValue) & 1 != 0 }

    @inline(__always)
    mutating func next() -> EventField? {
        defer { fields >>= 8 }
        return EventField(rawValue: UInt8(truncatingIfNeeded: fields))
    }
}
