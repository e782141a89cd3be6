import Primitives

/// The kept part of an event as plain numbers, from which states and read models are updated.
///
/// All kinds share the same fields, so a replay reads a field instead of unpacking ``EventDetails``
/// and copies no reference-counted values. Fields that a kind lacks are 0.
package struct EventRow: Hashable, Sendable {
    /// The kind, or nil if this version does not know it.
    package var kind: EventKind?
    /// The event's origin and the layout of its erasable part.
    var flags: EventFlags
    /// The recording time.
    package var recordedAt: Timestamp
    /// The time to display.
    package var createdAt: Timestamp
    /// The user who acted, or the user concerned if another user acted (``otherActor``).
    package var user: UInt128 = 0
    /// The thread that the event belongs to or names; for a postcode, the thread of its outward
    /// code.
    package var thread: UInt128 = 0
    /// The message, the reply, the session or the custom event.
    ///
    /// For an event with an ``otherActor``, the actor; for a block, the user who is blocked.
    package var secondID: UInt128 = 0
    /// The message that a reply answers; for other kinds ``value``.
    package var message: UInt128 = 0
    /// The event's number within its thread; for a read marker, the position up to which the user
    /// has read; for an erasure of content, the last position.
    package var number: UInt64 = 0

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

extension ChatEvent {
    /// The event's kept part as plain numbers.
    package var row: EventRow {
        let flags = EventFlags(origin, hasCorrelation: correlation != nil)
        var row = EventRow(kind: details.kind, flags: flags, recordedAt: recordedAt, createdAt: createdAt)
        switch details {
        case .userRegistered(let details): row.user = details.user.bits
        case .usernameChanged(let details): row.user = details.user.bits
        case .postcodeSet(let details): (row.user, row.thread) = (details.user.bits, details.thread.bits)
        case .threadOpened(let details): row.setThread(details.thread, details.number, user: details.by)
        case .threadJoined(let details): row.setThread(details.thread, details.number, user: details.user)
        case .threadLeft(let details): row.setThread(details.thread, details.number, user: details.user)
        case .messagePosted(let details): row.setPost(details.message.bits, details.thread, details.number, user: details.author)
        case .replyPosted(let details):
            row.setPost(details.reply.bits, details.thread, details.number, user: details.author)
            row.message = details.message.bits
        case .messageEdited(let details), .messageRetracted(let details):
            row.setPost(details.message.bits, details.thread, details.number, user: details.by)
        case .replyEdited(let details), .replyRetracted(let details):
            row.setPost(details.reply.bits, details.thread, details.number, user: details.by)
            row.message = details.message.bits
        case .threadRead(let details): row.setThread(details.thread, details.upTo, user: details.user)
        case .sessionStarted(let details): (row.user, row.secondID) = (details.user.bits, details.session.bits)
        case .sessionEnded(let details): (row.user, row.secondID) = (details.user.bits, details.session.bits)
        case .threadPolicySet(let details):
            row.setThread(details.thread, details.number, user: details.by)
            row.value = ThreadPolicySet.value(details.policy, details.history)
        case .invitationDeclined(let details): row.setThread(details.thread, details.number, user: details.user)
        case .threadLocked(let details), .threadUnlocked(let details), .threadClosed(let details):
            row.setThread(details.thread, details.number, user: details.by)
        case .userInvited(let details), .invitationRevoked(let details), .userUnmuted(let details), .userUnbanned(let details),
            .memberRemoved(let details):
            row.setMember(details.user, otherActor: details.by, details.thread, details.number)
        case .roleSet(let details):
            row.setMember(details.user, otherActor: details.by, details.thread, details.number)
            row.value = details.role.code
        case .userMuted(let details), .userBanned(let details):
            row.setMember(details.user, otherActor: details.by, details.thread, details.number)
            row.value = Sanction.value(until: details.until)
        case .operatorGranted(let details), .operatorRevoked(let details): row.user = details.user.bits
        case .messageRemoved(let details), .messagePinned(let details), .messageUnpinned(let details):
            row.setPost(details.message.bits, details.thread, details.number, user: details.by)
        case .replyRemoved(let details):
            row.setPost(details.reply.bits, details.thread, details.number, user: details.by)
            row.message = details.message.bits
        case .messageReported(let details), .messageReportsResolved(let details):
            row.setPost(details.message.bits, details.thread, user: details.by)
        case .replyReported(let details), .replyReportsResolved(let details):
            row.setPost(details.reply.bits, details.thread, user: details.by)
            row.message = details.message.bits
        case .userBlocked(let details), .userUnblocked(let details):
            (row.user, row.secondID) = (details.by.bits, details.user.bits)
        case .custom(let details): row.setPost(details.id.bits, details.thread, details.number, user: details.by)
        case .userErased(let details): row.user = details.user.bits
        case .contentErased: row.number = erasedPositions?.ranges.last?.upperBound ?? 0
        case .clockCorrected, .lost, .unknown: break
        }
        return row
    }
}

extension EventRow {
    fileprivate mutating func setThread(_ thread: ThreadID, _ number: UInt64, user: UserID) {
        (self.user, self.thread, self.number) = (user.bits, thread.bits, number)
    }

    /// Sets the fields of an event of a message, a reply or a custom event; reports have no number.
    fileprivate mutating func setPost(_ id: UInt128, _ thread: ThreadID, _ number: UInt64 = 0, user: UserID) {
        (self.user, self.thread, secondID, self.number) = (user.bits, thread.bits, id, number)
    }

    fileprivate mutating func setMember(_ user: UserID, otherActor: UserID, _ thread: ThreadID, _ number: UInt64) {
        (self.user, secondID, self.thread, self.number) = (user.bits, otherActor.bits, thread.bits, number)
    }
}

extension ThreadPolicySet {
    /// Returns a policy and a history as one number.
    static func value(_ policy: ThreadPolicy, _ history: ThreadHistory) -> UInt64 { policy.code << 8 | history.code }

    /// Returns the policy and the history of a number.
    package static func policyAndHistory(_ value: UInt64) -> (policy: ThreadPolicy, history: ThreadHistory) {
        (ThreadPolicy(code: value >> 8) ?? .open, ThreadHistory(code: value & 0xFF) ?? .all)
    }
}

extension Sanction {
    /// Returns the end of a sanction as a number; 0 for a sanction without an end.
    ///
    /// An end before 1970, which no command can cause, becomes 1: it must not mean "without an end".
    static func value(until: Timestamp?) -> UInt64 { until.map { UInt64(clamping: max(1, $0.millisecondsSince1970)) } ?? 0 }

    /// Whether a number is 0, for no end, or a time at which an event can be recorded.
    static func isEnd(_ value: UInt64) -> Bool { value <= UInt64(ChatEvent.recordableTimes.upperBound.millisecondsSince1970) }

    /// Returns the end of a sanction; nil for a sanction without an end.
    package static func until(_ value: UInt64) -> Timestamp? {
        value == 0 ? nil : Timestamp(millisecondsSince1970: Int64(clamping: value))
    }
}

extension ChatEvent {
    /// Creates the event of a row of a known kind.
    package init(_ row: EventRow, _ content: EventContent, correlation: String?) {
        guard let kind = row.kind else { preconditionFailure("cannot make an event from a row of an unknown kind") }
        self.init(
            recordedAt: row.recordedAt, origin: row.origin, details: EventDetails(kind, row), content: content, correlation: correlation)
    }
}

/// The details that several kinds share.
extension EventRow {
    fileprivate var userID: UserID { UserID(bits: user) }
    fileprivate var threadID: ThreadID { ThreadID(bits: thread) }
    fileprivate var otherActorID: UserID { UserID(bits: otherActor) }

    fileprivate var threadChanged: ThreadChanged { ThreadChanged(thread: threadID, number: number, by: userID) }

    fileprivate var memberChanged: MemberChanged { MemberChanged(thread: threadID, number: number, user: userID, by: otherActorID) }

    fileprivate var sanction: Sanction {
        Sanction(thread: threadID, number: number, user: userID, by: otherActorID, until: Sanction.until(value))
    }

    fileprivate var messageChanged: MessageChanged {
        MessageChanged(thread: threadID, number: number, message: MessageID(bits: secondID), by: userID)
    }

    fileprivate var replyChanged: ReplyChanged {
        ReplyChanged(thread: threadID, number: number, message: MessageID(bits: message), reply: ReplyID(bits: secondID), by: userID)
    }

    fileprivate var messageReport: MessageReport { MessageReport(thread: threadID, message: MessageID(bits: secondID), by: userID) }

    fileprivate var replyReport: ReplyReport {
        ReplyReport(thread: threadID, message: MessageID(bits: message), reply: ReplyID(bits: secondID), by: userID)
    }
}

extension EventDetails {
    /// Creates the details of a row of a known kind.
    init(_ kind: EventKind, _ row: EventRow) {
        let (user, thread) = (row.userID, row.threadID)
        switch kind {
        case .userRegistered: self = .userRegistered(UserRegistered(user: user))
        case .usernameChanged: self = .usernameChanged(UsernameChanged(user: user))
        case .postcodeSet: self = .postcodeSet(PostcodeSet(user: user, thread: thread))
        case .threadOpened: self = .threadOpened(ThreadOpened(thread: thread, number: row.number, by: user))
        case .threadJoined: self = .threadJoined(ThreadJoined(thread: thread, number: row.number, user: user))
        case .threadLeft: self = .threadLeft(ThreadLeft(thread: thread, number: row.number, user: user))
        case .messagePosted:
            self = .messagePosted(
                MessagePosted(thread: thread, number: row.number, message: MessageID(bits: row.secondID), author: user))
        case .replyPosted:
            self = .replyPosted(
                ReplyPosted(
                    thread: thread, number: row.number, message: MessageID(bits: row.message), reply: ReplyID(bits: row.secondID),
                    author: user)
            )
        case .messageEdited: self = .messageEdited(row.messageChanged)
        case .replyEdited: self = .replyEdited(row.replyChanged)
        case .messageRetracted: self = .messageRetracted(row.messageChanged)
        case .replyRetracted: self = .replyRetracted(row.replyChanged)
        case .threadRead: self = .threadRead(ThreadRead(user: user, thread: thread, upTo: row.number))
        case .sessionStarted: self = .sessionStarted(SessionStarted(user: user, session: SessionID(bits: row.secondID)))
        case .sessionEnded: self = .sessionEnded(SessionEnded(user: user, session: SessionID(bits: row.secondID)))
        case .lost: self = .lost
        case .threadPolicySet:
            let (policy, history) = ThreadPolicySet.policyAndHistory(row.value)
            self = .threadPolicySet(
                ThreadPolicySet(thread: thread, number: row.number, policy: policy, history: history, by: user))
        case .userInvited: self = .userInvited(row.memberChanged)
        case .invitationDeclined: self = .invitationDeclined(InvitationDeclined(thread: thread, number: row.number, user: user))
        case .invitationRevoked: self = .invitationRevoked(row.memberChanged)
        case .roleSet:
            self = .roleSet(
                RoleSet(
                    thread: thread, number: row.number, user: user, role: ThreadRole(code: row.value) ?? .member,
                    by: row.otherActorID))
        case .operatorGranted: self = .operatorGranted(OperatorChanged(user: user))
        case .operatorRevoked: self = .operatorRevoked(OperatorChanged(user: user))
        case .messageRemoved: self = .messageRemoved(row.messageChanged)
        case .replyRemoved: self = .replyRemoved(row.replyChanged)
        case .userMuted: self = .userMuted(row.sanction)
        case .userUnmuted: self = .userUnmuted(row.memberChanged)
        case .userBanned: self = .userBanned(row.sanction)
        case .userUnbanned: self = .userUnbanned(row.memberChanged)
        case .memberRemoved: self = .memberRemoved(row.memberChanged)
        case .messagePinned: self = .messagePinned(row.messageChanged)
        case .messageUnpinned: self = .messageUnpinned(row.messageChanged)
        case .threadLocked: self = .threadLocked(row.threadChanged)
        case .threadUnlocked: self = .threadUnlocked(row.threadChanged)
        case .threadClosed: self = .threadClosed(row.threadChanged)
        case .messageReported: self = .messageReported(row.messageReport)
        case .replyReported: self = .replyReported(row.replyReport)
        case .messageReportsResolved: self = .messageReportsResolved(row.messageReport)
        case .replyReportsResolved: self = .replyReportsResolved(row.replyReport)
        case .userBlocked: self = .userBlocked(UserBlock(user: UserID(bits: row.secondID), by: user))
        case .userUnblocked: self = .userUnblocked(UserBlock(user: UserID(bits: row.secondID), by: user))
        case .userErased: self = .userErased(UserErased(user: user))
        case .contentErased: self = .contentErased
        case .clockCorrected: self = .clockCorrected
        case .custom:
            self = .custom(
                CustomEvent(thread: thread, number: row.number, id: CustomEventID(bits: row.secondID), by: user))
        }
    }
}
