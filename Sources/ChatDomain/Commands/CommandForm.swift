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
        case .registerUser: CommandForm(self, [.newID(.user), .text(.username), .subject], of: .host, textFactor: 4)
        case .changeUsername: CommandForm(self, [.actor(.user), .text(.username)], textFactor: 4)
        // A change of postcode can open the thread of the outward code and join the user to it.
        case .setPostcode: CommandForm(self, [.actor(.user), .text(.postcode)], events: 3)
        // The opening of a thread sets its policy and joins its creator.
        case .openThread:
            CommandForm(self, [.newThread, .text(.name), .actor(.by), .policyOfOpening, .historyOfOpening], events: 3)
        // The opening, and the joins of at most eight people.
        case .openDirect: CommandForm(self, [.newThread, .actor(.by), .people], events: 9)
        case .joinThread, .leaveThread: CommandForm(self, [.actor(.user), .thread])
        // In a direct thread of two, the join of the other one comes first.
        case .postMessage:
            CommandForm(self, [.newID(.message), .thread, .actor(.author), .text(.body), .mentions], events: 2)
        case .reply: CommandForm(self, [.newID(.reply), .message, .actor(.author), .text(.body), .mentions], events: 2)
        case .edit: CommandForm(self, [.newID(.edit), .post, .actor(.by), .text(.body), .mentions, .replaces])
        case .retract, .resolveReport: CommandForm(self, [.post, .actor(.by)])
        case .markRead: CommandForm(self, [.actor(.user), .thread, .upTo])
        case .markInboxRead: CommandForm(self, [.actor(.user), .upTo])
        case .markUnread: CommandForm(self, [.actor(.user), .thread, .from])
        case .setNotifications: CommandForm(self, [.actor(.user), .thread, .level, .until])
        case .startSession: CommandForm(self, [.actor(.user), .newID(.session), .text(.device)])
        case .endSession: CommandForm(self, [.session])
        case .acceptInvitation, .declineInvitation: CommandForm(self, [.thread, .actor(.user)])
        case .invite, .revokeInvitation, .unmute, .unban: CommandForm(self, [.thread, .user, .actor(.by)])
        case .setRole: CommandForm(self, [.thread, .user, .actor(.by), .role])
        case .grantOperator, .revokeOperator: CommandForm(self, [.user], of: .host)
        case .react, .unreact: CommandForm(self, [.post, .actor(.by), .text(.emoji)])
        case .remove, .report: CommandForm(self, [.post, .actor(.by), .text(.reason)])
        case .mute: CommandForm(self, [.thread, .user, .actor(.by), .text(.reason), .until])
        // A ban ends the membership; both events have the reason.
        case .ban: CommandForm(self, [.thread, .user, .actor(.by), .text(.reason), .until], events: 2, textFactor: 2)
        case .removeMember: CommandForm(self, [.thread, .user, .actor(.by), .text(.reason)])
        case .pin, .unpin: CommandForm(self, [.message, .actor(.by)])
        case .lockThread, .unlockThread, .closeThread: CommandForm(self, [.thread, .actor(.by)])
        case .setThreadPolicy: CommandForm(self, [.thread, .actor(.by), .policy, .history])
        case .renameThread: CommandForm(self, [.thread, .text(.name), .actor(.by)])
        case .block, .unblock: CommandForm(self, [.user, .actor(.by)])
        case .custom: CommandForm(self, [.thread, .actor(.by), .newID(.id), .customKind, .payload])
        case .setProfile: CommandForm(self, [.actor(.user), .about])
        }
    }
}

/// What is the same in all commands of a kind: a row of the table of commands.
///
/// The JSON, the acting user, the byte bound and who may send a command follow from its row.
package struct CommandForm: Sendable {
    /// The kind's name, which is its key in JSON.
    package let name: String
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
        _ kind: CommandKind, _ fields: [CommandField], of sender: Sender = .client, events: Int = 1, textFactor: Int = 1
    ) {
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
    /// The users whom the text mentions, which can be left out.
    case mentions
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
    package var actor: UserID? { kind.form.hasActor ? actorID : nil }

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
