/// The event kinds of this version; the raw value is the kind's byte in the encoding.
public enum EventKind: UInt8, CaseIterable, Sendable, Hashable {
    /// A user registered.
    case userRegistered = 1
    /// A user changed their username.
    case usernameChanged = 2
    /// A user set their postcode.
    case postcodeSet = 3
    /// A user opened a thread.
    case threadOpened = 4
    /// A user became a member of a thread.
    case threadJoined = 5
    /// A member left a thread.
    case threadLeft = 6
    /// A member posted a message.
    case messagePosted = 7
    /// A member replied to a message.
    case replyPosted = 8
    /// The author replaced a message's body.
    case messageEdited = 9
    /// The author replaced a reply's body.
    case replyEdited = 10
    /// The author retracted a message.
    case messageRetracted = 11
    /// The author retracted a reply.
    case replyRetracted = 12
    /// A member set their read marker.
    case threadRead = 13
    /// A user started a session.
    case sessionStarted = 14
    /// A session ended.
    case sessionEnded = 15
    /// Replaces a record that a repair could not salvage, at the time of the event before it, or at
    /// 1970.
    ///
    /// No command causes it.
    case lost = 16
    /// The opening of a thread, an owner or an operator set its policy and its history.
    case threadPolicySet = 17
    /// A moderator invited a user to a thread.
    case userInvited = 18
    /// A user declined an invitation.
    case invitationDeclined = 19
    /// A moderator revoked an invitation.
    case invitationRevoked = 20
    /// A member got another role.
    case roleSet = 21
    /// A user became an operator of the community.
    case operatorGranted = 22
    /// A user ceased to be an operator.
    case operatorRevoked = 23
    /// A moderator removed a message.
    case messageRemoved = 24
    /// A moderator removed a reply.
    case replyRemoved = 25
    /// A moderator muted a user in a thread.
    case userMuted = 26
    /// A moderator ended a mute.
    case userUnmuted = 27
    /// A moderator banned a user from a thread.
    case userBanned = 28
    /// A moderator ended a ban.
    case userUnbanned = 29
    /// A moderator ended a membership.
    case memberRemoved = 30
    /// A moderator pinned a message.
    case messagePinned = 31
    /// A moderator unpinned a message.
    case messageUnpinned = 32
    /// A moderator locked a thread.
    case threadLocked = 33
    /// A moderator unlocked a thread.
    case threadUnlocked = 34
    /// An owner or an operator closed a thread for good.
    case threadClosed = 35
    /// A member reported a message to the moderators.
    case messageReported = 36
    /// A member reported a reply to the moderators.
    case replyReported = 37
    /// A moderator resolved the reports of a message.
    case messageReportsResolved = 38
    /// A moderator resolved the reports of a reply.
    case replyReportsResolved = 39
    /// A user blocked another user.
    case userBlocked = 40
    /// A user unblocked another user.
    case userUnblocked = 41
    /// A custom event, which the host program defines.
    case custom = 42
    /// The content that a user wrote or was given was erased.
    case userErased = 43
    /// The content of events was erased.
    case contentErased = 44
    /// The host corrected the clock: the times of this event and of later ones begin lower.
    ///
    /// No user causes it.
    case clockCorrected = 45
    /// A user reacted to a post with an emoji.
    case reactionAdded = 46
    /// A user took a reaction back.
    case reactionRemoved = 47
    /// A member moved their read marker back.
    case threadMarkedUnread = 48
    /// A member set what of a thread notifies them.
    case notificationsSet = 49
    /// A user read their inbox up to a position.
    case inboxRead = 50
    /// An owner or an operator gave a thread another name.
    case threadRenamed = 51
    /// A user set the text about them, or removed it.
    case profileSet = 52
    /// A user opened the direct thread of a set of people.
    case directOpened = 53
    /// Ends the history that a repair with losses wrote: later events say nothing about what was
    /// lost.
    ///
    /// No command causes it.
    case historyRepaired = 54

    /// The kind's name in JSON and on the command line, such as `messagePosted`.
    public var name: String { Self.names[Int(rawValue)] }

    /// The names by raw value, computed once because printing events needs them often.
    private static let names = (0...UInt8.max).map { EventKind(rawValue: $0).map { "\($0)" } ?? "" }

    /// Creates the kind with a name, or nil if no kind has it.
    public init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}
