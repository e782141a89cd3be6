import ChatDomain

/// The existing entities of a command generator: the result of its commands so far.
///
/// Arrays in the order of creation, so that the same seed picks the same entities.
struct GeneratedEntities: Sendable {
    private(set) var users: [UserID] = []
    private(set) var threads: [ThreadID] = []
    private(set) var members: [ThreadID: [UserID]] = [:]
    private(set) var messages: [(id: MessageID, thread: ThreadID, author: UserID)] = []
    private(set) var replies: [(id: ReplyID, author: UserID)] = []
    private(set) var threadsOfPosts: [PostID: ThreadID] = [:]
    private(set) var edits: [EditID] = []
    /// The positions of the events that wrote the texts of posts.
    private(set) var textPositions: [PostID: Position] = [:]
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
    private(set) var blocks: [(user: UserID, by: UserID)] = []
    private(set) var reactions: [GeneratedReaction] = []
    /// The people of each direct thread.
    private(set) var directs: [[UserID]] = []
    private var state = ChatState()

    /// A present reaction.
    struct GeneratedReaction: Equatable {
        var post: PostID
        var user: UserID
        var emoji: String
    }

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
            apply(event)
        }
    }

    private mutating func apply(_ event: ChatEvent) {
        applyReaction(event)
        switch (event.kind, event.shape) {
        case (.userRegistered, .user(let user)): users.append(user)
        case (.threadOpened, .thread(let thread, _, let user)):
            threads.append(thread)
            guard event.origin == .native, thread.outwardCode == nil else { return }
            ownedThreads.append(thread)
            moderators[thread] = [user]
        case (.directOpened, .thread(let thread, _, _)):
            threads.append(thread)
            directs.append(event.people)
        case (.threadJoined, .thread(let thread, _, let user)):
            members[thread, default: []].append(user)
            invitations.removeAll { $0 == UserAndThread(user, thread) }
        case (.threadLeft, .thread(let thread, _, let user)), (.memberRemoved, .member(let thread, _, let user, _)):
            endMembership(user, thread)
        case (.messagePosted, .message(let thread, _, let message, let author)):
            messages.append((message, thread, author))
            (threadsOfPosts[.message(message)], textPositions[.message(message)]) = (thread, state.head)
        case (.replyPosted, .reply(let thread, _, _, let reply, let author)):
            replies.append((reply, author))
            (threadsOfPosts[.reply(reply)], textPositions[.reply(reply)]) = (thread, state.head)
        case (.messageEdited, _), (.replyEdited, _): if let post = event.post { addEdit(event, of: post) }
        case (.sessionStarted, .session(_, let session)): sessions.append(session)
        case (.custom, .custom(_, _, let id, _)): customEvents.append(id)
        case (.operatorGranted, .user(let user)): operators.append(user)
        case (.operatorRevoked, .user(let user)): operators.removeAll { $0 == user }
        case (_, .role(let thread, _, let user, let role, _)):
            moderators[thread]?.removeAll { $0 == user }
            if role > .member { moderators[thread, default: []].append(user) }
        case (.userInvited, .member(let thread, _, let user, _)): invitations.append(UserAndThread(user, thread))
        case (.invitationDeclined, .thread(let thread, _, let user)),
            (.invitationRevoked, .member(let thread, _, let user, _)):
            invitations.removeAll { $0 == UserAndThread(user, thread) }
        case (.userMuted, .sanction(let thread, _, let user, _, _)): mutes.append(UserAndThread(user, thread))
        case (.userUnmuted, .member(let thread, _, let user, _)): mutes.removeAll { $0 == UserAndThread(user, thread) }
        case (.userBanned, .sanction(let thread, _, let user, _, _)):
            bans.append(UserAndThread(user, thread))
            invitations.removeAll { $0 == UserAndThread(user, thread) }
        case (.userUnbanned, .member(let thread, _, let user, _)): bans.removeAll { $0 == UserAndThread(user, thread) }
        case (.messageReported, _), (.replyReported, _): if let post = event.post { reported.append(post) }
        case (.messagePinned, .message(_, _, let message, _)): pinned.append(message)
        case (.messageReportsResolved, _), (.replyReportsResolved, _): reported.removeAll { $0 == event.post }
        case (.messageUnpinned, .message(_, _, let message, _)): pinned.removeAll { $0 == message }
        case (.userBlocked, .block(let user, let by)): blocks.append((user, by))
        case (.userUnblocked, .block(let user, let by)): blocks.removeAll { $0 == (user, by) }
        case (.threadLocked, .thread(let thread, _, _)), (.threadClosed, .thread(let thread, _, _)):
            stopped.insert(thread)
        case (.threadUnlocked, .thread(let thread, _, _)): stopped.remove(thread)
        default: break
        }
    }

    private mutating func applyReaction(_ event: ChatEvent) {
        guard let emoji = event.emoji, let user = event.user, let post = event.post else { return }
        let reaction = GeneratedReaction(post: post, user: user, emoji: emoji.text)
        if event.kind == .reactionAdded { reactions.append(reaction) } else { reactions.removeAll { $0 == reaction } }
    }

    private mutating func addEdit(_ event: ChatEvent, of post: PostID) {
        if let edit = event.edit { edits.append(edit) }
        textPositions[post] = state.head
    }

    private mutating func endMembership(_ user: UserID, _ thread: ThreadID) {
        members[thread]?.removeAll { $0 == user }
        moderators[thread]?.removeAll { $0 == user }
    }
}
