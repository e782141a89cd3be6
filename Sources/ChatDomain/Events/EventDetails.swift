/// The kept part of an event: its kind, ids, numbers and positions.
///
/// It contains no text and stays in the journal when the event's content is erased.
/// ``ChatState/evolve(_:at:)`` depends on it alone, except for the indexes over content (usernames,
/// subjects and postcodes). The set of cases is closed; ``unknown(kind:)`` represents all
/// later kinds.
public enum EventDetails: Hashable, Sendable {
    /// A user registered.
    case userRegistered(UserRegistered)
    /// A user changed their username.
    case usernameChanged(UsernameChanged)
    /// A user set their postcode.
    case postcodeSet(PostcodeSet)
    /// A user opened a thread.
    case threadOpened(ThreadOpened)
    /// A user became a member of a thread.
    case threadJoined(ThreadJoined)
    /// A member left a thread.
    case threadLeft(ThreadLeft)
    /// A member posted a message.
    case messagePosted(MessagePosted)
    /// A member replied to a message.
    case replyPosted(ReplyPosted)
    /// The author replaced a message's body.
    case messageEdited(MessageChanged)
    /// The author replaced a reply's body.
    case replyEdited(ReplyChanged)
    /// The author retracted a message.
    case messageRetracted(MessageChanged)
    /// The author retracted a reply.
    case replyRetracted(ReplyChanged)
    /// A member set their read marker.
    case threadRead(ThreadRead)
    /// A user started a session.
    case sessionStarted(SessionStarted)
    /// A session ended.
    case sessionEnded(SessionEnded)
    /// Replaces a record that a repair could not salvage.
    ///
    /// It is recorded at the time of the event before it, or at 1970. No command produces it.
    case lost
    /// The opener of a thread set its policy and its history.
    case threadPolicySet(ThreadPolicySet)
    /// A moderator invited a user to a thread.
    case userInvited(MemberChanged)
    /// A user declined an invitation.
    case invitationDeclined(InvitationDeclined)
    /// A moderator revoked an invitation.
    case invitationRevoked(MemberChanged)
    /// A member got another role.
    case roleSet(RoleSet)
    /// A user became an operator of the community.
    case operatorGranted(OperatorChanged)
    /// A user ceased to be an operator.
    case operatorRevoked(OperatorChanged)
    /// A moderator removed a message.
    case messageRemoved(MessageChanged)
    /// A moderator removed a reply.
    case replyRemoved(ReplyChanged)
    /// A moderator muted a user in a thread.
    case userMuted(Sanction)
    /// A moderator ended a mute.
    case userUnmuted(MemberChanged)
    /// A moderator banned a user from a thread.
    case userBanned(Sanction)
    /// A moderator ended a ban.
    case userUnbanned(MemberChanged)
    /// A moderator ended a membership.
    case memberRemoved(MemberChanged)
    /// A moderator pinned a message.
    case messagePinned(MessageChanged)
    /// A moderator unpinned a message.
    case messageUnpinned(MessageChanged)
    /// A moderator locked a thread.
    case threadLocked(ThreadChanged)
    /// A moderator unlocked a thread.
    case threadUnlocked(ThreadChanged)
    /// An owner or an operator closed a thread for good.
    case threadClosed(ThreadChanged)
    /// A member reported a message to the moderators.
    case messageReported(MessageReport)
    /// A member reported a reply to the moderators.
    case replyReported(ReplyReport)
    /// A moderator resolved the reports of a message.
    case messageReportsResolved(MessageReport)
    /// A moderator resolved the reports of a reply.
    case replyReportsResolved(ReplyReport)
    /// A user blocked another user.
    case userBlocked(UserBlock)
    /// A user unblocked another user.
    case userUnblocked(UserBlock)
    /// The content that a user wrote or was given was erased.
    case userErased(UserErased)
    /// The content of events was erased; the positions are in the event's
    /// ``EventContent/erasure(reason:positions:)``.
    case contentErased
    /// The host corrected the clock: the times of this event and of later ones begin lower.
    ///
    /// No user causes it, and it has no fields: its time is that of the corrected clock.
    case clockCorrected
    /// A custom event, which the host program defines.
    case custom(CustomEvent)
    /// A kind that this version does not know; the content holds the event's bytes unchanged.
    case unknown(kind: UInt8)
}

/// The details of a registration; the username and the subject are content.
public struct UserRegistered: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// Creates the details.
    public init(user: UserID) { self.user = user }
}

/// The details of a change of username; the username is content.
public struct UsernameChanged: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// Creates the details.
    public init(user: UserID) { self.user = user }
}

/// The details of a set postcode; the postcode is content.
public struct PostcodeSet: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The thread of the outward code in which the user now lives.
    public var thread: ThreadID
    /// Creates the details.
    public init(user: UserID, thread: ThreadID) {
        self.user = user
        self.thread = thread
    }
}

/// The details of an opened thread.
///
/// The name is content; the thread of an outward code has none.
public struct ThreadOpened: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread, from 1 upwards without gaps.
    public var number: UInt64
    /// The opener.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, by: UserID) {
        self.thread = thread
        self.number = number
        self.by = by
    }
}

/// The details of a user becoming a member of a thread.
public struct ThreadJoined: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The user.
    public var user: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, user: UserID) {
        self.thread = thread
        self.number = number
        self.user = user
    }
}

/// The details of a member leaving a thread.
public struct ThreadLeft: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The user.
    public var user: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, user: UserID) {
        self.thread = thread
        self.number = number
        self.user = user
    }
}

/// The details of a posted message; the body is content.
public struct MessagePosted: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The message.
    public var message: MessageID
    /// The author.
    public var author: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, message: MessageID, author: UserID) {
        self.thread = thread
        self.number = number
        self.message = message
        self.author = author
    }
}

/// The details of a posted reply; the reply's body is content.
public struct ReplyPosted: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The message that the reply answers.
    public var message: MessageID
    /// The reply.
    public var reply: ReplyID
    /// The author.
    public var author: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, message: MessageID, reply: ReplyID, author: UserID) {
        self.thread = thread
        self.number = number
        self.message = message
        self.reply = reply
        self.author = author
    }
}

/// The details of a change of a message: edited, retracted, removed, pinned or unpinned.
///
/// An edit's new body and a removal's reason are content.
public struct MessageChanged: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The message.
    public var message: MessageID
    /// The user who acted: the author, or a moderator.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, message: MessageID, by: UserID) {
        self.thread = thread
        self.number = number
        self.message = message
        self.by = by
    }
}

/// The details of a change of a reply: edited, retracted or removed.
///
/// An edit's new body and a removal's reason are content.
public struct ReplyChanged: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The message that the reply answers.
    public var message: MessageID
    /// The reply.
    public var reply: ReplyID
    /// The user who acted: the author, or a moderator.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, message: MessageID, reply: ReplyID, by: UserID) {
        self.thread = thread
        self.number = number
        self.message = message
        self.reply = reply
        self.by = by
    }
}

/// The details of a read marker.
///
/// The event does not belong to the thread and has no number within it.
public struct ThreadRead: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The thread.
    public var thread: ThreadID
    /// The position up to which the user has read the thread.
    public var upTo: Position
    /// Creates the details.
    public init(user: UserID, thread: ThreadID, upTo: Position) {
        self.user = user
        self.thread = thread
        self.upTo = upTo
    }
}

/// The details of a started session; the device description is content.
public struct SessionStarted: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The session.
    public var session: SessionID
    /// Creates the details.
    public init(user: UserID, session: SessionID) {
        self.user = user
        self.session = session
    }
}

/// The details of an ended session.
public struct SessionEnded: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The session.
    public var session: SessionID
    /// Creates the details.
    public init(user: UserID, session: SessionID) {
        self.user = user
        self.session = session
    }
}
