public import ChatDomain
import EventJournal
import Locking
public import Projections

/// The typed queries.
///
/// Each takes a viewer: nil for the operator or the auditor, who sees everything; a user is refused what they may not read. Each takes a moment: with
/// ``Moment/position(_:)`` or ``Moment/time(_:)`` it answers, at about the same cost, what it would have answered then, membership, names and the viewer's
/// rights included. A moment beyond the last durable position is refused with `invalidPosition`.
extension ChatStore {
    /// A page of the threads, ordered by their latest events; a viewer is shown the threads that they may read.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser` if there is no such viewer.
    public func threads(_ page: Page = Page(), viewer: UserID? = nil, asOf moment: Moment = .now) throws(ChatError) -> [ThreadSummary] {
        try query(moment) { models, now throws(ChatError) in
            if let viewer { try models.requireUser(viewer, asOf: now) }
            return models.threads(page, asOf: now) { models.isShown($0, to: viewer, asOf: now) }.map(ThreadSummary.init)
        }
    }

    /// One thread.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`.
    public func thread(_ id: ThreadID, viewer: UserID? = nil, asOf moment: Moment = .now) throws(ChatError) -> ThreadSummary {
        try query(moment) { models, now throws(ChatError) in
            try models.requireReadable(id, viewer, asOf: now)
            guard let thread = models.thread(id, asOf: now) else { throw .rejected(.unknownThread) }
            return ThreadSummary(thread)
        }
    }

    /// The threads that bear a name, in the order in which they were opened; an outward code's thread bears the code.
    ///
    /// - Throws: ``ChatError`` only where a moment other than now cannot be asked.
    public func threads(named name: String, asOf moment: Moment = .now) throws(ChatError) -> [ThreadID] {
        try query(moment) { models, now throws(ChatError) in models.threads(named: name, asOf: now) }
    }

    /// A page of a thread's messages, the latest 50 unless it says otherwise, oldest first.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`;
    ///   ``ChatError/journal(_:)`` if the text cannot be read.
    public func timeline(
        _ thread: ThreadID, _ page: Page = Page(), viewer: UserID? = nil, asOf moment: Moment = .now
    ) throws(ChatError) -> [TimelineEntry] {
        let rows = try query(moment) { models, now throws(ChatError) in
            try models.requireReadable(thread, viewer, asOf: now)
            return models.messages(of: thread, page, asOf: now)
        }
        return try entries(rows, in: thread)
    }

    /// One message.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `unknownUser` and `notAMember`.
    public func message(_ id: MessageID, viewer: UserID? = nil, asOf moment: Moment = .now) throws(ChatError) -> TimelineEntry {
        let (row, thread) = try query(moment) { models, now throws(ChatError) in
            guard let row = models.message(id, asOf: now), let thread = models.thread(of: id, asOf: now) else {
                throw .rejected(.unknownMessage)
            }
            try models.requireReadable(thread, viewer, asOf: now)
            return (row, thread)
        }
        return try entry(row, in: thread)
    }

    /// A page of the replies to a message, the latest 50 unless it says otherwise, oldest first.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `unknownUser` and `notAMember`.
    public func replies(
        to message: MessageID, _ page: Page = Page(), viewer: UserID? = nil, asOf moment: Moment = .now
    ) throws(ChatError) -> [ReplyEntry] {
        let rows = try query(moment) { models, now throws(ChatError) in
            try models.requireReadable(message, viewer, asOf: now)
            return models.replies(to: message, page, asOf: now)
        }
        return try entries(rows, to: message)
    }

    /// The message that a reply answers, nil if there is no such reply.
    public func message(answeredBy reply: ReplyID) -> MessageID? { present { $0.message(answeredBy: reply, asOf: $1) } }

    /// Who is in a thread, in the order in which they joined.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`.
    public func members(of thread: ThreadID, viewer: UserID? = nil, asOf moment: Moment = .now) throws(ChatError) -> [Member] {
        try query(moment) { models, now throws(ChatError) in
            try models.requireReadable(thread, viewer, asOf: now)
            return models.members(of: thread, asOf: now).map { Member(user: Person($0), since: $0.since) }
        }
    }

    /// Who could read a thread, in the order in which they joined: the auditor's question.
    ///
    /// The same people as ``members(of:viewer:asOf:)`` for as long as membership alone decides who may read.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`.
    public func readers(of thread: ThreadID, viewer: UserID? = nil, asOf moment: Moment = .now) throws(ChatError) -> [Member] {
        try query(moment) { models, now throws(ChatError) in
            try models.requireReadable(thread, viewer, asOf: now)
            return models.readers(of: thread, asOf: now).map { Member(user: Person($0), since: $0.since) }
        }
    }

    /// Who lives in an outward code, in the order in which they moved there; a viewer has to be a member of its thread.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with a viewer: `unknownUser` and `notAMember`.
    public func residents(of code: OutwardCode, viewer: UserID? = nil, asOf moment: Moment = .now) throws(ChatError) -> [Resident] {
        try query(moment) { models, now throws(ChatError) in
            if let viewer {
                try models.requireUser(viewer, asOf: now)
                guard models.mayRead(viewer, ThreadID(code), asOf: now) else { throw .rejected(.notAMember) }
            }
            return models.residents(of: code, asOf: now).map { Resident(user: Person($0), since: $0.since, postcode: $0.postcode) }
        }
    }

    /// A user's view; a viewer is shown their own alone.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser`, and `notAllowed` if the viewer is somebody else.
    public func user(_ id: UserID, viewer: UserID? = nil, asOf moment: Moment = .now) throws(ChatError) -> UserView {
        let (profile, threads) = try query(moment) { models, now throws(ChatError) in
            guard viewer == nil || viewer == id else { throw .rejected(.notAllowed) }
            guard let profile = models.profile(id, asOf: now) else { throw .rejected(.unknownUser) }
            return (
                profile,
                models.threads(of: id, asOf: now).map { membership in
                    let thread = UserThread(
                        id: membership.thread, name: models.thread(membership.thread, asOf: now)?.name,
                        unread: models.unreadCount(of: id, in: membership.thread, asOf: now),
                        readUpTo: models.readUpTo(id, in: membership.thread, asOf: now))
                    return (thread: thread, last: models.lastMessage(of: membership.thread, asOf: now))
                }
            )
        }
        return UserView(
            id: id, username: profile.username?.text, postcode: profile.postcode, createdAt: profile.createdAt,
            threads: try map(threads) { row throws(ChatError) in
                var thread = row.thread
                if let message = row.last { thread.lastMessage = try entry(message, in: thread.id) }
                return thread
            })
    }

    /// When a user gained and lost each thread, in the order in which they gained them; a viewer is shown their own alone.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser`, and `notAllowed` if the viewer is somebody else.
    public func access(of user: UserID, viewer: UserID? = nil, asOf moment: Moment = .now) throws(ChatError) -> [ThreadAccess] {
        try query(moment) { models, now throws(ChatError) in
            guard viewer == nil || viewer == user else { throw .rejected(.notAllowed) }
            try models.requireUser(user, asOf: now)
            return models.access(of: user, asOf: now).map { access in
                ThreadAccess(
                    thread: access.thread, name: models.thread(access.thread, asOf: now)?.name, from: access.from, to: access.to)
            }
        }
    }

    /// What happened on each day: registrations, sessions, active users, messages and replies; days without any are left out.
    ///
    /// For the operator: it is about everybody, so there is no viewer whom it could be shown to. An import counts on the day of its original time, whenever it was
    /// recorded, so that days change that are long over.
    ///
    /// - Parameters:
    ///   - first: The first day to show, nil for all from the beginning.
    ///   - last: The last day to show, nil for all to the end.
    ///   - moment: What was recorded later is not counted.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` for a moment beyond the last durable position.
    public func activity(from first: Day? = nil, to last: Day? = nil, asOf moment: Moment = .now) throws(ChatError) -> [ActivityDay] {
        try query(moment) { models, now throws(ChatError) in models.activity(from: first, to: last, asOf: now) }
    }

    /// Whether there is a user of this id.
    ///
    /// - Throws: ``ChatError`` only where a moment other than now cannot be asked.
    public func isUser(_ id: UserID, asOf moment: Moment = .now) throws(ChatError) -> Bool {
        try query(moment) { models, now throws(ChatError) in models.profile(id, asOf: now) != nil }
    }

    /// The user who bears a username, compared as usernames are.
    ///
    /// - Throws: ``ChatError`` only where a moment other than now cannot be asked.
    public func user(named username: String, asOf moment: Moment = .now) throws(ChatError) -> UserID? {
        try query(moment) { models, now throws(ChatError) in models.user(named: username, asOf: now) }
    }

    /// The user whom the identity provider calls by this subject.
    public func user(withSubject subject: String) -> UserID? { present { $0.user(withSubject: subject, asOf: $1) } }
}

extension ChatStore {
    func map<Row, Value>(_ rows: [Row], _ transform: (Row) throws(ChatError) -> Value) throws(ChatError) -> [Value] {
        try rows.map(transform)
    }
}

extension Person {
    fileprivate init(_ membership: Membership) { self.init(id: membership.user, username: membership.username) }
}

extension ThreadSummary {
    init(_ thread: ThreadRecord) {
        self.init(
            id: thread.id, name: thread.name, outwardCode: thread.id.outwardCode, members: thread.memberCount,
            messages: thread.messageCount,
            lastPosition: thread.lastPosition, createdAt: thread.createdAt)
    }
}

extension ReadModels {
    func requireUser(_ user: UserID, asOf position: Position) throws(ChatError) {
        guard profile(user, asOf: position) != nil else { throw .rejected(.unknownUser) }
    }

    /// A thread that was there and that the viewer, if there is one, could read.
    func requireReadable(_ thread: ThreadID, _ viewer: UserID?, asOf position: Position) throws(ChatError) {
        if let viewer { try requireUser(viewer, asOf: position) }
        guard hasThread(thread, asOf: position) else { throw .rejected(.unknownThread) }
        if let viewer, !mayRead(viewer, thread, asOf: position) { throw .rejected(.notAMember) }
    }

    /// A message that was there, in a thread that the viewer, if there is one, could read.
    func requireReadable(_ message: MessageID, _ viewer: UserID?, asOf position: Position) throws(ChatError) {
        guard let thread = thread(of: message, asOf: position) else { throw .rejected(.unknownMessage) }
        try requireReadable(thread, viewer, asOf: position)
    }

    /// Whether a list of threads shows a thread to the viewer, if there is one.
    func isShown(_ thread: ThreadID, to viewer: UserID?, asOf position: Position) -> Bool {
        viewer.map { mayRead($0, thread, asOf: position) } ?? true
    }
}
