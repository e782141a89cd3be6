/// A request to change the chat.
///
/// The store makes an id for every id that is nil. A command with the caller's own id is
/// idempotent: sent again, it takes effect once.
public enum ChatCommand: Hashable, Sendable {
    /// Registers a user with a username and, optionally, a subject.
    ///
    /// The username is 1 to 64 Unicode scalars (``Username``). The subject is the identity provider's
    /// name for the user, 1 to 256 bytes.
    case registerUser(user: UserID? = nil, username: String, subject: String? = nil)
    /// Changes a user's username.
    case changeUsername(user: UserID, username: String)
    /// Sets a user's postcode and joins the thread of its outward code.
    ///
    /// Opens the thread if it does not exist. Does not join if the user is banned or the thread is
    /// locked or closed. The current postcode has no effect.
    case setPostcode(user: UserID, postcode: String)
    /// Opens a named thread; its opener becomes a member and the owner.
    ///
    /// The name is 1 to 120 Unicode scalars (``ThreadName``). The policy is `open` or `inviteOnly`.
    case openThread(thread: ThreadID? = nil, name: String, by: UserID, policy: ThreadPolicy = .open, history: ThreadHistory = .all)
    /// Joins a thread; only current residents can join the thread of an outward code, and only
    /// invited users a thread with the policy `inviteOnly`.
    case joinThread(user: UserID, thread: ThreadID)
    /// Leaves a thread.
    case leaveThread(user: UserID, thread: ThreadID)
    /// Posts a message; the body is 1 to 16,384 bytes of UTF-8.
    case postMessage(message: MessageID? = nil, thread: ThreadID, author: UserID, body: String)
    /// Replies to a message; the body is 1 to 16,384 bytes of UTF-8.
    case reply(reply: ReplyID? = nil, message: MessageID, author: UserID, body: String)
    /// Replaces the body of a message or a reply by one of 1 to 16,384 bytes of UTF-8.
    case edit(PostID, by: UserID, body: String)
    /// Retracts a message or a reply.
    case retract(PostID, by: UserID)
    /// Sets a member's read marker in a thread.
    case markRead(user: UserID, thread: ThreadID, upTo: Position)
    /// Starts a session; the device description is at most 1,024 bytes.
    case startSession(user: UserID, session: SessionID? = nil, device: String)
    /// Ends a session.
    case endSession(session: SessionID)

    /// Invites a user to a thread.
    case invite(user: UserID, thread: ThreadID, by: UserID)
    /// Accepts an invitation: joins the thread.
    case acceptInvitation(user: UserID, thread: ThreadID)
    /// Declines an invitation.
    case declineInvitation(user: UserID, thread: ThreadID)
    /// Revokes an invitation.
    case revokeInvitation(user: UserID, thread: ThreadID, by: UserID)
    /// Gives a member a role.
    case setRole(user: UserID, thread: ThreadID, role: ThreadRole, by: UserID)
    /// Makes a user an operator of the community.
    ///
    /// The command has no acting user: the host program must not take it from a client.
    case grantOperator(user: UserID)
    /// Ends a user's being an operator; must not be taken from a client.
    case revokeOperator(user: UserID)
    /// Removes a message or a reply; the reason is 1 to 512 bytes of UTF-8.
    case remove(PostID, by: UserID, reason: String)
    /// Stops a user's posts in a thread until a time, or without an end.
    ///
    /// The reason is 1 to 512 bytes of UTF-8. The end is later than the recording time, and at most
    /// 2^48 - 1 milliseconds since 1970.
    case mute(user: UserID, thread: ThreadID, by: UserID, reason: String, until: Timestamp? = nil)
    /// Ends a mute.
    case unmute(user: UserID, thread: ThreadID, by: UserID)
    /// Ends a user's membership and stops their joins until a time, or without an end.
    ///
    /// The reason and the end are as for ``mute(user:thread:by:reason:until:)``.
    case ban(user: UserID, thread: ThreadID, by: UserID, reason: String, until: Timestamp? = nil)
    /// Ends a ban.
    case unban(user: UserID, thread: ThreadID, by: UserID)
    /// Ends a user's membership; the user can join again. The reason is 1 to 512 bytes of UTF-8.
    case removeMember(user: UserID, thread: ThreadID, by: UserID, reason: String)
    /// Pins a message; a thread has at most 50 pins.
    case pin(message: MessageID, by: UserID)
    /// Unpins a message.
    case unpin(message: MessageID, by: UserID)
    /// Stops posts and joins in a thread.
    case lockThread(thread: ThreadID, by: UserID)
    /// Allows posts and joins in a locked thread again.
    case unlockThread(thread: ThreadID, by: UserID)
    /// Stops posts and joins in a thread for good.
    case closeThread(thread: ThreadID, by: UserID)
    /// Sets who may join a named thread and, optionally, what later members may read.
    ///
    /// Without a history it stays as it is. A thread that ceases to be `inviteOnly` has the history
    /// `sinceJoining` from then on. The history never becomes wider.
    case setThreadPolicy(thread: ThreadID, policy: ThreadPolicy, history: ThreadHistory? = nil, by: UserID)
    /// Reports a message or a reply to the moderators of its thread; the reason is 1 to 512 bytes of UTF-8.
    case report(PostID, by: UserID, reason: String)
    /// Resolves the reports of a message or a reply.
    case resolveReport(PostID, by: UserID)
    /// Sets `isFromBlockedUser` on the posts of a user that the acting user sees; hides nothing.
    case block(user: UserID, by: UserID)
    /// Ends a block.
    case unblock(user: UserID, by: UserID)
    /// Appends a custom event, which the host program defines, to a thread.
    ///
    /// The kind is a reverse-DNS name (``CustomKind``), the payload at most 16,384 bytes.
    case custom(id: CustomEventID? = nil, kind: String, thread: ThreadID, by: UserID, payload: CustomPayload)
}

/// Identifies a post: a message or a reply, which its author can edit and retract, and a moderator remove.
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
