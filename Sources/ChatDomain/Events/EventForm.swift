/// What is the same in all events of a kind: a row of the table of kinds.
///
/// The bytes, the JSON, the indexes, the redaction and the audience of a kind follow from its row.
package struct EventForm: Sendable {
    /// The fields of the kept part; ``layout(_:)`` returns those of one event.
    let layout: EventLayout
    /// The erasable part.
    let content: ContentForm
    /// The key of the event's user in JSON.
    let userKey: UserKey
    /// The users who may see the event, in addition to its own users and the host program.
    package let audience: EventAudience
    /// Whether the events move their thread to the end of a list of threads.
    package let reordersThreads: Bool
    /// Whether the events change the membership of their user in their thread.
    let changesMembership: Bool
    /// Whether the events have a list of the people of their thread.
    let listsPeople: Bool
    /// The command that causes the events, by which an audit checks them; nil for a kind that no
    /// command causes.
    let cause: CommandKind?

    fileprivate init(
        _ layout: EventLayout, _ content: ContentForm = .none, userKey: UserKey = .user,
        shownTo audience: EventAudience = .noOtherUser,
        changesMembership: Bool = false, reordersThreads: Bool = true, listsPeople: Bool = false,
        causedBy cause: CommandKind? = nil
    ) {
        (self.layout, self.content, self.userKey, self.audience) = (layout, content, userKey, audience)
        (self.changesMembership, self.reordersThreads, self.cause) = (changesMembership, reordersThreads, cause)
        self.listsPeople = listsPeople
    }
}

extension EventKind {
    /// The kind's row in the table of kinds.
    ///
    /// Every part of a row is a constant: inlined, a question about a kind becomes a test of bits,
    /// and a replay can ask several for each event.
    @inline(__always)
    package var form: EventForm {
        switch self {
        // No other user: they see the name only after the user has joined a thread.
        case .userRegistered: EventForm(.user, .registration, causedBy: .registerUser)
        case .usernameChanged: EventForm(.user, .username, shownTo: .coMembers, causedBy: .changeUsername)
        case .postcodeSet: EventForm(.postcode, .postcode, shownTo: .readers, causedBy: .setPostcode)
        case .threadOpened: EventForm(.thread, .threadName, userKey: .by, shownTo: .readers, causedBy: .openThread)
        case .threadJoined: EventForm(.thread, shownTo: .readers, changesMembership: true, causedBy: .joinThread)
        case .threadLeft: EventForm(.thread, shownTo: .readers, changesMembership: true, causedBy: .leaveThread)
        case .messagePosted: EventForm(.message, .body, userKey: .author, shownTo: .readers, causedBy: .postMessage)
        case .replyPosted: EventForm(.reply, .body, userKey: .author, shownTo: .readers, causedBy: .reply)
        case .messageEdited: EventForm(.messageEdit, .body, userKey: .by, shownTo: .readers, causedBy: .edit)
        case .replyEdited: EventForm(.replyEdit, .body, userKey: .by, shownTo: .readers, causedBy: .edit)
        case .messageRetracted: EventForm(.message, userKey: .by, shownTo: .readers, causedBy: .retract)
        case .replyRetracted: EventForm(.reply, userKey: .by, shownTo: .readers, causedBy: .retract)
        case .threadRead: EventForm(.marker, changesMembership: true, causedBy: .markRead)
        case .sessionStarted: EventForm(.session, .device, causedBy: .startSession)
        case .sessionEnded: EventForm(.session, causedBy: .endSession)
        case .lost: EventForm(.none)
        case .threadPolicySet: EventForm(.policy, userKey: .by, shownTo: .readers, causedBy: .setThreadPolicy)
        case .userInvited: EventForm(.member, shownTo: .readers, changesMembership: true, causedBy: .invite)
        case .invitationDeclined:
            EventForm(.thread, shownTo: .readers, changesMembership: true, causedBy: .declineInvitation)
        case .invitationRevoked:
            EventForm(.member, shownTo: .readers, changesMembership: true, causedBy: .revokeInvitation)
        case .roleSet: EventForm(.role, shownTo: .readers, changesMembership: true, causedBy: .setRole)
        case .operatorGranted: EventForm(.user, causedBy: .grantOperator)
        case .operatorRevoked: EventForm(.user, causedBy: .revokeOperator)
        case .messageRemoved: EventForm(.message, .reason, userKey: .by, shownTo: .readers, causedBy: .remove)
        case .replyRemoved: EventForm(.reply, .reason, userKey: .by, shownTo: .readers, causedBy: .remove)
        case .userMuted: EventForm(.sanction, .reason, shownTo: .readers, changesMembership: true, causedBy: .mute)
        case .userUnmuted: EventForm(.member, shownTo: .readers, changesMembership: true, causedBy: .unmute)
        case .userBanned: EventForm(.sanction, .reason, shownTo: .readers, changesMembership: true, causedBy: .ban)
        case .userUnbanned: EventForm(.member, shownTo: .readers, changesMembership: true, causedBy: .unban)
        case .memberRemoved:
            EventForm(.member, .reason, shownTo: .readers, changesMembership: true, causedBy: .removeMember)
        case .messagePinned: EventForm(.message, userKey: .by, shownTo: .readers, causedBy: .pin)
        case .messageUnpinned: EventForm(.message, userKey: .by, shownTo: .readers, causedBy: .unpin)
        case .threadLocked: EventForm(.thread, userKey: .by, shownTo: .readers, causedBy: .lockThread)
        case .threadUnlocked: EventForm(.thread, userKey: .by, shownTo: .readers, causedBy: .unlockThread)
        case .threadClosed: EventForm(.thread, userKey: .by, shownTo: .readers, causedBy: .closeThread)
        case .messageReported: EventForm(.messageReport, .reason, userKey: .by, shownTo: .moderators, causedBy: .report)
        case .replyReported: EventForm(.replyReport, .reason, userKey: .by, shownTo: .moderators, causedBy: .report)
        case .messageReportsResolved:
            EventForm(.messageReport, userKey: .by, shownTo: .moderators, causedBy: .resolveReport)
        case .replyReportsResolved:
            EventForm(.replyReport, userKey: .by, shownTo: .moderators, causedBy: .resolveReport)
        case .userBlocked: EventForm(.block, userKey: .by, causedBy: .block)
        case .userUnblocked: EventForm(.block, userKey: .by, causedBy: .unblock)
        case .custom: EventForm(.custom, .payload, userKey: .by, shownTo: .readers, causedBy: .custom)
        case .userErased: EventForm(.userErasure, .erasure)
        case .contentErased: EventForm(.contentErasure, .erasure)
        case .clockCorrected: EventForm(.none)
        case .reactionAdded:
            EventForm(.post, .emoji, userKey: .by, shownTo: .readers, reordersThreads: false, causedBy: .react)
        case .reactionRemoved:
            EventForm(.post, .emoji, userKey: .by, shownTo: .readers, reordersThreads: false, causedBy: .unreact)
        case .threadMarkedUnread: EventForm(.marker, changesMembership: true, causedBy: .markUnread)
        case .notificationsSet: EventForm(.notifications, changesMembership: true, causedBy: .setNotifications)
        case .inboxRead: EventForm(.inbox, causedBy: .markInboxRead)
        case .threadRenamed: EventForm(.thread, .threadName, userKey: .by, shownTo: .readers, causedBy: .renameThread)
        case .profileSet: EventForm(.user, .about, shownTo: .coMembers, causedBy: .setProfile)
        case .directOpened:
            EventForm(.thread, userKey: .by, shownTo: .readers, listsPeople: true, causedBy: .openDirect)
        case .historyRepaired: EventForm(.repair)
        }
    }
}

/// The users who may see an event, in addition to its own users and the host program.
package enum EventAudience: Sendable {
    /// No other users.
    case noOtherUser
    /// The readers of its thread.
    case readers
    /// The readers of its thread who moderate it.
    case moderators
    /// The readers of any thread of its user, who see the user's name there.
    case coMembers
}

/// The facts that a row implies.
extension EventForm {
    /// Returns the fields of an event with these flags.
    @inline(__always)
    func layout(_ flags: EventFlags) -> EventLayout {
        guard layout == .post else { return layout }
        return flags.contains(.ofReply) ? .reply : .message
    }

    /// The flags of fields that events of the kind can have.
    var fieldFlags: EventFlags {
        let mentions: EventFlags = hasMentions ? .mentions : []
        return has(.edit) ? mentions.union(.edit) : layout == .post ? .ofReply : mentions
    }

    /// Whether the kept part has a field; that of an event about a post: ``EventRow/has(_:)``.
    @inline(__always)
    func has(_ field: EventField) -> Bool { layout.kept.contains(field) }

    /// Whether the events name a user.
    package var namesUser: Bool { has(.user) }

    /// Whether the events are about a reaction.
    package var isAboutReaction: Bool { content == .emoji }

    /// Whether the events have a number within their thread.
    package var isNumbered: Bool { has(.number) }

    /// Whether another user than ``EventRow/user`` acts.
    package var hasOtherActor: Bool { has(.otherActor) }

    /// Whether the events name a thread; a postcode names that of its outward code.
    var namesThread: Bool { has(.thread) }

    /// Whether the events name a second user: the one who acted, or who is blocked.
    var namesOtherUser: Bool { hasOtherActor || has(.blocked) }

    /// Whether the events can have a list of users: those whom the text of a post mentions, or the
    /// people of a direct thread.
    @inline(__always)
    package var hasMentions: Bool { content == .body || listsPeople }

    /// The key of the list of users in JSON; nil if the events have none.
    var listKey: FieldKey? { listsPeople ? .people : content == .body ? .mentions : nil }

    /// The field that can be redacted; none if there is no erasable content.
    package var redactable: RedactedFields { content.row.redactable }

    /// Whether the rules or the read models index the content.
    package var isIndexed: Bool { content.isIndexed }

    /// Whether an event has erasable content: the opening of a thread has it if the thread is a
    /// named one.
    func hasContent(_ row: EventRow) -> Bool {
        switch content {
        case .none, .erasure: false
        case .threadName: ThreadID(bits: row.thread).outwardCode == nil
        default: true
        }
    }
}
