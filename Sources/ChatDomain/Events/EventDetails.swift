/// The kept part of an event without its times and its origin: its kind, and its ids and numbers.
///
/// It contains no text and stays in the journal when the event's content is erased.
/// ``ChatState/evolve(_:at:)`` depends on it alone, except for the indexes over content (usernames,
/// subjects and postcodes).
public struct EventDetails: Hashable, Sendable {
    /// The kind, or nil if this version does not know it.
    public let kind: EventKind?
    /// The ids and numbers.
    public let shape: EventShape

    /// Creates the details of a kind; nil for one that this version does not know.
    ///
    /// - Precondition: Events of the kind have this shape.
    public init(_ kind: EventKind?, _ shape: EventShape = .none) {
        precondition(shape.fits(kind?.form.layout ?? .none), "events of this kind do not have this shape")
        (self.kind, self.shape) = (kind, shape)
    }

    init(_ row: EventRow) {
        (kind, shape) = (row.kind, row.kind.map { EventShape($0.form.layout(row.flags), row) } ?? .none)
    }
}

/// The ids and numbers of an event: a small closed set, of which many kinds share a shape.
///
/// A later version can add kinds of these shapes without a new case. A number is the event's number
/// within its thread, from 1 upwards without gaps.
public enum EventShape: Hashable, Sendable {
    /// A user who registered, was renamed or erased, or became or ceased to be an operator.
    case user(UserID)
    /// A user who set a postcode, and the thread of its outward code.
    case postcode(user: UserID, thread: ThreadID)
    /// A user who opened, joined, left, locked, unlocked or closed a thread, or declined an
    /// invitation to it.
    case thread(ThreadID, number: UInt64, user: UserID)
    /// Who may join a thread and what they may read; `policy` is never `residents`.
    ///
    /// The user is the opener if the host closed an imported thread.
    case policy(thread: ThreadID, number: UInt64, policy: ThreadPolicy, history: ThreadHistory, by: UserID)
    /// A message that the user posted, edited, retracted, removed, pinned or unpinned, or reacted
    /// to.
    case message(thread: ThreadID, number: UInt64, message: MessageID, by: UserID)
    /// A reply to a message that the user posted, edited, retracted or removed, or reacted to.
    case reply(thread: ThreadID, number: UInt64, message: MessageID, reply: ReplyID, by: UserID)
    /// The position up to which a user has read a thread, from now on, or again; the event has no
    /// number within it.
    case marker(user: UserID, thread: ThreadID, upTo: Position)
    /// A session that a user started or that ended.
    case session(user: UserID, session: SessionID)
    /// A user whom a moderator invited or removed, or whose invitation, mute or ban a moderator
    /// ended.
    case member(thread: ThreadID, number: UInt64, user: UserID, by: UserID)
    /// A member's new role.
    case role(thread: ThreadID, number: UInt64, user: UserID, role: ThreadRole, by: UserID)
    /// A mute or a ban, and its end: later than 1970 and at most 2^48 - 1 milliseconds since then,
    /// or nil if it does not end by itself.
    case sanction(thread: ThreadID, number: UInt64, user: UserID, by: UserID, until: Timestamp? = nil)
    /// A message that the user reported, or whose reports they resolved; the event has no number.
    case messageReport(thread: ThreadID, message: MessageID, by: UserID)
    /// A reply that the user reported, or whose reports they resolved; the event has no number.
    case replyReport(thread: ThreadID, message: MessageID, reply: ReplyID, by: UserID)
    /// A user whose posts are marked for the acting user from now on, or no more.
    case block(user: UserID, by: UserID)
    /// A custom event; its kind (``ChatEvent/customKind``) is kept, its payload is content that can
    /// be erased.
    case custom(thread: ThreadID, number: UInt64, id: CustomEventID, by: UserID)
    /// What of a thread notifies a member, until a time or, if that is nil, until they set it
    /// again; the event has no number.
    case notifications(user: UserID, thread: ThreadID, level: NotificationLevel, until: Timestamp? = nil)
    /// The position up to which a user has read their inbox.
    case inbox(user: UserID, upTo: Position)
    /// The first position that a repair lost; the positions from it on that are lost have events of
    /// the kind `lost`.
    case repair(from: Position)
    /// No ids: the erasure of positions, a correction of the clock, a lost or an unknown event.
    case none
}

extension EventShape {
    /// Whether events of a layout have the shape.
    fileprivate func fits(_ layout: EventLayout) -> Bool {
        switch (self, layout) {
        case (.user, .user), (.user, .userErasure), (.postcode, .postcode), (.thread, .thread), (.policy, .policy),
            (.message, .message),
            (.message, .messageEdit), (.message, .post), (.reply, .reply), (.reply, .replyEdit), (.reply, .post),
            (.marker, .marker),
            (.session, .session), (.member, .member),
            (.role, .role), (.sanction, .sanction), (.messageReport, .messageReport), (.replyReport, .replyReport),
            (.block, .block),
            (.custom, .custom), (.notifications, .notifications), (.inbox, .inbox), (.repair, .repair),
            (.none, .contentErasure), (.none, .none):
            true
        default: false
        }
    }

    /// Creates the shape of a row.
    fileprivate init(_ layout: EventLayout, _ row: EventRow) {
        let (user, thread, number) = (UserID(bits: row.user), ThreadID(bits: row.thread), row.number)
        let (other, message) = (UserID(bits: row.secondID), MessageID(bits: row.secondID))
        let (parent, reply) = (MessageID(bits: row.message), ReplyID(bits: row.secondID))
        self =
            switch layout {
            case .user, .userErasure: .user(user)
            case .postcode: .postcode(user: user, thread: thread)
            case .thread: .thread(thread, number: number, user: user)
            case .policy:
                .policy(
                    thread: thread, number: number, policy: row.policyAndHistory.policy,
                    history: row.policyAndHistory.history, by: user)
            case .message, .messageEdit, .post: .message(thread: thread, number: number, message: message, by: user)
            case .reply, .replyEdit: .reply(thread: thread, number: number, message: parent, reply: reply, by: user)
            case .marker: .marker(user: user, thread: thread, upTo: number)
            case .session: .session(user: user, session: SessionID(bits: row.secondID))
            case .member: .member(thread: thread, number: number, user: user, by: other)
            case .role:
                .role(
                    thread: thread, number: number, user: user, role: ThreadRole(code: row.value) ?? .member, by: other)
            case .sanction: .sanction(thread: thread, number: number, user: user, by: other, until: row.until)
            case .messageReport: .messageReport(thread: thread, message: message, by: user)
            case .replyReport: .replyReport(thread: thread, message: parent, reply: reply, by: user)
            case .block: .block(user: other, by: user)
            case .custom: .custom(thread: thread, number: number, id: CustomEventID(bits: row.secondID), by: user)
            case .notifications: .notifications(user: user, thread: thread, level: row.level, until: row.until)
            case .inbox: .inbox(user: user, upTo: number)
            case .repair: .repair(from: number)
            case .contentErasure, .none: .none
            }
    }
}

extension EventRow {
    /// Sets the ids and numbers of a shape.
    mutating func set(_ shape: EventShape) {
        func set(_ user: UserID, _ thread: ThreadID, _ number: UInt64 = 0, second: UInt128 = 0) {
            (self.user, self.thread, self.number, secondID) = (user.bits, thread.bits, number, second)
        }
        switch shape {
        case .user(let user): self.user = user.bits
        case .postcode(let user, let thread): set(user, thread)
        case .thread(let thread, let number, let user): set(user, thread, number)
        case .policy(let thread, let number, let policy, let history, let by):
            set(by, thread, number)
            policyAndHistory = (policy, history)
        case .message(let thread, let number, let message, let by): set(by, thread, number, second: message.bits)
        case .reply(let thread, let number, let parent, let reply, let by):
            set(by, thread, number, second: reply.bits)
            message = parent.bits
            if kind?.form.layout == .post { flags.insert(.ofReply) }
        case .marker(let user, let thread, let upTo): set(user, thread, upTo)
        case .session(let user, let session): (self.user, secondID) = (user.bits, session.bits)
        case .member(let thread, let number, let user, let by): set(user, thread, number, second: by.bits)
        case .role(let thread, let number, let user, let role, let by):
            set(user, thread, number, second: by.bits)
            value = role.code
        case .sanction(let thread, let number, let user, let by, let until):
            set(user, thread, number, second: by.bits)
            self.until = until
        case .messageReport(let thread, let message, let by): set(by, thread, second: message.bits)
        case .replyReport(let thread, let parent, let reply, let by):
            set(by, thread, second: reply.bits)
            message = parent.bits
        case .block(let user, let by): (self.user, secondID) = (by.bits, user.bits)
        case .custom(let thread, let number, let id, let by): set(by, thread, number, second: id.bits)
        case .notifications(let user, let thread, let level, let until):
            set(user, thread, level.code)
            self.until = until
        case .inbox(let user, let upTo): (self.user, number) = (user.bits, upTo)
        case .repair(let from): number = from
        case .none: break
        }
    }
}
