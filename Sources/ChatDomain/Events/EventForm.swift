/// What is the same in all events of a kind: its row in the table of kinds, without the sentence.
///
/// The bytes, the JSON, the indexes, the redaction, the audience of a kind and the answers that it
/// changes follow from its row.
package struct EventForm: Sendable {
    /// The fields of the kept part; ``layout(_:)`` returns those of one event.
    let layout: EventLayout
    /// The erasable part.
    let content: ContentForm
    /// The key of the event's user in JSON.
    let userKey: UserKey
    /// The users who may see the event, in addition to its own users and the host program.
    package let audience: EventAudience
    /// The answers that the row names; empty for those of the layout (``changes``).
    fileprivate let changed: ChangedAnswers
    /// Whether the events change the membership of their user in their thread.
    let changesMembership: Bool
    /// Whether the events have a list of the people of their thread.
    let listsPeople: Bool
    /// The command that causes the events, by which an audit checks them; nil for a kind that no
    /// command causes.
    let cause: CommandKind?
}

extension EventKind {
    /// What is the same in all events of the kind.
    @inline(__always)
    package var form: EventForm { row.form }

    /// A sentence that says what happened, for the description of an API.
    package var summary: StaticString { row.summary }

    /// A row of the table of kinds.
    ///
    /// Every part of the form is a constant: inlined, a question about a kind becomes a test of
    /// bits, and a replay can ask several for each event. The sentence stands beside the form,
    /// because it is an address, with which the form would be no constant.
    private struct Row {
        let summary: StaticString
        let form: EventForm

        @inline(__always)
        init(
            _ summary: StaticString, _ layout: EventLayout, _ content: ContentForm = .none, userKey: UserKey = .user,
            shownTo audience: EventAudience = .noOtherUser, changing changed: ChangedAnswers = .ofLayout,
            changesMembership: Bool = false, listsPeople: Bool = false, causedBy cause: CommandKind? = nil
        ) {
            self.summary = summary
            form = EventForm(
                layout: layout, content: content, userKey: userKey, audience: audience, changed: changed,
                changesMembership: changesMembership, listsPeople: listsPeople, cause: cause)
        }
    }

    @inline(__always)
    private var row: Row {
        switch self {
        // No other user: they see the name only after the user has joined a thread.
        case .userRegistered: Row("A user was registered.", .user, .registration, causedBy: .registerUser)
        case .usernameChanged:
            Row(
                "A user took another name.", .user, .username, shownTo: .coMembers, changing: .any,
                causedBy: .changeUsername)
        case .postcodeSet:
            Row(
                "A user set a postcode, which names the thread of its outward code.", .postcode, .postcode,
                shownTo: .readers, causedBy: .setPostcode)
        case .threadOpened:
            Row(
                "A thread was opened.", .thread, .threadName, userKey: .by, shownTo: .readers, causedBy: .openThread)
        case .threadJoined:
            Row(
                "A user became a member.", .thread, shownTo: .readers, changing: .membership,
                changesMembership: true, causedBy: .joinThread)
        case .threadLeft:
            Row(
                "A user left a thread.", .thread, shownTo: .readers, changing: .membership, changesMembership: true,
                causedBy: .leaveThread)
        case .messagePosted:
            Row(
                "A message was posted.", .message, .body, userKey: .author, shownTo: .readers,
                changing: .details.union(.messages).union(.inboxOfTold), causedBy: .postMessage)
        case .replyPosted:
            Row(
                "A reply to a message was posted.", .reply, .body, userKey: .author, shownTo: .readers,
                changing: .messages.union(.replies).union(.inboxOfTold), causedBy: .reply)
        case .messageEdited:
            Row(
                "The author changed the text of a message.", .messageEdit, .body, userKey: .by, shownTo: .readers,
                causedBy: .edit)
        case .replyEdited:
            Row(
                "The author changed the text of a reply.", .replyEdit, .body, userKey: .by, shownTo: .readers,
                causedBy: .edit)
        case .messageRetracted:
            Row("The author retracted a message.", .message, userKey: .by, shownTo: .readers, causedBy: .retract)
        case .replyRetracted:
            Row("The author retracted a reply.", .reply, userKey: .by, shownTo: .readers, causedBy: .retract)
        case .threadRead:
            Row(
                "A user has read a thread up to a position.", .marker, changesMembership: true, causedBy: .markRead)
        case .sessionStarted:
            Row(
                "A session of a device began. It is not a session of an account.", .session, .device,
                causedBy: .startSession)
        case .sessionEnded: Row("A session of a device ended.", .session, causedBy: .endSession)
        case .lost: Row("A repair could not salvage the record.", .none)
        case .threadPolicySet:
            Row(
                "A thread was opened with this policy and history, or they were changed.", .policy, userKey: .by,
                shownTo: .readers, causedBy: .setThreadPolicy)
        case .userInvited:
            Row(
                "A user was invited to a thread.", .member, shownTo: .readers, changesMembership: true,
                causedBy: .invite)
        case .invitationDeclined:
            Row(
                "A user declined an invitation.", .thread, shownTo: .readers, changing: .inbox.union(.moderation),
                changesMembership: true, causedBy: .declineInvitation)
        case .invitationRevoked:
            Row(
                "An invitation was revoked.", .member, shownTo: .readers, changesMembership: true,
                causedBy: .revokeInvitation)
        case .roleSet:
            Row("A member got a role.", .role, shownTo: .readers, changesMembership: true, causedBy: .setRole)
        case .operatorGranted:
            Row(
                "The host made a user an operator of the community.", .user,
                changing: .threads.union(.inbox).union(.access), causedBy: .grantOperator)
        case .operatorRevoked:
            Row(
                "The host ended the role of an operator.", .user, changing: .threads.union(.inbox).union(.access),
                causedBy: .revokeOperator)
        case .messageRemoved:
            Row(
                "A moderator removed a message.", .message, .reason, userKey: .by, shownTo: .readers, causedBy: .remove)
        case .replyRemoved:
            Row(
                "A moderator removed a reply.", .reply, .reason, userKey: .by, shownTo: .readers, causedBy: .remove)
        case .userMuted:
            Row(
                "A user was muted in a thread.", .sanction, .reason, shownTo: .readers, changesMembership: true,
                causedBy: .mute)
        case .userUnmuted:
            Row(
                "The mute of a user was ended.", .member, shownTo: .readers, changesMembership: true, causedBy: .unmute)
        case .userBanned:
            Row(
                "A user was banned from a thread.", .sanction, .reason, shownTo: .readers, changesMembership: true,
                causedBy: .ban)
        case .userUnbanned:
            Row(
                "The ban of a user was ended.", .member, shownTo: .readers, changesMembership: true, causedBy: .unban)
        case .memberRemoved:
            Row(
                "A moderator ended a membership.", .member, .reason, shownTo: .readers, changing: .membership,
                changesMembership: true, causedBy: .removeMember)
        case .messagePinned:
            Row(
                "A message was pinned.", .message, userKey: .by, shownTo: .readers, changing: .moderation,
                causedBy: .pin)
        case .messageUnpinned:
            Row(
                "A message is no longer pinned.", .message, userKey: .by, shownTo: .readers, changing: .moderation,
                causedBy: .unpin)
        case .threadLocked:
            Row(
                "A thread takes no posts and joins for now.", .thread, userKey: .by, shownTo: .readers,
                changing: .moderation, causedBy: .lockThread)
        case .threadUnlocked:
            Row(
                "A thread takes posts and joins again.", .thread, userKey: .by, shownTo: .readers,
                changing: .moderation, causedBy: .unlockThread)
        case .threadClosed:
            Row(
                "A thread takes no posts and joins for good.", .thread, userKey: .by, shownTo: .readers,
                changing: .moderation, causedBy: .closeThread)
        case .messageReported:
            Row(
                "A member reported a message.", .messageReport, .reason, userKey: .by, shownTo: .moderators,
                causedBy: .report)
        case .replyReported:
            Row(
                "A member reported a reply.", .replyReport, .reason, userKey: .by, shownTo: .moderators,
                causedBy: .report)
        case .messageReportsResolved:
            Row(
                "A moderator resolved the reports of a message.", .messageReport, userKey: .by, shownTo: .moderators,
                causedBy: .resolveReport)
        case .replyReportsResolved:
            Row(
                "A moderator resolved the reports of a reply.", .replyReport, userKey: .by, shownTo: .moderators,
                causedBy: .resolveReport)
        case .userBlocked: Row("A user blocked another one.", .block, userKey: .by, causedBy: .block)
        case .userUnblocked: Row("A user ended a block.", .block, userKey: .by, causedBy: .unblock)
        case .custom:
            Row(
                "An event of a program, with a payload.", .custom, .payload, userKey: .by, shownTo: .readers,
                causedBy: .custom)
        case .userErased: Row("The content of a user was erased.", .userErasure, .erasure)
        case .contentErased: Row("The content of events was erased.", .contentErasure, .erasure)
        case .clockCorrected: Row("The host corrected the clock.", .none)
        case .reactionAdded:
            Row(
                "A user reacted to a post. The thread stays where it is in a list of threads.", .post, .emoji,
                userKey: .by, shownTo: .readers, changing: .messages.union(.replies).union(.inboxOfTold),
                causedBy: .react)
        case .reactionRemoved:
            Row(
                "A user took a reaction back.", .post, .emoji, userKey: .by, shownTo: .readers, causedBy: .unreact)
        case .threadMarkedUnread:
            Row(
                "A user moved their read marker back: they have read a thread up to a position only.", .marker,
                changesMembership: true, causedBy: .markUnread)
        case .notificationsSet:
            Row(
                "A user set what of a thread notifies them.", .notifications, changesMembership: true,
                causedBy: .setNotifications)
        case .inboxRead: Row("A user has read their inbox up to a position.", .inbox, causedBy: .markInboxRead)
        case .threadRenamed:
            Row(
                "An owner or an operator gave a thread another name. That of a former name is redacted.", .thread,
                .threadName, userKey: .by, shownTo: .readers, changing: .details.union(.inbox).union(.moderation),
                causedBy: .renameThread)
        case .profileSet:
            Row("A user set their profile text.", .user, .about, shownTo: .coMembers, causedBy: .setProfile)
        case .directOpened:
            Row(
                "A user opened the direct thread of a set of people, whose joins follow.", .thread, userKey: .by,
                shownTo: .readers, listsPeople: true, causedBy: .openDirect)
        case .historyRepaired: Row("The history that a repair with losses wrote ends.", .repair)
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
        return has(.edit) ? mentions.union(.edit) : layout == .post ? .ofReply : takesOnce ? .once : mentions
    }

    /// Whether an event can have the ``CommandRequest/once`` of the command that it begins.
    var takesOnce: Bool { cause?.takesOnce == true }

    /// Whether the kept part has a field; that of an event about a post: ``EventRow/has(_:)``.
    @inline(__always)
    func has(_ field: EventField) -> Bool { layout.kept.contains(field) }

    /// Whether the events name a user.
    package var namesUser: Bool { has(.user) }

    /// Whether the events are about a reaction.
    package var isAboutReaction: Bool { content == .emoji }

    /// Whether the events have a number within their thread.
    package var isNumbered: Bool { has(.number) }

    /// The answers that the events can change, unless they erase content.
    ///
    /// A numbered event moves its thread to the end of a list of threads; a reaction does not.
    package var changes: ChangedAnswers {
        let changes = changed.isEmpty ? layout.changes : changed
        return isNumbered && !isAboutReaction ? changes.union(.threads) : changes
    }

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
