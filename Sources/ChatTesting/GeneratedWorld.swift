import ChatDomain

/// What there is to talk about: what came of the commands that a generator made.
///
/// Arrays in the order in which things came to be, so that the same seed picks the same things.
struct GeneratedWorld: Sendable {
    private(set) var users: [UserID] = []
    private(set) var threads: [ThreadID] = []
    private(set) var members: [ThreadID: [UserID]] = [:]
    private(set) var messages: [(id: MessageID, thread: ThreadID, author: UserID)] = []
    private(set) var replies: [(id: ReplyID, author: UserID)] = []
    private(set) var sessions: [SessionID] = []
    private var state = ChatState()

    var head: Position { state.head }

    /// Learns what a request leads to; nothing, where it is refused.
    mutating func execute(_ request: CommandRequest) {
        let decision = try? state.decide(request, at: state.lastRecordedAt, freshID: UInt128(state.head))
        guard case .append(let events) = decision else { return }
        for event in events {
            state.evolve(event, at: state.head + 1)
            learn(event.fact)
        }
    }

    private mutating func learn(_ fact: Fact) {
        switch fact {
        case .userRegistered(let fact): users.append(fact.user)
        case .threadOpened(let fact): threads.append(fact.thread)
        case .threadJoined(let fact): members[fact.thread, default: []].append(fact.user)
        case .threadLeft(let fact): members[fact.thread]?.removeAll { $0 == fact.user }
        case .messagePosted(let fact): messages.append((fact.message, fact.thread, fact.author))
        case .replyPosted(let fact): replies.append((fact.reply, fact.author))
        case .sessionStarted(let fact): sessions.append(fact.session)
        case .usernameChanged, .postcodeSet, .messageEdited, .replyEdited, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded,
            .lost, .unknown:
            break
        }
    }
}
