/// What somebody wants to happen.
///
/// An id that is left nil is made by the store. An id that the caller supplies makes the command safe to send again: it takes effect once.
public enum ChatCommand: Hashable, Sendable {
    /// Registers a user: a username of 1 to 32 characters, and the identity provider's own name for them, 1 to 256 bytes.
    case registerUser(user: UserID? = nil, username: String, subject: String? = nil)
    /// Gives a user another username.
    case changeUsername(user: UserID, username: String)
    /// Sets where a user lives, and joins the thread of that outward code.
    case setPostcode(user: UserID, postcode: String)
    /// Opens a named thread, and joins its opener.
    case openThread(thread: ThreadID? = nil, name: String, by: UserID)
    /// Joins a thread; an outward code's thread takes only who lives there now.
    case joinThread(user: UserID, thread: ThreadID)
    /// Leaves a thread.
    case leaveThread(user: UserID, thread: ThreadID)
    /// Posts a message of 1 to 16,384 bytes.
    case postMessage(message: MessageID? = nil, thread: ThreadID, author: UserID, body: String)
    /// Replies to a message.
    case reply(reply: ReplyID? = nil, message: MessageID, author: UserID, body: String)
    /// Gives a message or a reply another body.
    case edit(PostID, by: UserID, body: String)
    /// Takes back a message or a reply.
    case retract(PostID, by: UserID)
    /// Says how far a member has read a thread.
    case markRead(user: UserID, thread: ThreadID, upTo: Position)
    /// Begins a session; the device is described in at most 1,024 bytes.
    case startSession(user: UserID, session: SessionID? = nil, device: String)
    /// Ends a session.
    case endSession(session: SessionID)
}

/// A message or a reply: what can be edited and retracted.
public enum PostID: Hashable, Sendable {
    /// A message.
    case message(MessageID)
    /// A reply.
    case reply(ReplyID)
}

/// A command with what goes with it: a correlation id.
public struct CommandRequest: Hashable, Sendable {
    /// What is to happen.
    public var command: ChatCommand
    /// The caller's own id for what this belongs to, at most 256 bytes; the events keep it.
    public var correlation: String?
    /// Decided here, or imported: within the package alone, because an import skips the rule of residence.
    package var origin: EventOrigin

    /// Makes a request.
    public init(_ command: ChatCommand, correlation: String? = nil) {
        self.init(command, correlation: correlation, origin: .native)
    }

    /// Makes a request of an import.
    package init(_ command: ChatCommand, correlation: String? = nil, origin: EventOrigin) {
        self.command = command
        self.correlation = correlation
        self.origin = origin
    }
}
