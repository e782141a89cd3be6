import ChatDomain

/// The existing entities of a command generator: the result of its commands so far.
///
/// Arrays in the order of creation, so that the same seed picks the same entities.
struct GeneratedEntities: Sendable {
    private(set) var users: [UserID] = []
    private(set) var threads: [ThreadID] = []
    private(set) var members: [ThreadID: [UserID]] = [:]
    private(set) var messages: [(id: MessageID, thread: ThreadID, author: UserID)] = []
    private(set) var replies: [(id: ReplyID, message: MessageID, author: UserID)] = []
    private(set) var sessions: [SessionID] = []
    private(set) var customEvents: [CustomEventID] = []
    private(set) var operators: [UserID] = []
    /// The threads that take no posts: locked or closed.
    private(set) var stopped: Set<ThreadID> = []
    /// The owners and moderators of each thread.
    private(set) var moderators: [ThreadID: [UserID]] = [:]
    /// The threads that were opened with an owner.
    private(set) var ownedThreads: [ThreadID] = []
    private(set) var invitations: [UserAndThread] = []
    private(set) var mutes: [UserAndThread] = []
    private(set) var bans: [UserAndThread] = []
    /// The posts with open reports.
    private(set) var reported: [PostID] = []
    private(set) var pinned: [MessageID] = []
    private(set) var blocks: [UserBlock] = []
    private var state = ChatState()

    /// A user and a thread to which they are invited, or in which they are muted or banned.
    struct UserAndThread: Equatable {
        var user: UserID
        var thread: ThreadID

        init(_ user: UserID, _ thread: ThreadID) { (self.user, self.thread) = (user, thread) }
    }

    var head: Position { state.head }
    var lastRecordedAt: Timestamp { state.lastRecordedAt }

    /// Applies the events of a request; does nothing if the request is rejected.
    mutating func execute(_ request: CommandRequest) {
        let decision = try? state.decide(request, at: state.lastRecordedAt, freshID: UInt128(state.head))
        guard case .append(let events) = decision else { return }
        for event in events {
            state.evolve(event, at: state.head + 1)
            apply(event.details, event.origin)
        }
    }

    private mutating func apply(_ details: EventDetails, _ origin: EventOrigin) {
        switch details {
        case .userRegistered(let details): users.append(details.user)
        case .threadOpened(let details):
            threads.append(details.thread)
            guard origin == .native, details.thread.outwardCode == nil else { return }
            ownedThreads.append(details.thread)
            moderators[details.thread] = [details.by]
        case .threadJoined(let details):
            members[details.thread, default: []].append(details.user)
            invitations.removeAll { $0 == UserAndThread(details.user, details.thread) }
        case .threadLeft(let details): endMembership(details.user, details.thread)
        case .messagePosted(let details): messages.append((details.message, details.thread, details.author))
        case .replyPosted(let details): replies.append((details.reply, details.message, details.author))
        case .sessionStarted(let details): sessions.append(details.session)
        case .memberRemoved(let details): endMembership(details.user, details.thread)
        case .custom(let details): customEvents.append(details.id)
        case .operatorGranted(let details): operators.append(details.user)
        case .operatorRevoked(let details): operators.removeAll { $0 == details.user }
        case .roleSet(let details):
            moderators[details.thread]?.removeAll { $0 == details.user }
            if details.role > .member { moderators[details.thread, default: []].append(details.user) }
        case .userInvited(let details): invitations.append(UserAndThread(details.user, details.thread))
        case .invitationDeclined(let details): invitations.removeAll { $0 == UserAndThread(details.user, details.thread) }
        case .invitationRevoked(let details): invitations.removeAll { $0 == UserAndThread(details.user, details.thread) }
        case .userMuted(let details): mutes.append(UserAndThread(details.user, details.thread))
        case .userUnmuted(let details): mutes.removeAll { $0 == UserAndThread(details.user, details.thread) }
        case .userBanned(let details):
            bans.append(UserAndThread(details.user, details.thread))
            invitations.removeAll { $0 == UserAndThread(details.user, details.thread) }
        case .userUnbanned(let details): bans.removeAll { $0 == UserAndThread(details.user, details.thread) }
        case .messageReported(let details): reported.append(.message(details.message))
        case .replyReported(let details): reported.append(.reply(details.reply))
        case .messagePinned(let details): pinned.append(details.message)
        case .messageReportsResolved(let details): reported.removeAll { $0 == .message(details.message) }
        case .replyReportsResolved(let details): reported.removeAll { $0 == .reply(details.reply) }
        case .messageUnpinned(let details): pinned.removeAll { $0 == details.message }
        case .userBlocked(let details): blocks.append(details)
        case .userUnblocked(let details): blocks.removeAll { $0 == details }
        case .threadLocked(let details), .threadClosed(let details): stopped.insert(details.thread)
        case .threadUnlocked(let details): stopped.remove(details.thread)
        case .threadPolicySet, .messageRemoved, .replyRemoved: break
        case .usernameChanged, .postcodeSet, .messageEdited, .replyEdited, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded,
            .userErased, .contentErased, .clockCorrected, .lost, .unknown:
            break
        }
    }

    private mutating func endMembership(_ user: UserID, _ thread: ThreadID) {
        members[thread]?.removeAll { $0 == user }
        moderators[thread]?.removeAll { $0 == user }
    }
}
