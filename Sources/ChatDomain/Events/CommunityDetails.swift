/// The details of a thread's policy, which its opening or a later command sets.
public struct ThreadPolicySet: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// Who may join; never `residents`.
    public var policy: ThreadPolicy
    /// The posts that users who join later may read.
    public var history: ThreadHistory
    /// The user who acted; the opener, if the host closed an imported thread.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, policy: ThreadPolicy, history: ThreadHistory, by: UserID) {
        self.thread = thread
        self.number = number
        self.policy = policy
        self.history = history
        self.by = by
    }
}

/// The details of a locked, unlocked or closed thread.
public struct ThreadChanged: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The user who acted.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, by: UserID) {
        self.thread = thread
        self.number = number
        self.by = by
    }
}

/// The details of an event that a moderator causes and that concerns another user.
///
/// An invitation and its revocation, the end of a mute or a ban, and the end of a membership,
/// whose reason is content.
public struct MemberChanged: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The user concerned.
    public var user: UserID
    /// The user who acted.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, user: UserID, by: UserID) {
        self.thread = thread
        self.number = number
        self.user = user
        self.by = by
    }
}

/// The details of a declined invitation.
public struct InvitationDeclined: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The invited user.
    public var user: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, user: UserID) {
        self.thread = thread
        self.number = number
        self.user = user
    }
}

/// The details of a member's new role.
public struct RoleSet: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The member.
    public var user: UserID
    /// The new role.
    public var role: ThreadRole
    /// The user who acted.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, user: UserID, role: ThreadRole, by: UserID) {
        self.thread = thread
        self.number = number
        self.user = user
        self.role = role
        self.by = by
    }
}

/// The details of a user who became, or ceased to be, an operator of the community.
public struct OperatorChanged: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// Creates the details.
    public init(user: UserID) {
        self.user = user
    }
}

/// The details of a mute or a ban; the reason is content.
public struct Sanction: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The user concerned.
    public var user: UserID
    /// The user who acted.
    public var by: UserID
    /// The end of the sanction; nil if it does not end by itself.
    ///
    /// Later than 1970, at most 2^48 - 1 milliseconds since then.
    public var until: Timestamp?
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, user: UserID, by: UserID, until: Timestamp? = nil) {
        self.thread = thread
        self.number = number
        self.user = user
        self.by = by
        self.until = until
    }
}

/// The details of a reported message, or of the resolution of its reports.
///
/// The event does not belong to the thread and has no number within it. The reason is content.
public struct MessageReport: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The message.
    public var message: MessageID
    /// The reporter, or the moderator.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, message: MessageID, by: UserID) {
        self.thread = thread
        self.message = message
        self.by = by
    }
}

/// The details of a reported reply, or of the resolution of its reports.
///
/// The event does not belong to the thread and has no number within it. The reason is content.
public struct ReplyReport: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The message that the reply answers.
    public var message: MessageID
    /// The reply.
    public var reply: ReplyID
    /// The reporter, or the moderator.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, message: MessageID, reply: ReplyID, by: UserID) {
        self.thread = thread
        self.message = message
        self.reply = reply
        self.by = by
    }
}

/// The details of a blocked or unblocked user.
public struct UserBlock: Hashable, Sendable {
    /// The user whose posts are marked.
    public var user: UserID
    /// The user who acted.
    public var by: UserID
    /// Creates the details.
    public init(user: UserID, by: UserID) {
        self.user = user
        self.by = by
    }
}

/// The details of a custom event, which the host program defines.
///
/// The kind (``ChatEvent/customKind``) and the payload are content, although the kind is never
/// erased: details are plain numbers.
public struct CustomEvent: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The event's number within its thread.
    public var number: UInt64
    /// The event's id.
    public var id: CustomEventID
    /// The member who caused it.
    public var by: UserID
    /// Creates the details.
    public init(thread: ThreadID, number: UInt64, id: CustomEventID, by: UserID) {
        self.thread = thread
        self.number = number
        self.id = id
        self.by = by
    }
}
