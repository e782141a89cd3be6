public import Primitives

/// The kept part of an event as plain numbers, from which states and read models are updated.
///
/// All kinds share the same fields, so a replay copies no reference-counted values. Fields that a
/// kind lacks are 0; ``EventForm`` says which it has.
@usableFromInline
package struct EventRow: Hashable, Sendable {
    /// The kind, or nil if this version does not know it.
    package var kind: EventKind?
    /// The event's origin and the layout of its erasable part.
    var flags: EventFlags
    /// The recording time.
    package var recordedAt: Timestamp
    /// The time to display.
    package var createdAt: Timestamp
    // Two words each, as in the types of ids: events, which are passed to asynchronous functions,
    // are aligned to eight bytes.
    @usableFromInline var userBits = UUIDBits(0)
    @usableFromInline var threadBits = UUIDBits(0)
    @usableFromInline var secondBits = UUIDBits(0)
    @usableFromInline var messageBits = UUIDBits(0)
    /// The edit, or the ``once``.
    var editBits = UUIDBits(0)
    /// The event's number within its thread; for a read marker of a thread or an inbox, the
    /// position up to which the user has read; for an erasure of content, the last position; for
    /// notifications, the ``level``.
    package var number: UInt64 = 0

    /// The user who acted, or the user concerned if another user acted (``otherActor``).
    @inlinable @inline(__always)
    package var user: UInt128 {
        get { userBits.number }
        set { userBits = UUIDBits(newValue) }
    }

    /// The thread that the event belongs to or names; for a postcode, the thread of its outward
    /// code.
    @inlinable @inline(__always)
    package var thread: UInt128 {
        get { threadBits.number }
        set { threadBits = UUIDBits(newValue) }
    }

    /// The message, the reply, the session or the custom event.
    ///
    /// For an event with an ``otherActor``, the actor; for a block, the user who is blocked.
    @inlinable @inline(__always)
    package var secondID: UInt128 {
        get { secondBits.number }
        set { secondBits = UUIDBits(newValue) }
    }

    /// The message that a reply answers; for other kinds ``value``.
    @inlinable @inline(__always)
    package var message: UInt128 {
        get { messageBits.number }
        set { messageBits = UUIDBits(newValue) }
    }

    /// The edit; nil for other kinds and for edits of earlier versions.
    var edit: UInt128? {
        get { flags.contains(.edit) && has(.edit) ? editBits.number : nil }
        set {
            editBits = UUIDBits(newValue ?? 0)
            if newValue != nil { flags.insert(.edit) } else { flags.remove(.edit) }
        }
    }

    /// The id with which the command that the event begins takes effect once.
    package var once: CommandID? {
        get { flags.contains(.once) ? CommandID(bits: editBits.number) : nil }
        set {
            if let newValue {
                editBits = UUIDBits(newValue.bits)
            } else if flags.contains(.once) {
                editBits = UUIDBits(0)
            }
            if newValue != nil { flags.insert(.once) } else { flags.remove(.once) }
        }
    }

    /// Whether the event has a list of users whom its text mentions, which stands beside its row.
    package internal(set) var hasMentions: Bool {
        get { flags.contains(.mentions) && kind?.form.hasMentions == true }
        set { if newValue { flags.insert(.mentions) } else { flags.remove(.mentions) } }
    }

    /// The user who acted, for the kinds in which that is another user than ``user``.
    package var otherActor: UInt128 { secondID }

    /// The number that only the event's kind has: the end of a sanction, a role, or a policy and a
    /// history.
    ///
    /// Stored in ``message``, which these kinds do not have, so that a row does not grow.
    package var value: UInt64 {
        get { UInt64(truncatingIfNeeded: message) }
        set { message = UInt128(newValue) }
    }

    /// Whether an import appended the event.
    package var isImported: Bool { flags.contains(.imported) }

    /// The origin, with the original time of an import.
    var origin: EventOrigin { isImported ? .imported(sentAt: flags.contains(.sentAt) ? createdAt : nil) : .native }
}

/// Single fields; nil if the kind does not have them.
extension EventRow {
    /// The bits of a field that is an id.
    @inline(__always)
    subscript(id field: EventField) -> UInt128 {
        get {
            switch field {
            case .thread: thread
            case .user: user
            case .message, .reply, .session, .customEvent, .otherActor, .blocked: secondID
            case .parent: message
            case .number, .upTo, .edit, .policy, .history, .role, .until, .customKind, .erasureReason, .ranges,
                .content, .level, .from:
                0
            }
        }
        set {
            switch field {
            case .thread: thread = newValue
            case .user: user = newValue
            case .message, .reply, .session, .customEvent, .otherActor, .blocked: secondID = newValue
            case .parent: message = newValue
            case .number, .upTo, .edit, .policy, .history, .role, .until, .customKind, .erasureReason, .ranges,
                .content, .level, .from:
                break
            }
        }
    }

    /// The fields.
    var layout: EventLayout { kind?.form.layout(flags) ?? .none }

    /// Returns whether the event has a field.
    func has(_ field: EventField) -> Bool { layout.kept.contains(field) }

    /// Sets the flags that follow from the origin and the correlation id, and keeps those of
    /// fields.
    mutating func setFlags(_ origin: EventOrigin, hasCorrelation: Bool) {
        flags = EventFlags(
            origin, hasCorrelation: hasCorrelation, fields: flags.intersection(kind?.form.fieldFlags ?? []))
    }

    private func id<ID: EntityID>(_ field: EventField) -> ID? { has(field) ? ID(bits: self[id: field]) : nil }

    /// The user who acted or is concerned.
    package var userID: UserID? { id(.user) }
    /// The user who acted, if that is another user than ``userID``.
    package var otherActorID: UserID? { id(.otherActor) }
    /// The thread of the event; for a postcode, the thread of its outward code.
    package var relatedThreadID: ThreadID? { id(.thread) }
    /// The message that the event is about, or that its reply answers.
    package var messageID: MessageID? { id(.parent) ?? id(.message) }
    /// The reply that the event is about.
    package var replyID: ReplyID? { id(.reply) }
    /// The post that the event is about.
    package var post: PostID? { replyID.map(PostID.reply) ?? messageID.map(PostID.message) }
    /// The edit.
    package var editID: EditID? { edit.map(EditID.init(bits:)) }
    /// The session.
    package var sessionID: SessionID? { id(.session) }
    /// The custom event.
    package var customEventID: CustomEventID? { id(.customEvent) }
    /// The number within the thread.
    package var threadNumber: UInt64? { has(.number) ? number : nil }

    /// The policy and the history that the event sets, as one number in ``value``.
    package var policyAndHistory: (policy: ThreadPolicy, history: ThreadHistory) {
        get { Self.policyAndHistory(value) }
        set { value = Self.value(newValue.policy, newValue.history) }
    }

    /// Returns the number of a policy and a history.
    package static func value(_ policy: ThreadPolicy, _ history: ThreadHistory) -> UInt64 {
        policy.code << 8 | history.code
    }

    /// Returns the policy and the history of a number.
    package static func policyAndHistory(_ value: UInt64) -> (policy: ThreadPolicy, history: ThreadHistory) {
        (ThreadPolicy(code: value >> 8) ?? .open, ThreadHistory(code: value & 0xFF) ?? .all)
    }

    /// The level that the event sets.
    ///
    /// Stored in ``number``, which these events do not have, because ``value`` has the end.
    package var level: NotificationLevel {
        get { NotificationLevel(code: number) ?? .all }
        set { number = newValue.code }
    }

    /// The end of a sanction or a level; nil for one that does not end by itself.
    package var until: Timestamp? {
        get { SanctionEnd.time(value) }
        set { value = SanctionEnd.number(newValue) }
    }
}

/// The end of a sanction as a number; 0 for a sanction without an end.
package enum SanctionEnd {
    /// Returns the number of an end.
    ///
    /// An end before 1970, which no command can cause, becomes 1: it must not mean "without an
    /// end".
    static func number(_ until: Timestamp?) -> UInt64 {
        until.map { UInt64(clamping: max(1, $0.millisecondsSince1970)) } ?? 0
    }

    /// Whether a number is 0, for no end, or a time at which an event can be recorded.
    static func isValid(_ number: UInt64) -> Bool {
        number <= UInt64(ChatEvent.recordableTimes.upperBound.millisecondsSince1970)
    }

    /// Returns the end of a number; nil for a sanction without an end.
    package static func time(_ number: UInt64) -> Timestamp? {
        number == 0 ? nil : Timestamp(millisecondsSince1970: Int64(clamping: number))
    }
}
