extension EventDetails {
    /// The kind, or nil if this version does not know it.
    public var kind: EventKind? {
        switch self {
        case .userRegistered: .userRegistered
        case .usernameChanged: .usernameChanged
        case .postcodeSet: .postcodeSet
        case .threadOpened: .threadOpened
        case .threadJoined: .threadJoined
        case .threadLeft: .threadLeft
        case .messagePosted: .messagePosted
        case .replyPosted: .replyPosted
        case .messageEdited: .messageEdited
        case .replyEdited: .replyEdited
        case .messageRetracted: .messageRetracted
        case .replyRetracted: .replyRetracted
        case .threadRead: .threadRead
        case .sessionStarted: .sessionStarted
        case .sessionEnded: .sessionEnded
        case .lost: .lost
        case .threadPolicySet: .threadPolicySet
        case .userInvited: .userInvited
        case .invitationDeclined: .invitationDeclined
        case .invitationRevoked: .invitationRevoked
        case .roleSet: .roleSet
        case .operatorGranted: .operatorGranted
        case .operatorRevoked: .operatorRevoked
        case .messageRemoved: .messageRemoved
        case .replyRemoved: .replyRemoved
        case .userMuted: .userMuted
        case .userUnmuted: .userUnmuted
        case .userBanned: .userBanned
        case .userUnbanned: .userUnbanned
        case .memberRemoved: .memberRemoved
        case .messagePinned: .messagePinned
        case .messageUnpinned: .messageUnpinned
        case .threadLocked: .threadLocked
        case .threadUnlocked: .threadUnlocked
        case .threadClosed: .threadClosed
        case .messageReported: .messageReported
        case .replyReported: .replyReported
        case .messageReportsResolved: .messageReportsResolved
        case .replyReportsResolved: .replyReportsResolved
        case .userBlocked: .userBlocked
        case .userUnblocked: .userUnblocked
        case .custom: .custom
        case .userErased: .userErased
        case .contentErased: .contentErased
        case .clockCorrected: .clockCorrected
        case .unknown: nil
        }
    }

    /// The event's thread, or nil if the kind has none.
    ///
    /// A read marker and a report name a thread, although they do not belong to it. Nil for
    /// `postcodeSet`: its thread is that of the postcode.
    public var thread: ThreadID? {
        switch self {
        case .threadOpened(let details): details.thread
        case .threadJoined(let details): details.thread
        case .threadLeft(let details): details.thread
        case .messagePosted(let details): details.thread
        case .replyPosted(let details): details.thread
        case .messageEdited(let details), .messageRetracted(let details): details.thread
        case .replyEdited(let details), .replyRetracted(let details): details.thread
        case .threadRead(let details): details.thread
        case .threadPolicySet(let details): details.thread
        case .threadLocked(let details), .threadUnlocked(let details), .threadClosed(let details): details.thread
        case .userInvited(let details), .invitationRevoked(let details), .userUnmuted(let details), .userUnbanned(let details),
            .memberRemoved(let details):
            details.thread
        case .invitationDeclined(let details): details.thread
        case .roleSet(let details): details.thread
        case .userMuted(let details), .userBanned(let details): details.thread
        case .messageRemoved(let details), .messagePinned(let details), .messageUnpinned(let details): details.thread
        case .replyRemoved(let details): details.thread
        case .messageReported(let details), .messageReportsResolved(let details): details.thread
        case .replyReported(let details), .replyReportsResolved(let details): details.thread
        case .custom(let details): details.thread
        case .userRegistered, .usernameChanged, .postcodeSet, .sessionStarted, .sessionEnded, .operatorGranted, .operatorRevoked,
            .userBlocked, .userUnblocked, .userErased, .contentErased, .clockCorrected, .lost, .unknown:
            nil
        }
    }

    /// The user who acted or is concerned; nil for `contentErased`,
    /// `clockCorrected`, `lost` and an unknown kind.
    public var user: UserID? {
        switch self {
        case .userRegistered(let details): details.user
        case .usernameChanged(let details): details.user
        case .postcodeSet(let details): details.user
        case .threadOpened(let details): details.by
        case .threadJoined(let details): details.user
        case .threadLeft(let details): details.user
        case .messagePosted(let details): details.author
        case .replyPosted(let details): details.author
        case .messageEdited(let details), .messageRetracted(let details): details.by
        case .replyEdited(let details), .replyRetracted(let details): details.by
        case .threadRead(let details): details.user
        case .sessionStarted(let details): details.user
        case .sessionEnded(let details): details.user
        case .threadPolicySet(let details): details.by
        case .threadLocked(let details), .threadUnlocked(let details), .threadClosed(let details): details.by
        case .userInvited(let details), .invitationRevoked(let details), .userUnmuted(let details), .userUnbanned(let details),
            .memberRemoved(let details):
            details.user
        case .invitationDeclined(let details): details.user
        case .roleSet(let details): details.user
        case .userMuted(let details), .userBanned(let details): details.user
        case .messageRemoved(let details), .messagePinned(let details), .messageUnpinned(let details): details.by
        case .replyRemoved(let details): details.by
        case .messageReported(let details), .messageReportsResolved(let details): details.by
        case .replyReported(let details), .replyReportsResolved(let details): details.by
        case .custom(let details): details.by
        case .operatorGranted(let details), .operatorRevoked(let details): details.user
        case .userBlocked(let details), .userUnblocked(let details): details.by
        case .userErased(let details): details.user
        case .contentErased, .clockCorrected, .lost, .unknown: nil
        }
    }

    /// The user who acted, if that is another user than ``user``.
    ///
    /// Moderators act on the users whom their events concern.
    public var otherActor: UserID? {
        switch self {
        case .userInvited(let details), .invitationRevoked(let details), .userUnmuted(let details), .userUnbanned(let details),
            .memberRemoved(let details):
            details.by
        case .roleSet(let details): details.by
        case .userMuted(let details), .userBanned(let details): details.by
        default: nil
        }
    }

    /// The event's number within its thread, or nil if it does not belong to a thread.
    ///
    /// Read markers and reports do not belong to their thread.
    public var threadNumber: UInt64? {
        switch self {
        case .threadOpened(let details): details.number
        case .threadJoined(let details): details.number
        case .threadLeft(let details): details.number
        case .messagePosted(let details): details.number
        case .replyPosted(let details): details.number
        case .messageEdited(let details), .messageRetracted(let details): details.number
        case .replyEdited(let details), .replyRetracted(let details): details.number
        case .threadPolicySet(let details): details.number
        case .threadLocked(let details), .threadUnlocked(let details), .threadClosed(let details): details.number
        case .userInvited(let details), .invitationRevoked(let details), .userUnmuted(let details), .userUnbanned(let details),
            .memberRemoved(let details):
            details.number
        case .invitationDeclined(let details): details.number
        case .roleSet(let details): details.number
        case .userMuted(let details), .userBanned(let details): details.number
        case .messageRemoved(let details), .messagePinned(let details), .messageUnpinned(let details): details.number
        case .replyRemoved(let details): details.number
        case .custom(let details): details.number
        case .userRegistered, .usernameChanged, .postcodeSet, .threadRead, .sessionStarted, .sessionEnded, .operatorGranted,
            .operatorRevoked, .messageReported, .replyReported, .messageReportsResolved, .replyReportsResolved, .userBlocked,
            .userUnblocked, .userErased, .contentErased, .clockCorrected, .lost, .unknown:
            nil
        }
    }
}
