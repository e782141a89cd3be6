/// The kept part of an event as plain numbers: what a state and its read models are moved on by.
///
/// Every kind has its ids and numbers in the same fields, so that code that moves on by millions of events reads a field where a ``EventDetails`` would be taken apart,
/// and copies nothing that is counted. What a kind does not have is 0.
package struct EventRow: Hashable, Sendable {
    /// nil for a kind that this version does not know.
    package var kind: EventKind?
    /// Where the event comes from, and what its erasable part holds beside the content.
    var flags: EventFlags
    /// When it was recorded.
    package var recordedAt: Timestamp
    /// The time to show.
    package var createdAt: Timestamp
    /// Who did it, or whom it concerns.
    package var user: UInt128 = 0
    /// The thread that the event belongs to or is about; for a postcode that of its outward code.
    package var thread: UInt128 = 0
    /// The message or the reply; the session for one.
    package var post: UInt128 = 0
    /// The message that a reply answers.
    package var message: UInt128 = 0
    /// The event's number in its thread; for a read marker the position up to which it goes.
    package var number: UInt64 = 0

    /// Whether an import brought it.
    package var isImported: Bool { flags.contains(.imported) }

    /// The original time of an import.
    var origin: EventOrigin { isImported ? .imported(sentAt: flags.contains(.sentAt) ? createdAt : nil) : .native }
}

extension EventKind {
    /// Whether an event of the kind bears a number in its thread.
    var isNumbered: Bool {
        switch self {
        case .threadOpened, .threadJoined, .threadLeft, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .messageRetracted,
            .replyRetracted:
            true
        case .userRegistered, .usernameChanged, .postcodeSet, .threadRead, .sessionStarted, .sessionEnded, .lost: false
        }
    }

    /// Whether an event of the kind names a thread; a postcode names that of its outward code.
    var namesThread: Bool { isNumbered || self == .postcodeSet || self == .threadRead }

    /// Whether an event of the kind concerns the membership of its user in its thread.
    var namesMembership: Bool { self == .messagePosted || self == .threadJoined || self == .threadLeft || self == .threadRead }

    /// Whether the rules or the read models index the content of the kind.
    package var isIndexed: Bool {
        switch self {
        case .userRegistered, .usernameChanged, .postcodeSet, .threadOpened: true
        default: false
        }
    }
}

extension ChatEvent {
    /// The event's kept part as plain numbers.
    package var row: EventRow {
        let flags = EventFlags(origin, hasCorrelation: correlation != nil)
        var row = EventRow(kind: details.kind, flags: flags, recordedAt: recordedAt, createdAt: createdAt)
        switch details {
        case .userRegistered(let details): row.user = details.user.bits
        case .usernameChanged(let details): row.user = details.user.bits
        case .postcodeSet(let details): (row.user, row.thread) = (details.user.bits, details.thread.bits)
        case .threadOpened(let details): (row.user, row.thread, row.number) = (details.by.bits, details.thread.bits, details.number)
        case .threadJoined(let details): (row.user, row.thread, row.number) = (details.user.bits, details.thread.bits, details.number)
        case .threadLeft(let details): (row.user, row.thread, row.number) = (details.user.bits, details.thread.bits, details.number)
        case .messagePosted(let details):
            (row.user, row.thread, row.post, row.number) = (details.author.bits, details.thread.bits, details.message.bits, details.number)
        case .replyPosted(let details):
            (row.user, row.thread, row.post, row.number) = (details.author.bits, details.thread.bits, details.reply.bits, details.number)
            row.message = details.message.bits
        case .messageEdited(let details), .messageRetracted(let details):
            (row.user, row.thread, row.post, row.number) = (details.by.bits, details.thread.bits, details.message.bits, details.number)
        case .replyEdited(let details), .replyRetracted(let details):
            (row.user, row.thread, row.post, row.number) = (details.by.bits, details.thread.bits, details.reply.bits, details.number)
            row.message = details.message.bits
        case .threadRead(let details): (row.user, row.thread, row.number) = (details.user.bits, details.thread.bits, details.upTo)
        case .sessionStarted(let details): (row.user, row.post) = (details.user.bits, details.session.bits)
        case .sessionEnded(let details): (row.user, row.post) = (details.user.bits, details.session.bits)
        case .lost, .unknown: break
        }
        return row
    }
}

extension ChatEvent {
    /// Makes the event of a row of a known kind.
    package init(_ row: EventRow, _ content: EventContent, correlation: String?) {
        guard let kind = row.kind else { preconditionFailure("a row of an unknown kind lacks what its event says") }
        self.init(
            recordedAt: row.recordedAt, origin: row.origin, details: EventDetails(kind, row), content: content, correlation: correlation)
    }
}

extension EventDetails {
    /// The fact of a row of a known kind.
    init(_ kind: EventKind, _ row: EventRow) {
        let user = UserID(bits: row.user)
        let thread = ThreadID(bits: row.thread)
        switch kind {
        case .userRegistered: self = .userRegistered(UserRegistered(user: user))
        case .usernameChanged: self = .usernameChanged(UsernameChanged(user: user))
        case .postcodeSet: self = .postcodeSet(PostcodeSet(user: user, thread: thread))
        case .threadOpened: self = .threadOpened(ThreadOpened(thread: thread, number: row.number, by: user))
        case .threadJoined: self = .threadJoined(ThreadJoined(thread: thread, number: row.number, user: user))
        case .threadLeft: self = .threadLeft(ThreadLeft(thread: thread, number: row.number, user: user))
        case .messagePosted:
            self = .messagePosted(
                MessagePosted(thread: thread, number: row.number, message: MessageID(bits: row.post), author: user))
        case .replyPosted:
            self = .replyPosted(
                ReplyPosted(
                    thread: thread, number: row.number, message: MessageID(bits: row.message), reply: ReplyID(bits: row.post), author: user)
            )
        case .messageEdited, .messageRetracted:
            let changed = MessageChanged(thread: thread, number: row.number, message: MessageID(bits: row.post), by: user)
            self = kind == .messageEdited ? .messageEdited(changed) : .messageRetracted(changed)
        case .replyEdited, .replyRetracted:
            let changed = ReplyChanged(
                thread: thread, number: row.number, message: MessageID(bits: row.message), reply: ReplyID(bits: row.post), by: user)
            self = kind == .replyEdited ? .replyEdited(changed) : .replyRetracted(changed)
        case .threadRead: self = .threadRead(ThreadRead(user: user, thread: thread, upTo: row.number))
        case .sessionStarted: self = .sessionStarted(SessionStarted(user: user, session: SessionID(bits: row.post)))
        case .sessionEnded: self = .sessionEnded(SessionEnded(user: user, session: SessionID(bits: row.post)))
        case .lost: self = .lost
        }
    }
}
