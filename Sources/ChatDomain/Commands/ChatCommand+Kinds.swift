extension ChatCommand {
    /// Registers a user with a username and, optionally, a subject.
    ///
    /// The username is 1 to 64 Unicode scalars (``Username``). The subject is the identity
    /// provider's name for the user, 1 to 256 bytes.
    public static func registerUser(id: UserID? = nil, username: String, subject: String? = nil) -> ChatCommand {
        ChatCommand(.registerUser, id: id?.bits, text: username, label: subject)
    }

    /// Changes the acting user's username.
    public static func changeUsername(username: String, by: UserID) -> ChatCommand {
        ChatCommand(.changeUsername, actor: by, text: username)
    }

    /// Sets the acting user's profile text of at most 500 Unicode scalars; nil or an empty text
    /// removes it.
    ///
    /// White space around the text is removed. Line feeds and carriage returns are allowed, other
    /// control characters are not. Members of the user's threads can read it.
    public static func setProfile(about: String? = nil, by: UserID) -> ChatCommand {
        ChatCommand(.setProfile, actor: by, text: about ?? "")
    }

    /// Sets the acting user's postcode and joins the thread of its outward code.
    ///
    /// Opens the thread if it does not exist. Does not join if the user is banned or the thread is
    /// locked or closed. Setting the current postcode again has no effect.
    public static func setPostcode(postcode: String, by: UserID) -> ChatCommand {
        ChatCommand(.setPostcode, actor: by, text: postcode)
    }

    /// Opens a named thread; its opener becomes a member and the owner.
    ///
    /// The name is 1 to 120 Unicode scalars (``ThreadName``). The policy is `open`, `listed` or
    /// `inviteOnly`.
    public static func openThread(
        id: ThreadID? = nil, name: String, policy: ThreadPolicy = .open, history: ThreadHistory = .all, by: UserID
    ) -> ChatCommand {
        ChatCommand(.openThread, actor: by, id: id?.bits, text: name, policy: policy, history: history)
    }

    /// Opens the direct thread of a set of people: the acting user and 1 to 7 others, who all
    /// become members.
    ///
    /// A set has one direct thread: if one of its members opens it again, with any id, the command
    /// is a duplicate; a user who has left it joins it again. If the acting user cannot reach one
    /// of the people, for any reason, the rejection is ``Rejection/Code/cannotMessage``. A user who
    /// is listed twice counts once, and the acting user does not count.
    public static func openDirect(id: ThreadID? = nil, with people: [UserID], by: UserID) -> ChatCommand {
        ChatCommand(.openDirect, actor: by, id: id?.bits, mentions: people)
    }

    /// Joins a thread; only current residents can join the thread of an outward code, and only
    /// invited users a thread with the policy `inviteOnly`.
    public static func joinThread(thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.joinThread, actor: by, thread: thread)
    }

    /// Leaves a thread.
    public static func leaveThread(thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.leaveThread, actor: by, thread: thread)
    }

    /// Posts a message; the body is 1 to 16,384 bytes of UTF-8.
    ///
    /// It mentions at most 50 different members of the thread. A user who is listed twice counts
    /// once.
    ///
    /// With `findMentions` the store also mentions the members whose names follow an @ in the text,
    /// except the author, as far as there are not 50 yet. Of several names the longest one counts,
    /// in any case. No letter, digit or `_` may precede the @ or follow the name, and no name is
    /// found in code, links and addresses.
    public static func postMessage(
        id: MessageID? = nil, thread: ThreadID, body: String, mentions: [UserID] = [], findMentions: Bool = false,
        by: UserID
    ) -> ChatCommand {
        ChatCommand(
            .postMessage, actor: by, thread: thread, id: id?.bits, text: body, mentions: mentions,
            findsMentions: findMentions)
    }

    /// Replies to a message; the body is 1 to 16,384 bytes of UTF-8.
    ///
    /// The mentions are as for ``postMessage(id:thread:body:mentions:findMentions:by:)``.
    public static func reply(
        id: ReplyID? = nil, to message: MessageID, body: String, mentions: [UserID] = [], findMentions: Bool = false,
        by: UserID
    ) -> ChatCommand {
        ChatCommand(
            .reply, actor: by, post: .message(message), id: id?.bits, text: body, mentions: mentions,
            findsMentions: findMentions)
    }

    /// Replaces the body of a message or a reply by one of 1 to 16,384 bytes of UTF-8.
    ///
    /// `replaces` is the position of the event that wrote the text to replace: that of the latest
    /// edit, or else of the post. If the text is another one now, the command is rejected as
    /// ``Rejection/Code/edited``; nil replaces every text. The mentions, as for
    /// ``postMessage(id:thread:body:mentions:findMentions:by:)``, replace those of the former text.
    /// With `findMentions`, a name that the former text has too mentions the same user, whatever the
    /// user is called now.
    public static func edit(
        _ post: PostID, id: EditID? = nil, body: String, mentions: [UserID] = [], findMentions: Bool = false,
        replaces: Position? = nil, by: UserID
    ) -> ChatCommand {
        ChatCommand(
            .edit, actor: by, post: post, id: id?.bits, text: body, mentions: mentions, replaces: replaces,
            findsMentions: findMentions)
    }

    /// Retracts a message or a reply.
    public static func retract(_ post: PostID, by: UserID) -> ChatCommand {
        ChatCommand(.retract, actor: by, post: post)
    }

    /// Sets a member's read marker in a thread.
    ///
    /// `seen` is the position that the caller knew when its user acted: the command has no effect if
    /// the user has moved the marker back since, perhaps on another device. With nil it has, whatever
    /// has happened. A position after the head is like the head.
    public static func markRead(thread: ThreadID, upTo: Position, seen: Position? = nil, by: UserID) -> ChatCommand {
        ChatCommand(.markRead, actor: by, thread: thread, upTo: upTo, seen: seen)
    }

    /// Moves a member's read marker in a thread back, so that what begins at a position is unread
    /// again.
    ///
    /// The position is 1 to the head. A marker that is below it stays as it is. The command has no
    /// effect if the user has moved the marker forward after `seen`, as with
    /// ``markRead(thread:upTo:seen:by:)``.
    public static func markUnread(thread: ThreadID, from: Position, seen: Position? = nil, by: UserID) -> ChatCommand {
        ChatCommand(.markUnread, actor: by, thread: thread, from: from, seen: seen)
    }

    /// Moves the read marker of the acting user's inbox forwards; the entries up to it are read.
    ///
    /// The position is at most the head.
    public static func markInboxRead(upTo: Position, by: UserID) -> ChatCommand {
        ChatCommand(.markInboxRead, actor: by, upTo: upTo)
    }

    /// Sets what of a thread notifies a member, until a time or without an end.
    ///
    /// The end is later than the recording time, and at most 2^48 - 1 milliseconds since 1970;
    /// after it, the level is ``NotificationLevel/all``.
    public static func setNotifications(
        thread: ThreadID, level: NotificationLevel, until: Timestamp? = nil, by: UserID
    ) -> ChatCommand {
        ChatCommand(.setNotifications, actor: by, thread: thread, until: until, level: level)
    }

    /// Starts a session; the device description is at most 1,024 bytes.
    public static func startSession(id: SessionID? = nil, device: String, by: UserID) -> ChatCommand {
        ChatCommand(.startSession, actor: by, id: id?.bits, text: device)
    }

    /// Ends a session.
    public static func endSession(session: SessionID) -> ChatCommand { ChatCommand(.endSession, id: session.bits) }

    /// Invites a user to a thread.
    public static func invite(user: UserID, thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.invite, actor: by, user: user, thread: thread)
    }

    /// Accepts an invitation: joins the thread.
    public static func acceptInvitation(thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.acceptInvitation, actor: by, thread: thread)
    }

    /// Declines an invitation.
    public static func declineInvitation(thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.declineInvitation, actor: by, thread: thread)
    }

    /// Revokes an invitation.
    public static func revokeInvitation(user: UserID, thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.revokeInvitation, actor: by, user: user, thread: thread)
    }

    /// Gives a member a role.
    public static func setRole(user: UserID, thread: ThreadID, role: ThreadRole, by: UserID) -> ChatCommand {
        ChatCommand(.setRole, actor: by, user: user, thread: thread, role: role)
    }

    /// Makes a user an operator of the community.
    ///
    /// Nothing in the command says who may give this right: the host program must not take it from
    /// a client.
    public static func grantOperator(user: UserID) -> ChatCommand { ChatCommand(.grantOperator, user: user) }

    /// Ends a user's being an operator; must not be taken from a client.
    public static func revokeOperator(user: UserID) -> ChatCommand { ChatCommand(.revokeOperator, user: user) }

    /// Removes a message or a reply; the reason is 1 to 512 bytes of UTF-8.
    public static func remove(_ post: PostID, reason: String, by: UserID) -> ChatCommand {
        ChatCommand(.remove, actor: by, post: post, text: reason)
    }

    /// Stops a user's posts in a thread until a time, or without an end.
    ///
    /// The reason is 1 to 512 bytes of UTF-8. The end is later than the recording time, and at most
    /// 2^48 - 1 milliseconds since 1970.
    public static func mute(user: UserID, thread: ThreadID, reason: String, until: Timestamp? = nil, by: UserID)
        -> ChatCommand
    {
        ChatCommand(.mute, actor: by, user: user, thread: thread, text: reason, until: until)
    }

    /// Ends a mute.
    public static func unmute(user: UserID, thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.unmute, actor: by, user: user, thread: thread)
    }

    /// Ends a user's membership and stops their joins until a time, or without an end.
    ///
    /// The reason and the end are as for ``mute(user:thread:reason:until:by:)``.
    public static func ban(user: UserID, thread: ThreadID, reason: String, until: Timestamp? = nil, by: UserID)
        -> ChatCommand
    {
        ChatCommand(.ban, actor: by, user: user, thread: thread, text: reason, until: until)
    }

    /// Ends a ban.
    public static func unban(user: UserID, thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.unban, actor: by, user: user, thread: thread)
    }

    /// Ends a user's membership; the user can join again.
    ///
    /// The reason is 1 to 512 bytes of UTF-8.
    public static func removeMember(user: UserID, thread: ThreadID, reason: String, by: UserID) -> ChatCommand {
        ChatCommand(.removeMember, actor: by, user: user, thread: thread, text: reason)
    }

    /// Pins a message; a thread has at most 50 pins.
    public static func pin(message: MessageID, by: UserID) -> ChatCommand {
        ChatCommand(.pin, actor: by, post: .message(message))
    }

    /// Unpins a message.
    public static func unpin(message: MessageID, by: UserID) -> ChatCommand {
        ChatCommand(.unpin, actor: by, post: .message(message))
    }

    /// Stops posts and joins in a thread.
    public static func lockThread(thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.lockThread, actor: by, thread: thread)
    }

    /// Allows posts and joins in a locked thread again.
    public static func unlockThread(thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.unlockThread, actor: by, thread: thread)
    }

    /// Stops posts and joins in a thread for good.
    public static func closeThread(thread: ThreadID, by: UserID) -> ChatCommand {
        ChatCommand(.closeThread, actor: by, thread: thread)
    }

    /// Sets who may join a named thread and, optionally, what later members may read.
    ///
    /// Without a history it stays as it is. A thread that ceases to be `inviteOnly` has the history
    /// `sinceJoining` from then on. The history never becomes wider.
    public static func setThreadPolicy(
        thread: ThreadID, policy: ThreadPolicy, history: ThreadHistory? = nil, by: UserID
    ) -> ChatCommand {
        ChatCommand(.setThreadPolicy, actor: by, thread: thread, policy: policy, history: history)
    }

    /// Gives a named thread another name of 1 to 120 Unicode scalars (``ThreadName``).
    ///
    /// An owner can do this, and an operator if the thread has no owner. The rules do not keep
    /// names, so the same name again is recorded again.
    public static func renameThread(thread: ThreadID, name: String, by: UserID) -> ChatCommand {
        ChatCommand(.renameThread, actor: by, thread: thread, text: name)
    }

    /// Reports a message or a reply to the moderators of its thread; the reason is 1 to 512 bytes
    /// of UTF-8.
    public static func report(_ post: PostID, reason: String, by: UserID) -> ChatCommand {
        ChatCommand(.report, actor: by, post: post, text: reason)
    }

    /// Resolves the reports of a message or a reply.
    public static func resolveReport(_ post: PostID, by: UserID) -> ChatCommand {
        ChatCommand(.resolveReport, actor: by, post: post)
    }

    /// Sets `isFromBlockedUser` on the posts of a user that the acting user sees; hides nothing.
    public static func block(user: UserID, by: UserID) -> ChatCommand { ChatCommand(.block, actor: by, user: user) }

    /// Ends a block.
    public static func unblock(user: UserID, by: UserID) -> ChatCommand { ChatCommand(.unblock, actor: by, user: user) }

    /// Reacts to a message or a reply with an emoji or a name such as `:wave:` (``Emoji``).
    ///
    /// A user has at most 20 reactions on a post, and a post at most 50 different ones. The command has
    /// no effect if the user has taken the same reaction back after `seen`, as with
    /// ``markRead(thread:upTo:seen:by:)``.
    public static func react(_ post: PostID, emoji: String, seen: Position? = nil, by: UserID) -> ChatCommand {
        ChatCommand(.react, actor: by, post: post, text: emoji, seen: seen)
    }

    /// Takes a reaction back, also after leaving the thread.
    ///
    /// The command has no effect if the user has added the same reaction after `seen`, as with
    /// ``markRead(thread:upTo:seen:by:)``.
    public static func unreact(_ post: PostID, emoji: String, seen: Position? = nil, by: UserID) -> ChatCommand {
        ChatCommand(.unreact, actor: by, post: post, text: emoji, seen: seen)
    }

    /// Appends a custom event, which the host program defines, to a thread.
    ///
    /// The payload has at most 16,384 bytes.
    public static func custom(
        id: CustomEventID? = nil, kind: CustomKind, thread: ThreadID, payload: CustomPayload, by: UserID
    ) -> ChatCommand {
        ChatCommand(.custom, actor: by, thread: thread, id: id?.bits, text: payload.text, label: kind.text)
    }
}
