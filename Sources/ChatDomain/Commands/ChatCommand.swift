/// A request to change the chat.
///
/// The store makes an id for every id that is nil. A command with the caller's own id is
/// idempotent: sent again, it takes effect once.
public enum ChatCommand: Hashable, Sendable {
    /// Registers a user with a username and, optionally, a subject.
    ///
    /// The username is 1 to 32 characters (``Username``). The subject is the identity provider's
    /// name for the user, 1 to 256 bytes.
    case registerUser(user: UserID? = nil, username: String, subject: String? = nil)
    /// Changes a user's username.
    case changeUsername(user: UserID, username: String)
    /// Sets a user's postcode and joins the thread of its outward code.
    case setPostcode(user: UserID, postcode: String)
    /// Opens a named thread; its opener becomes a member.
    case openThread(thread: ThreadID? = nil, name: String, by: UserID)
    /// Joins a thread; only current residents can join the thread of an outward code.
    case joinThread(user: UserID, thread: ThreadID)
    /// Leaves a thread.
    case leaveThread(user: UserID, thread: ThreadID)
    /// Posts a message of 1 to 16,384 bytes.
    case postMessage(message: MessageID? = nil, thread: ThreadID, author: UserID, body: String)
    /// Replies to a message.
    case reply(reply: ReplyID? = nil, message: MessageID, author: UserID, body: String)
    /// Replaces the body of a message or a reply.
    case edit(PostID, by: UserID, body: String)
    /// Retracts a message or a reply.
    case retract(PostID, by: UserID)
    /// Sets a member's read marker in a thread.
    case markRead(user: UserID, thread: ThreadID, upTo: Position)
    /// Starts a session; the device description is at most 1,024 bytes.
    case startSession(user: UserID, session: SessionID? = nil, device: String)
    /// Ends a session.
    case endSession(session: SessionID)
}

/// Identifies a post: a message or a reply, which its author can edit and retract.
public enum PostID: Hashable, Sendable {
    /// A message.
    case message(MessageID)
    /// A reply.
    case reply(ReplyID)
}

/// A command and its correlation id.
public struct CommandRequest: Hashable, Sendable {
    /// The command.
    public var command: ChatCommand
    /// The caller's correlation id, 1 to 256 bytes, which the events record.
    public var correlation: String?
    /// Native or imported; not public, because an import skips the residence rule.
    package var origin: EventOrigin

    /// Creates a request.
    public init(_ command: ChatCommand, correlation: String? = nil) {
        self.init(command, correlation: correlation, origin: .native)
    }

    /// Creates a request with an origin.
    package init(_ command: ChatCommand, correlation: String? = nil, origin: EventOrigin) {
        self.command = command
        self.correlation = correlation
        self.origin = origin
    }
}
