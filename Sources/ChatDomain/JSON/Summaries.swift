/// One sentence about each kind of event and command, for the description of an API.
///
/// Not in the tables of kinds: a replay reads a row of that of events as constants.
extension EventKind {
    /// What happened.
    package var summary: String {
        switch self {
        case .userRegistered: "A user was registered."
        case .usernameChanged: "A user took another name."
        case .postcodeSet: "A user set a postcode, which names the thread of its outward code."
        case .threadOpened: "A thread was opened."
        case .threadJoined: "A user became a member."
        case .threadLeft: "A user left a thread."
        case .messagePosted: "A message was posted."
        case .replyPosted: "A reply to a message was posted."
        case .messageEdited: "The author changed the text of a message."
        case .replyEdited: "The author changed the text of a reply."
        case .messageRetracted: "The author retracted a message."
        case .replyRetracted: "The author retracted a reply."
        case .threadRead: "A user has read a thread up to a position."
        case .sessionStarted: "A session of a device began. It is not a session of an account."
        case .sessionEnded: "A session of a device ended."
        case .lost: "A repair could not salvage the record."
        case .threadPolicySet: "A thread was opened with this policy and history, or they were changed."
        case .userInvited: "A user was invited to a thread."
        case .invitationDeclined: "A user declined an invitation."
        case .invitationRevoked: "An invitation was revoked."
        case .roleSet: "A member got a role."
        case .operatorGranted: "The host made a user an operator of the community."
        case .operatorRevoked: "The host ended the role of an operator."
        case .messageRemoved: "A moderator removed a message."
        case .replyRemoved: "A moderator removed a reply."
        case .userMuted: "A user was muted in a thread."
        case .userUnmuted: "The mute of a user was ended."
        case .userBanned: "A user was banned from a thread."
        case .userUnbanned: "The ban of a user was ended."
        case .memberRemoved: "A moderator ended a membership."
        case .messagePinned: "A message was pinned."
        case .messageUnpinned: "A message is no longer pinned."
        case .threadLocked: "A thread takes no posts and joins for now."
        case .threadUnlocked: "A thread takes posts and joins again."
        case .threadClosed: "A thread takes no posts and joins for good."
        case .messageReported: "A member reported a message."
        case .replyReported: "A member reported a reply."
        case .messageReportsResolved: "A moderator resolved the reports of a message."
        case .replyReportsResolved: "A moderator resolved the reports of a reply."
        case .userBlocked: "A user blocked another one."
        case .userUnblocked: "A user ended a block."
        case .custom: "An event of a program, with a payload."
        case .userErased: "The content of a user was erased."
        case .contentErased: "The content of events was erased."
        case .clockCorrected: "The host corrected the clock."
        case .reactionAdded: "A user reacted to a post. The thread stays where it is in a list of threads."
        case .reactionRemoved: "A user took a reaction back."
        case .threadMarkedUnread:
            "A user moved their read marker back: they have read a thread up to a position only."
        case .notificationsSet: "A user set what of a thread notifies them."
        case .inboxRead: "A user has read their inbox up to a position."
        case .threadRenamed: "An owner or an operator gave a thread another name. That of a former name is redacted."
        case .profileSet: "A user set their profile text."
        case .directOpened: "A user opened the direct thread of a set of people, whose joins follow."
        case .historyRepaired: "The history that a repair with losses wrote ends."
        }
    }
}

extension CommandKind {
    /// What the command does for the user who acts.
    package var summary: String {
        switch self {
        case .registerUser: "Registers a user."
        case .changeUsername: "Takes another name, which no other user has."
        case .setPostcode: "Sets the postcode, and joins the thread of its outward code."
        case .openThread: "Opens a named thread, and joins it as its owner."
        case .joinThread: "Joins a thread."
        case .leaveThread: "Leaves a thread."
        case .postMessage: "Posts a message."
        case .reply: "Posts a reply to a message."
        case .edit: "Replaces the text of one's own post."
        case .retract: "Retracts one's own post."
        case .markRead: "Moves the read marker forward."
        case .startSession: "Records that a device is in use. It is not a session of an account."
        case .endSession: "Ends such a record of one's own; that of another user is answered like an unknown one."
        case .invite: "Invites a user to a thread."
        case .acceptInvitation: "Joins a thread by an invitation."
        case .declineInvitation: "Declines an invitation."
        case .revokeInvitation: "Revokes an invitation."
        case .setRole: "Gives a member a role."
        case .grantOperator: "Makes a user an operator of the community."
        case .revokeOperator: "Ends the role of an operator."
        case .remove: "Removes a post, as a moderator."
        case .mute:
            "Stops the posts of a user in a thread. The user is or was in the thread, or is invited to it; otherwise the rejection is `notAMember`."
        case .unmute: "Ends a mute."
        case .ban:
            "Ends a membership and stops joins. The user is or was in the thread, or is invited to it; otherwise the rejection is `notAMember`."
        case .unban: "Ends a ban."
        case .removeMember: "Ends a membership."
        case .pin: "Pins a message."
        case .unpin: "Unpins a message."
        case .lockThread: "Stops posts and joins for now."
        case .unlockThread: "Allows posts and joins again."
        case .closeThread: "Stops posts and joins for good."
        case .setThreadPolicy:
            "Sets who may join a named thread, and what later members may read. For its owners, and for operators where there is none."
        case .report:
            "Reports a post to the moderators of its thread or, if it has none, to the operators. The answer has `moderators` if there are none either."
        case .resolveReport: "Resolves the reports of a post."
        case .block:
            "Marks the posts of a user for oneself. In a direct thread of two, nobody can write while one of them blocks the other."
        case .unblock: "Ends a block."
        case .react: "Reacts to a post; at most 20 reactions of a user on a post, and 50 different ones on a post."
        case .unreact: "Takes a reaction back."
        case .custom: "Appends an event of a program."
        case .markUnread: "Moves the read marker back, so that what begins at `from` is unread again."
        case .setNotifications:
            "Sets what of a thread notifies the user, until an end if it is given; then the level is `all` again."
        case .markInboxRead: "Moves the read marker of the inbox forward."
        case .renameThread: "Gives a named thread another name. For its owners, and for operators where there is none."
        case .openDirect:
            "Opens the direct thread of the user and 1 to 7 others, or joins it again; a set of people has one. If one of them cannot be reached, for any reason, the rejection is `cannotMessage`."
        case .setProfile: "Sets the user's profile text, which the members of their threads can read."
        }
    }
}
