/// The kinds of commands.
///
/// The functions of ``ChatCommand`` that make them say what they do.
package enum CommandKind: UInt8, CaseIterable, Sendable, Hashable {
    case registerUser, changeUsername, setPostcode
    case openThread, joinThread, leaveThread, postMessage, reply, edit, retract, markRead
    case startSession, endSession
    case invite, acceptInvitation, declineInvitation, revokeInvitation, setRole, grantOperator, revokeOperator
    case remove, mute, unmute, ban, unban, removeMember, pin, unpin
    case lockThread, unlockThread, closeThread, setThreadPolicy
    case report, resolveReport, block, unblock
    case react, unreact
    case custom
    case markUnread, setNotifications, markInboxRead
    case renameThread
    case openDirect
    case setProfile

    /// The kind's row in the table of commands.
    @inline(__always)
    package var form: CommandForm { CommandForm.table[Int(rawValue)] }

    /// The table of commands.
    fileprivate var row: CommandForm {
        switch self {
        // The event has the username and its fold key, which is at most three times as long.
        case .registerUser:
            CommandForm(
                self, "Registers a user.", [.newID(.user), .text(.username), .subject], of: .host, textFactor: 4)
        case .changeUsername:
            CommandForm(
                self, "Takes another name, which no other user has.", [.actor(.user), .text(.username)], textFactor: 4)
        // A change of postcode can open the thread of the outward code and join the user to it.
        case .setPostcode:
            CommandForm(
                self, "Sets the postcode, and joins the thread of its outward code.",
                [.actor(.user), .text(.postcode)], events: 3)
        // The opening of a thread sets its policy and joins its creator.
        case .openThread:
            CommandForm(
                self, "Opens a named thread, and joins it as its owner.",
                [.newThread, .text(.name), .actor(.by), .policyOfOpening, .historyOfOpening], events: 3)
        // The opening, and the joins of at most eight people.
        case .openDirect:
            CommandForm(
                self,
                "Opens the direct thread of the user and 1 to 7 others, or joins it again; a set of people has one. If one of them cannot be reached, for any reason, the rejection is `cannotMessage`.",
                [.newThread, .actor(.by), .people], events: 9)
        case .joinThread: CommandForm(self, "Joins a thread.", [.actor(.user), .thread])
        case .leaveThread: CommandForm(self, "Leaves a thread.", [.actor(.user), .thread])
        // In a direct thread of two, the join of the other one comes first.
        case .postMessage:
            CommandForm(
                self, "Posts a message.",
                [.newID(.message), .thread, .actor(.author), .text(.body), .mentions, .findMentions],
                events: 2)
        case .reply:
            CommandForm(
                self, "Posts a reply to a message.",
                [.newID(.reply), .message, .actor(.author), .text(.body), .mentions, .findMentions], events: 2)
        case .edit:
            CommandForm(
                self, "Replaces the text of one's own post.",
                [.newID(.edit), .post, .actor(.by), .text(.body), .mentions, .findMentions, .replaces])
        case .retract: CommandForm(self, "Retracts one's own post.", [.post, .actor(.by)])
        case .resolveReport: CommandForm(self, "Resolves the reports of a post.", [.post, .actor(.by)])
        case .markRead:
            CommandForm(self, "Moves the read marker forward.", [.actor(.user), .thread, .upTo, .seen])
        case .markInboxRead: CommandForm(self, "Moves the read marker of the inbox forward.", [.actor(.user), .upTo])
        case .markUnread:
            CommandForm(
                self, "Moves the read marker back, so that what begins at `from` is unread again.",
                [.actor(.user), .thread, .from, .seen])
        case .setNotifications:
            CommandForm(
                self,
                "Sets what of a thread notifies the user, until an end if it is given; then the level is `all` again.",
                [.actor(.user), .thread, .level, .until])
        case .startSession:
            CommandForm(
                self, "Records that a device is in use. It is not a session of an account.",
                [.actor(.user), .newID(.session), .text(.device)])
        case .endSession:
            CommandForm(
                self, "Ends such a record of one's own; that of another user is answered like an unknown one.",
                [.session])
        case .acceptInvitation: CommandForm(self, "Joins a thread by an invitation.", [.thread, .actor(.user)])
        case .declineInvitation: CommandForm(self, "Declines an invitation.", [.thread, .actor(.user)])
        case .invite: CommandForm(self, "Invites a user to a thread.", [.thread, .user, .actor(.by)])
        case .revokeInvitation: CommandForm(self, "Revokes an invitation.", [.thread, .user, .actor(.by)])
        case .unmute: CommandForm(self, "Ends a mute.", [.thread, .user, .actor(.by)])
        case .unban: CommandForm(self, "Ends a ban.", [.thread, .user, .actor(.by)])
        case .setRole: CommandForm(self, "Gives a member a role.", [.thread, .user, .actor(.by), .role])
        case .grantOperator: CommandForm(self, "Makes a user an operator of the community.", [.user], of: .host)
        case .revokeOperator: CommandForm(self, "Ends the role of an operator.", [.user], of: .host)
        case .react:
            CommandForm(
                self, "Reacts to a post; at most 20 reactions of a user on a post, and 50 different ones on a post.",
                [.post, .actor(.by), .text(.emoji), .seen])
        case .unreact: CommandForm(self, "Takes a reaction back.", [.post, .actor(.by), .text(.emoji), .seen])
        case .remove: CommandForm(self, "Removes a post, as a moderator.", [.post, .actor(.by), .text(.reason)])
        case .report:
            CommandForm(
                self,
                "Reports a post to the moderators of its thread or, if it has none, to the operators. The answer has `moderators` if there are none either.",
                [.post, .actor(.by), .text(.reason)])
        case .mute:
            CommandForm(
                self,
                "Stops the posts of a user in a thread. The user is or was in the thread, or is invited to it; otherwise the rejection is `notAMember`.",
                [.thread, .user, .actor(.by), .text(.reason), .until])
        // A ban ends the membership; both events have the reason.
        case .ban:
            CommandForm(
                self,
                "Ends a membership and stops joins. The user is or was in the thread, or is invited to it; otherwise the rejection is `notAMember`.",
                [.thread, .user, .actor(.by), .text(.reason), .until], events: 2, textFactor: 2)
        case .removeMember: CommandForm(self, "Ends a membership.", [.thread, .user, .actor(.by), .text(.reason)])
        case .pin: CommandForm(self, "Pins a message.", [.message, .actor(.by)])
        case .unpin: CommandForm(self, "Unpins a message.", [.message, .actor(.by)])
        case .lockThread: CommandForm(self, "Stops posts and joins for now.", [.thread, .actor(.by)])
        case .unlockThread: CommandForm(self, "Allows posts and joins again.", [.thread, .actor(.by)])
        case .closeThread: CommandForm(self, "Stops posts and joins for good.", [.thread, .actor(.by)])
        case .setThreadPolicy:
            CommandForm(
                self,
                "Sets who may join a named thread, and what later members may read. For its owners, and for operators where there is none.",
                [.thread, .actor(.by), .policy, .history])
        case .renameThread:
            CommandForm(
                self, "Gives a named thread another name. For its owners, and for operators where there is none.",
                [.thread, .text(.name), .actor(.by)])
        case .block:
            CommandForm(
                self,
                "Marks the posts of a user for oneself. In a direct thread of two, nobody can write while one of them blocks the other.",
                [.user, .actor(.by)])
        case .unblock: CommandForm(self, "Ends a block.", [.user, .actor(.by)])
        case .custom:
            CommandForm(
                self, "Appends an event of a program.", [.thread, .actor(.by), .newID(.id), .customKind, .payload])
        case .setProfile:
            CommandForm(
                self, "Sets the user's profile text, which the members of their threads can read.",
                [.actor(.user), .about])
        }
    }
}

/// What is the same in all commands of a kind: a row of the table of commands.
///
/// The JSON, the acting user, the byte bound and who may send a command follow from its row.
package struct CommandForm: Sendable {
    /// The kind's name, which is its key in JSON.
    package let name: String
    /// A sentence that says what the command does for the user who acts, for the description of an
    /// API.
    package let summary: StaticString
    /// The fields, in the order of the JSON.
    package let fields: [CommandField]
    /// The senders from whom a command is taken.
    package let sender: Sender
    /// The maximum number of events of a command.
    package let eventCount: Int
    /// The bytes that the events of a command have for each byte of its text, at most.
    package let textFactor: Int
    /// Whether the command has an acting user.
    let hasActor: Bool
    /// Whether the command concerns a post that exists.
    package let concernsPost: Bool
    /// Whether the command creates something that has an id.
    package let createsID: Bool

    /// The senders from whom commands are taken.
    package enum Sender: Sendable {
        /// Every user; the acting user must be that of the session.
        ///
        /// `endSession` has no acting user, so the host compares whose session it is.
        case client
        /// The host program only; a server registers users.
        case host
    }

    fileprivate init(
        _ kind: CommandKind, _ summary: StaticString, _ fields: [CommandField], of sender: Sender = .client,
        events: Int = 1, textFactor: Int = 1
    ) {
        self.summary = summary
        (name, self.fields, self.sender, eventCount, self.textFactor) = ("\(kind)", fields, sender, events, textFactor)
        hasActor = fields.contains { if case .actor = $0 { true } else { false } }
        concernsPost = fields.contains(.post) || fields.contains(.message)
        createsID = fields.contains { if case .newID = $0 { true } else { $0 == .newThread } }
    }

    /// The forms by raw value, computed once.
    fileprivate static let table = CommandKind.allCases.map(\.row)

    /// The kinds by name.
    static let kindsByName = Dictionary(uniqueKeysWithValues: CommandKind.allCases.map { ($0.form.name, $0) })
}

/// A field of a command.
package enum CommandField: Hashable, Sendable {
    /// The acting user.
    case actor(UserKey)
    /// The user concerned.
    case user
    case thread
    /// The message or the reply concerned.
    case post
    /// The message concerned or answered.
    case message
    case session
    /// The id of what the command creates, which can be left out.
    case newID(FieldKey), newThread
    /// The text.
    case text(FieldKey)
    /// The subject of a registration, which can be left out.
    case subject
    /// The kind and the payload of a custom event.
    case customKind, payload
    /// The policy and the history; those of an opening can be left out.
    case policy, history, policyOfOpening, historyOfOpening
    case role
    /// The end of a sanction or a level; null or left out for one without an end.
    case until
    case upTo
    case from, level
    /// The position of the text that an edit replaces, which can be left out.
    case replaces
    /// The position that the caller knew, which can be left out.
    case seen
    /// The users whom the text mentions, which can be left out.
    case mentions
    /// Whether the store finds the users whom the text mentions; can be left out.
    case findMentions
    /// The other people of a direct thread.
    case people
    /// The text about the user; null or left out for none.
    case about
}

/// The keys under which JSON has the user who acts.
package enum UserKey: String, Sendable {
    case user, by, author
}

extension ChatCommand {
    /// The command's name, which is its key in JSON.
    public var name: String { kind.form.name }

    /// The text of a message, a reply or an edit; nil for other commands.
    public var body: String? { [.postMessage, .reply, .edit].contains(kind) ? text : nil }

    /// The user who acts, as the command names them; nil for a command without an acting user.
    ///
    /// A server compares it with the user of the session.
    public var actor: UserID? { kind.form.hasActor ? actorID : nil }

    /// The thread that the command names; nil for others, such as a reply, which names a message.
    public var thread: ThreadID? { kind.form.fields.contains(.thread) ? threadID : nil }

    /// The post that the command is about, of a reply the message that it answers; nil for others.
    public var post: PostID? { kind.form.concernsPost ? postID : nil }

    /// Whether the store must generate the id of what the command creates.
    package var needsID: Bool { id == nil && kind.form.createsID }
}

extension CommandRequest {
    /// The maximum size of the command's events in a commit: its text plus the fixed fields of each
    /// event.
    package var maximumByteCount: Int {
        let form = command.kind.form
        let text = command.text.utf8.count + (command.label?.utf8.count ?? 0)
        let mentions = 16 * min(command.mentions.count, MessageBody.maximumMentionCount)
        // The rules accept no text of more than 66,000 bytes, and a rejected command appends
        // nothing. 128 bytes hold the fixed fields of an event and its record.
        return form.textFactor * min(text, 66_000) + mentions + form.eventCount
            * (128 + min(correlation?.utf8.count ?? 0, 256))
    }
}
