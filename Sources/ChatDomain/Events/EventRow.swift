/// The kept part of an event as plain numbers: what a state and its read models are moved on by.
///
/// Every kind has its ids and numbers in the same fields, so that code that moves on by millions of events reads a field where a ``Fact`` would be taken apart,
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
    var origin: Origin { isImported ? .imported(sentAt: flags.contains(.sentAt) ? createdAt : nil) : .native }
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

extension Event {
    /// The event's kept part as plain numbers.
    package var row: EventRow {
        let flags = EventFlags(origin, hasCorrelation: correlation != nil)
        var row = EventRow(kind: fact.kind, flags: flags, recordedAt: recordedAt, createdAt: createdAt)
        switch fact {
        case .userRegistered(let fact): row.user = fact.user.bits
        case .usernameChanged(let fact): row.user = fact.user.bits
        case .postcodeSet(let fact): (row.user, row.thread) = (fact.user.bits, fact.thread.bits)
        case .threadOpened(let fact): (row.user, row.thread, row.number) = (fact.by.bits, fact.thread.bits, fact.number)
        case .threadJoined(let fact): (row.user, row.thread, row.number) = (fact.user.bits, fact.thread.bits, fact.number)
        case .threadLeft(let fact): (row.user, row.thread, row.number) = (fact.user.bits, fact.thread.bits, fact.number)
        case .messagePosted(let fact):
            (row.user, row.thread, row.post, row.number) = (fact.author.bits, fact.thread.bits, fact.message.bits, fact.number)
        case .replyPosted(let fact):
            (row.user, row.thread, row.post, row.number) = (fact.author.bits, fact.thread.bits, fact.reply.bits, fact.number)
            row.message = fact.message.bits
        case .messageEdited(let fact), .messageRetracted(let fact):
            (row.user, row.thread, row.post, row.number) = (fact.by.bits, fact.thread.bits, fact.message.bits, fact.number)
        case .replyEdited(let fact), .replyRetracted(let fact):
            (row.user, row.thread, row.post, row.number) = (fact.by.bits, fact.thread.bits, fact.reply.bits, fact.number)
            row.message = fact.message.bits
        case .threadRead(let fact): (row.user, row.thread, row.number) = (fact.user.bits, fact.thread.bits, fact.upTo)
        case .sessionStarted(let fact): (row.user, row.post) = (fact.user.bits, fact.session.bits)
        case .sessionEnded(let fact): (row.user, row.post) = (fact.user.bits, fact.session.bits)
        case .lost, .unknown: break
        }
        return row
    }
}

extension Event {
    /// Makes the event of a row of a known kind.
    package init(_ row: EventRow, _ content: Content, correlation: String?) {
        guard let kind = row.kind else { preconditionFailure("a row of an unknown kind lacks what its event says") }
        self.init(recordedAt: row.recordedAt, origin: row.origin, fact: Fact(kind, row), content: content, correlation: correlation)
    }
}

extension Fact {
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
