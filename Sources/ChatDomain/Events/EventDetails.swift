/// The kept part of what happened: the kind of an event and its ids, numbers and positions.
///
/// A fact holds no text. It stays in the journal when an event's content is erased, and it alone drives ``ChatState/evolve(_:at:)`` but for the indexes over
/// content itself (names, subjects and postcodes). The set is closed but for ``unknown(kind:)``.
public enum EventDetails: Hashable, Sendable {
    /// Somebody registered.
    case userRegistered(UserRegistered)
    /// A user took another username.
    case usernameChanged(UsernameChanged)
    /// A user set their postcode.
    case postcodeSet(PostcodeSet)
    /// A thread was opened.
    case threadOpened(ThreadOpened)
    /// A user became a member of a thread.
    case threadJoined(ThreadJoined)
    /// A member left a thread.
    case threadLeft(ThreadLeft)
    /// A member posted a message.
    case messagePosted(MessagePosted)
    /// A member replied to a message.
    case replyPosted(ReplyPosted)
    /// The author gave a message another body.
    case messageEdited(MessageChanged)
    /// The author gave a reply another body.
    case replyEdited(ReplyChanged)
    /// The author took a message back.
    case messageRetracted(MessageChanged)
    /// The author took a reply back.
    case replyRetracted(ReplyChanged)
    /// A member has read a thread up to a position.
    case threadRead(ThreadRead)
    /// A user began a session.
    case sessionStarted(SessionStarted)
    /// A session ended.
    case sessionEnded(SessionEnded)
    /// A record that a repair could not salvage stood here: nothing more is known of it. It is recorded at the time of the event before it, 1970 if there is
    /// none; no command leads to it.
    case lost
    /// A kind that this version does not know: its bytes are the event's content, carried untouched.
    case unknown(kind: UInt8)
}

/// Somebody registered; the username and the subject are content.
public struct UserRegistered: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// Makes the fact.
    public init(user: UserID) { self.user = user }
}

/// A user took another username, which is content.
public struct UsernameChanged: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// Makes the fact.
    public init(user: UserID) { self.user = user }
}

/// A user set their postcode, which is content; the thread of its outward code is kept.
public struct PostcodeSet: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The thread of the outward code in which the user lives from now on.
    public var thread: ThreadID
    /// Makes the fact.
    public init(user: UserID, thread: ThreadID) {
        self.user = user
        self.thread = thread
    }
}

/// A thread was opened; its name is content, unless it is the thread of an outward code.
public struct ThreadOpened: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread, from 1 and with no gap.
    public var number: UInt64
    /// Who did it.
    public var by: UserID
    /// Makes the fact.
    public init(thread: ThreadID, number: UInt64, by: UserID) {
        self.thread = thread
        self.number = number
        self.by = by
    }
}

/// A user became a member of a thread.
public struct ThreadJoined: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The user.
    public var user: UserID
    /// Makes the fact.
    public init(thread: ThreadID, number: UInt64, user: UserID) {
        self.thread = thread
        self.number = number
        self.user = user
    }
}

/// A member left a thread.
public struct ThreadLeft: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The user.
    public var user: UserID
    /// Makes the fact.
    public init(thread: ThreadID, number: UInt64, user: UserID) {
        self.thread = thread
        self.number = number
        self.user = user
    }
}

/// A member posted a message; its body is content.
public struct MessagePosted: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The message.
    public var message: MessageID
    /// Who wrote it.
    public var author: UserID
    /// Makes the fact.
    public init(thread: ThreadID, number: UInt64, message: MessageID, author: UserID) {
        self.thread = thread
        self.number = number
        self.message = message
        self.author = author
    }
}

/// A member replied to a message; the reply's body is content.
public struct ReplyPosted: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The message.
    public var message: MessageID
    /// The reply.
    public var reply: ReplyID
    /// Who wrote it.
    public var author: UserID
    /// Makes the fact.
    public init(thread: ThreadID, number: UInt64, message: MessageID, reply: ReplyID, author: UserID) {
        self.thread = thread
        self.number = number
        self.message = message
        self.reply = reply
        self.author = author
    }
}

/// The author edited (the new body is content) or retracted a message.
public struct MessageChanged: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The message.
    public var message: MessageID
    /// Who did it.
    public var by: UserID
    /// Makes the fact.
    public init(thread: ThreadID, number: UInt64, message: MessageID, by: UserID) {
        self.thread = thread
        self.number = number
        self.message = message
        self.by = by
    }
}

/// The author edited (the new body is content) or retracted a reply.
public struct ReplyChanged: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The message.
    public var message: MessageID
    /// The reply.
    public var reply: ReplyID
    /// Who did it.
    public var by: UserID
    /// Makes the fact.
    public init(thread: ThreadID, number: UInt64, message: MessageID, reply: ReplyID, by: UserID) {
        self.thread = thread
        self.number = number
        self.message = message
        self.reply = reply
        self.by = by
    }
}

/// A member has read a thread up to a position; a read marker is no event of the thread and bears no number in it.
public struct ThreadRead: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The thread.
    public var thread: ThreadID
    /// The position up to which the thread has been read.
    public var upTo: Position
    /// Makes the fact.
    public init(user: UserID, thread: ThreadID, upTo: Position) {
        self.user = user
        self.thread = thread
        self.upTo = upTo
    }
}

/// A user began a session on a device, whose description is content.
public struct SessionStarted: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The session.
    public var session: SessionID
    /// Makes the fact.
    public init(user: UserID, session: SessionID) {
        self.user = user
        self.session = session
    }
}

/// A session ended.
public struct SessionEnded: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The session.
    public var session: SessionID
    /// Makes the fact.
    public init(user: UserID, session: SessionID) {
        self.user = user
        self.session = session
    }
}
