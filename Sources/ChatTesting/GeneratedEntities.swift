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
    /// The users who have moderated a thread, and may still do so.
    private(set) var moderators: [ThreadID: [UserID]] = [:]
    /// The users who were invited, muted or banned, and the threads.
    private(set) var encounters: [(user: UserID, thread: ThreadID)] = []
    private var state = ChatState()

    var head: Position { state.head }
    var lastRecordedAt: Timestamp { state.lastRecordedAt }

    /// Applies the events of a request; does nothing if the request is rejected.
    mutating func execute(_ request: CommandRequest) {
        let decision = try? state.decide(request, at: state.lastRecordedAt, freshID: UInt128(state.head))
        guard case .append(let events) = decision else { return }
        for event in events {
            state.evolve(event, at: state.head + 1)
            apply(event.details)
        }
    }

    private mutating func apply(_ details: EventDetails) {
        switch details {
        case .userRegistered(let details): users.append(details.user)
        case .threadOpened(let details):
            threads.append(details.thread)
            moderators[details.thread] = [details.by]
        case .threadJoined(let details): members[details.thread, default: []].append(details.user)
        case .threadLeft(let details): members[details.thread]?.removeAll { $0 == details.user }
        case .messagePosted(let details): messages.append((details.message, details.thread, details.author))
        case .replyPosted(let details): replies.append((details.reply, details.message, details.author))
        case .sessionStarted(let details): sessions.append(details.session)
        case .memberRemoved(let details): members[details.thread]?.removeAll { $0 == details.user }
        case .custom(let details): customEvents.append(details.id)
        case .operatorGranted(let details): operators.append(details.user)
        case .operatorRevoked(let details): operators.removeAll { $0 == details.user }
        case .roleSet(let details): if details.role > .member { moderators[details.thread, default: []].append(details.user) }
        case .userInvited(let details): encounters.append((details.user, details.thread))
        case .userMuted(let details), .userBanned(let details): encounters.append((details.user, details.thread))
        case .threadPolicySet, .invitationDeclined, .invitationRevoked, .messageRemoved, .replyRemoved, .userUnmuted, .userUnbanned,
            .messagePinned, .messageUnpinned, .threadLocked, .threadUnlocked, .threadClosed, .messageReported, .replyReported,
            .messageReportsResolved, .replyReportsResolved, .userBlocked, .userUnblocked:
            break
        case .usernameChanged, .postcodeSet, .messageEdited, .replyEdited, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded,
            .lost, .unknown:
            break
        }
    }
}
