/// The fields and the rules of each kind, by its layout.
extension EventKind {
    /// The fields of the kept part.
    var layout: EventLayout {
        switch self {
        case .userRegistered, .usernameChanged, .operatorGranted, .operatorRevoked: .user
        case .postcodeSet: .postcode
        case .threadOpened, .threadJoined, .threadLeft, .invitationDeclined, .threadLocked, .threadUnlocked, .threadClosed: .thread
        case .threadPolicySet: .threadPolicy
        case .messagePosted, .messageEdited, .messageRetracted, .messageRemoved, .messagePinned, .messageUnpinned: .message
        case .replyPosted, .replyEdited, .replyRetracted, .replyRemoved: .reply
        case .threadRead: .marker
        case .sessionStarted, .sessionEnded: .session
        case .userInvited, .invitationRevoked, .userUnmuted, .userUnbanned, .memberRemoved: .member
        case .roleSet: .role
        case .userMuted, .userBanned: .sanction
        case .messageReported, .messageReportsResolved: .messageReport
        case .replyReported, .replyReportsResolved: .replyReport
        case .userBlocked, .userUnblocked: .block
        case .custom: .custom
        case .userErased: .userErasure
        case .contentErased: .contentErasure
        case .clockCorrected, .lost: .none
        }
    }

    /// Whether events of the kind have content; the opening of a thread has it if the thread is a
    /// named one.
    ///
    /// - Parameter thread: The thread of the event.
    func hasContent(_ thread: ThreadID?) -> Bool {
        switch self {
        case .userRegistered, .usernameChanged, .postcodeSet, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .sessionStarted,
            .messageRemoved, .replyRemoved, .userMuted, .userBanned, .memberRemoved, .messageReported, .replyReported, .custom:
            true
        case .threadOpened: thread?.outwardCode == nil
        case .threadJoined, .threadLeft, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded, .lost, .threadPolicySet,
            .userInvited, .invitationDeclined, .invitationRevoked, .roleSet, .operatorGranted, .operatorRevoked, .userUnmuted,
            .userUnbanned, .messagePinned, .messageUnpinned, .threadLocked, .threadUnlocked, .threadClosed, .messageReportsResolved,
            .replyReportsResolved, .userBlocked, .userUnblocked, .userErased, .contentErased, .clockCorrected:
            false
        }
    }

    /// Whether events of the kind name a user.
    package var namesUser: Bool { layout != .none && layout != .contentErasure }

    /// Whether events of the kind have a number within their thread.
    package var isNumbered: Bool {
        switch layout {
        case .thread, .threadPolicy, .message, .reply, .member, .role, .sanction, .custom: true
        case .user, .postcode, .marker, .session, .messageReport, .replyReport, .block, .userErasure, .contentErasure, .none: false
        }
    }

    /// Whether another user than ``EventRow/user`` acts in events of the kind.
    package var hasOtherActor: Bool {
        switch layout {
        case .member, .role, .sanction: true
        default: false
        }
    }

    /// Whether events of the kind name a thread; a postcode names that of its outward code.
    var namesThread: Bool {
        switch layout {
        case .user, .session, .block, .userErasure, .contentErasure, .none: false
        default: true
        }
    }

    /// Whether events of the kind name a second user: the one who acted, or who is blocked.
    var namesOtherUser: Bool {
        switch layout {
        case .member, .role, .sanction, .block: true
        default: false
        }
    }

    /// Whether events of the kind concern the membership of their user in their thread.
    var namesMembership: Bool { self == .messagePosted || changesMembership }

    /// Whether events of the kind change the membership row of their user in their thread.
    var changesMembership: Bool {
        switch layout {
        case .member, .role, .sanction, .marker: true
        default: self == .threadJoined || self == .threadLeft || self == .invitationDeclined
        }
    }

    /// Whether the rules or the read models index the content of the kind.
    package var isIndexed: Bool {
        switch self {
        case .userRegistered, .usernameChanged, .postcodeSet, .threadOpened: true
        default: false
        }
    }
}
