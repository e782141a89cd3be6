/// One immutable event of the chat: its time, origin, ids, numbers and content.
///
/// An event does not contain its position; ``RecordedEvent`` adds it.
public struct ChatEvent: Hashable, Sendable {
    /// The kept part as plain numbers, which agrees with ``correlation`` and ``content``.
    package private(set) var row: EventRow

    /// The erasable part: the text.
    public var content: EventContent {
        didSet { setLastErasedPosition() }
    }

    /// The command's correlation id, or nil if it had none, another user acted, or the content is
    /// absent.
    public var correlation: String? {
        didSet { row.setFlags(origin, hasCorrelation: correlation != nil) }
    }

    /// The users whom the text of a post mentions, each once, in their order; for `directOpened`
    /// the people of the thread (``people``); empty for other kinds.
    ///
    /// At most ``MessageBody/maximumMentionCount``. They belong to the kept part, so they stay if
    /// the content is erased; a viewer who may not see the text is not shown them.
    ///
    /// - Precondition: Only events that post or edit, and `directOpened`, have such a list.
    public var mentions: [UserID] {
        didSet {
            precondition(mentions.isEmpty || kind?.form.hasMentions == true, "events of this kind have no mentions")
            row.hasMentions = !mentions.isEmpty
        }
    }

    /// Creates an event.
    ///
    /// - Precondition: An event that is no edit has no `edit`, and one that writes no text no
    ///   `mentions`.
    public init(
        recordedAt: Timestamp, origin: EventOrigin = .native, details: EventDetails, edit: EditID? = nil,
        content: EventContent = .none,
        correlation: String? = nil, mentions: [UserID] = []
    ) {
        var row = EventRow(
            kind: details.kind, flags: [], recordedAt: recordedAt, createdAt: origin.sentAt ?? recordedAt)
        row.flags = EventFlags(origin, hasCorrelation: false)
        row.set(details.shape)
        precondition(edit == nil || row.has(.edit), "events of this kind have no edit")
        precondition(mentions.isEmpty || row.kind?.form.hasMentions == true, "events of this kind have no mentions")
        row.edit = edit?.bits
        self.init(row, content, correlation: correlation, mentions: mentions)
        setLastErasedPosition()
    }

    /// Creates the event of a row.
    package init(_ row: EventRow, _ content: EventContent, correlation: String?, mentions: [UserID] = []) {
        (self.row, self.content, self.correlation, self.mentions) = (row, content, correlation, mentions)
        self.row.hasMentions = !mentions.isEmpty
        self.row.setFlags(row.origin, hasCorrelation: correlation != nil)
    }

    /// Keeps the number that the order of an erasure has in its row, although its positions are
    /// content.
    private mutating func setLastErasedPosition() {
        if kind == .contentErased { row.number = erasedPositions?.ranges.last?.upperBound ?? 0 }
    }
}

/// The kept part.
extension ChatEvent {
    /// The id with which the command that the event begins takes effect once
    /// (``CommandRequest/once``); nil for most.
    ///
    /// Only the user who gave the command and the host are shown it.
    ///
    /// - Precondition: A command of the kind can have one.
    public var once: CommandID? {
        get { row.once }
        set {
            precondition(newValue == nil || kind?.form.takesOnce == true, "events of this kind have no id of a command")
            row.once = newValue
        }
    }

    /// The time at which the store recorded the event.
    ///
    /// It decreases along a journal only at `clockCorrected`, and lies between 0 and 2^48 - 1
    /// milliseconds since 1970.
    public var recordedAt: Timestamp {
        get { row.recordedAt }
        set { (row.recordedAt, row.createdAt) = (newValue, origin.sentAt ?? newValue) }
    }

    /// The origin: native, or imported with the original time if known.
    public var origin: EventOrigin {
        get { row.origin }
        set {
            row.setFlags(newValue, hasCorrelation: correlation != nil)
            row.createdAt = newValue.sentAt ?? recordedAt
        }
    }

    /// The kind, or nil if this version does not know it.
    public var kind: EventKind? { row.kind }

    /// The kind, ids and numbers.
    public var details: EventDetails {
        get { EventDetails(row) }
        set {
            let edit = newValue.kind?.form.has(.edit) == true ? edit : nil
            let mentions = newValue.kind?.form.hasMentions == true ? mentions : []
            let once = newValue.kind?.form.takesOnce == true ? once : nil
            self = ChatEvent(
                recordedAt: recordedAt, origin: origin, details: newValue, edit: edit, content: content,
                correlation: correlation,
                mentions: mentions)
            self.once = once
        }
    }

    /// The ids and numbers.
    public var shape: EventShape { details.shape }

    /// The user who acted or is concerned; nil for `contentErased`, `clockCorrected`, `lost`,
    /// `historyRepaired` and an unknown kind.
    public var user: UserID? { row.userID }

    /// The user who acted, if that is another user than ``user``.
    ///
    /// Moderators act on the users whom their events concern.
    public var otherActor: UserID? { row.otherActorID }

    /// The event's thread, or nil if the kind has none.
    ///
    /// A read marker and a report name a thread, although they do not belong to it. Nil for
    /// `postcodeSet`: its thread is that of the postcode.
    public var thread: ThreadID? { kind == .postcodeSet ? nil : row.relatedThreadID }

    /// The event's number within its thread, or nil if it does not belong to a thread.
    ///
    /// Read markers and reports do not belong to their thread.
    public var threadNumber: UInt64? { row.threadNumber }

    /// The message that the event is about, or that its reply answers.
    public var message: MessageID? { row.messageID }

    /// The reply that the event is about.
    public var reply: ReplyID? { row.replyID }

    /// The post that the event is about.
    package var post: PostID? { row.post }

    /// The people of a direct thread, of whom the opener is the first; empty for other kinds than
    /// `directOpened`.
    public var people: [UserID] { kind?.form.listsPeople == true ? mentions : [] }

    /// The edit; nil for other kinds, and for an edit of an earlier version.
    public var edit: EditID? { row.editID }

    /// The id of a custom event; nil for other kinds.
    public var customEvent: CustomEventID? { row.customEventID }
}

extension ChatEvent {
    /// The valid recording times: the range of six bytes of milliseconds.
    package static let recordableTimes =
        Timestamp(millisecondsSince1970: 0)...Timestamp(millisecondsSince1970: 1 << 48 - 1)

    /// The time to display: the original time of an import, otherwise the recording time.
    public var createdAt: Timestamp { row.createdAt }

    /// Whether the journal no longer holds the event's content.
    public var isErased: Bool {
        switch content {
        case .erased, .opaque(_, erasable: nil), .custom(_, payload: .erased): true
        default: false
        }
    }

    /// Whether the content exists in the journal but was not decoded or is hidden.
    package var isOmitted: Bool {
        switch content {
        case .omitted, .custom(_, payload: .omitted): true
        default: false
        }
    }

    /// The event as it is read once its content was erased.
    package var withoutContent: ChatEvent {
        var event = self
        switch content {
        case .none, .erasure: break
        case .custom(let kind, _): event.content = .custom(kind: kind, payload: .erased)
        case .opaque(let kept, _): event.content = .opaque(kept: kept, erasable: nil)
        default: event.content = .erased
        }
        if correlation != nil, content == .none { event.content = .erased }
        event.correlation = nil
        return event
    }

    /// The body of a message, a reply or an edit.
    public var body: String? { content.text(of: .body) }

    /// The new username.
    public var username: Username? { content.username }

    /// The identity provider's name for the registered user.
    public var subject: String? { content.subject }

    /// The new postcode.
    public var postcode: Postcode? { content.postcode }

    /// The name of the opened thread; the thread of an outward code is named by the code.
    public var threadName: String? {
        kind == .threadOpened || kind == .threadRenamed ? content.threadName(of: ThreadID(bits: row.thread)) : nil
    }

    /// The emoji of a reaction.
    public var emoji: Emoji? { content.emoji }

    /// The device description of a session.
    public var device: String? { content.text(of: .device) }

    /// A user's profile text; empty if the user removed it.
    public var about: String? { content.text(of: .about) }
}

extension ChatEvent {
    /// The reason of a removal, a sanction, a report or an erasure.
    public var reason: String? {
        switch content {
        case .reason(let reason), .erasure(let reason, _): reason
        default: nil
        }
    }

    /// The payload of a custom event.
    public var payload: CustomPayload? {
        if case .custom(_, .present(let payload)) = content { return payload }
        return nil
    }

    /// The positions of the events whose content was erased by an order of their positions.
    public var erasedPositions: PositionSet? {
        if case .erasure(_, let positions) = content { return positions }
        return nil
    }

    /// The host program's kind of a custom event.
    public var customKind: CustomKind? {
        if case .custom(let kind, _) = content { return CustomKind(kind) }
        return nil
    }
}

/// An event and its position in the journal.
public struct RecordedEvent: Hashable, Sendable {
    /// The event's position in its journal.
    public var position: Position
    /// The event.
    public var event: ChatEvent
    /// The fields that the journal holds but the reader may not see.
    ///
    /// Empty in the host's raw form.
    public var redacted: RedactedFields
    /// Whether the reader has blocked the user who caused the event.
    public var isFromBlockedUser: Bool
    /// Why the event came into the reader's inbox, which it can have left since; nil if it did not,
    /// and for the host.
    public var inbox: InboxReason?

    /// Creates a recorded event.
    public init(
        position: Position, event: ChatEvent, redacted: RedactedFields = [], isFromBlockedUser: Bool = false,
        inbox: InboxReason? = nil
    ) {
        self.position = position
        self.event = event
        self.redacted = redacted
        self.isFromBlockedUser = isFromBlockedUser
        self.inbox = inbox
    }
}

/// Shortcuts to the properties of the event.
extension RecordedEvent {
    /// The kind, or nil if this version does not know it.
    public var kind: EventKind? { event.kind }
    /// The kind, ids and numbers.
    public var details: EventDetails { event.details }
    /// The ids and numbers.
    public var shape: EventShape { event.shape }
    /// The user who acted or is concerned.
    public var user: UserID? { event.user }
    /// The user who acted, if that is another user than ``user``.
    public var otherActor: UserID? { event.otherActor }
    /// The event's thread, or nil if the kind has none.
    public var thread: ThreadID? { event.thread }
    /// The event's number within its thread, or nil if it does not belong to a thread.
    public var threadNumber: UInt64? { event.threadNumber }
    /// The message that the event is about, or that its reply answers.
    public var message: MessageID? { event.message }
    /// The reply that the event is about.
    public var reply: ReplyID? { event.reply }
    /// The post that the event is about.
    package var post: PostID? { event.post }
    /// The edit; nil for other kinds, and for an edit of an earlier version.
    public var edit: EditID? { event.edit }
    /// The id of a custom event; nil for other kinds.
    public var customEvent: CustomEventID? { event.customEvent }
    /// The erasable part of the event.
    public var content: EventContent { event.content }
    /// The users whom the text of a post mentions; empty for other kinds.
    public var mentions: [UserID] { event.mentions }
    /// The body of a message, a reply or an edit.
    public var body: String? { event.body }
    /// The new username.
    public var username: Username? { event.username }
    /// The reason of a removal, a sanction or a report.
    public var reason: String? { event.reason }
    /// The emoji of a reaction.
    public var emoji: Emoji? { event.emoji }
    /// A user's profile text; empty if the user removed it.
    public var about: String? { event.about }
    /// The host program's kind of a custom event.
    public var customKind: CustomKind? { event.customKind }
    /// The payload of a custom event.
    public var payload: CustomPayload? { event.payload }
    /// The time at which the store recorded the event.
    public var recordedAt: Timestamp { event.recordedAt }
    /// The time to display: the original time of an import, otherwise the recording time.
    public var createdAt: Timestamp { event.createdAt }
    /// The command's correlation id, or nil if it had none or the content is absent.
    public var correlation: String? { event.correlation }
    /// The id with which the command takes effect once; nil for most.
    public var once: CommandID? { event.once }
}

/// The content fields that are hidden from a reader, who sees null instead.
///
/// Hidden correlation ids and subjects are not listed: their existence is hidden as well.
public struct RedactedFields: OptionSet, Hashable, Sendable {
    /// The fields as bits.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The body of a message, a reply or an edit.
    public static let body = RedactedFields(rawValue: 1)
    /// The username.
    public static let username = RedactedFields(rawValue: 2)
    /// The postcode; its outward code stays visible.
    public static let postcode = RedactedFields(rawValue: 4)
    /// The name of the opened thread.
    public static let name = RedactedFields(rawValue: 8)
    /// The device description of a session.
    public static let device = RedactedFields(rawValue: 16)
    /// The reason of a removal, a sanction or a report.
    public static let reason = RedactedFields(rawValue: 32)
    /// The payload of a custom event.
    public static let payload = RedactedFields(rawValue: 64)
    /// A user's profile text.
    public static let about = RedactedFields(rawValue: 128)
}
