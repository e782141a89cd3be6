public import ChatDomain
import EventJournal
public import Projections
import Synchronization

/// The typed queries.
///
/// Each takes a viewer: nil for the operator or the auditor, who sees everything; a user is refused what they may not read.
extension ChatStore {
    /// A page of the threads, ordered by their latest events; a viewer is shown the threads that they may read.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser` if there is no such viewer.
    public func threads(_ page: Page = Page(), viewer: UserID? = nil) throws(ChatError) -> [ThreadSummary] {
        try query { models throws(ChatError) in
            if let viewer { try models.requireUser(viewer) }
            return models.timelines.threads(page) { thread in viewer.map { models.mayRead($0, thread) } ?? true }.map(models.summary)
        }
    }

    /// One thread.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`.
    public func thread(_ id: ThreadID, viewer: UserID? = nil) throws(ChatError) -> ThreadSummary {
        try query { models throws(ChatError) in models.summary(try models.readableThread(id, viewer)) }
    }

    /// The threads that bear a name, in the order in which they were opened; an outward code's thread bears the code.
    public func threads(named name: String) -> [ThreadID] { views.withLock { $0.models.timelines.threads(named: name) } }

    /// A page of a thread's messages, the latest 50 unless it says otherwise, oldest first.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`;
    ///   ``ChatError/journal(_:)`` if the text cannot be read.
    public func timeline(_ thread: ThreadID, _ page: Page = Page(), viewer: UserID? = nil) throws(ChatError) -> [TimelineEntry] {
        let rows = try query { models throws(ChatError) in
            _ = try models.readableThread(thread, viewer)
            return models.timelines.messages(of: thread, page).map { ($0, models.person($0.author)) }
        }
        return try map(rows) { row throws(ChatError) in try entry(row.0, row.1, in: thread) }
    }

    /// One message.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `unknownUser` and `notAMember`.
    public func message(_ id: MessageID, viewer: UserID? = nil) throws(ChatError) -> TimelineEntry {
        let (row, author, thread) = try query { models throws(ChatError) in
            guard let row = models.timelines.message(id), let thread = models.timelines.thread(of: id) else {
                throw .rejected(.unknownMessage)
            }
            _ = try models.readableThread(thread, viewer)
            return (row, models.person(row.author), thread)
        }
        return try entry(row, author, in: thread)
    }

    /// A page of the replies to a message, the latest 50 unless it says otherwise, oldest first.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `unknownUser` and `notAMember`.
    public func replies(to message: MessageID, _ page: Page = Page(), viewer: UserID? = nil) throws(ChatError) -> [ReplyEntry] {
        let rows = try query { models throws(ChatError) in
            guard let thread = models.timelines.thread(of: message) else { throw .rejected(.unknownMessage) }
            _ = try models.readableThread(thread, viewer)
            return models.timelines.replies(to: message, page).map { ($0, models.person($0.author)) }
        }
        return try map(rows) { row throws(ChatError) in
            let text = try text(of: row.0)
            return ReplyEntry(
                position: row.0.position, id: row.0.id, message: message, author: row.1, body: text.body, createdAt: text.createdAt,
                editedAt: text.editedAt, retracted: row.0.isRetracted)
        }
    }

    /// The message that a reply answers, nil if there is no such reply.
    public func message(answeredBy reply: ReplyID) -> MessageID? { views.withLock { $0.models.timelines.message(answeredBy: reply) } }

    /// Who is in a thread now, in the order in which they joined.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`.
    public func members(of thread: ThreadID, viewer: UserID? = nil) throws(ChatError) -> [Member] {
        try query { models throws(ChatError) in
            _ = try models.readableThread(thread, viewer)
            return models.membership.members(of: thread).map { Member(user: models.person($0.user), since: $0.since) }
        }
    }

    /// Who lives in an outward code now, in the order in which they moved there; a viewer has to be a member of its thread.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with a viewer: `unknownUser` and `notAMember`.
    public func residents(of code: OutwardCode, viewer: UserID? = nil) throws(ChatError) -> [Resident] {
        try query { models throws(ChatError) in
            if let viewer {
                try models.requireUser(viewer)
                guard models.mayRead(viewer, ThreadID(code)) else { throw .rejected(.notAMember) }
            }
            return models.membership.residents(of: code).map {
                Resident(user: models.person($0.user), since: $0.since, postcode: $0.postcode)
            }
        }
    }

    /// A user's view; a viewer is shown their own alone.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser`, and `notAllowed` if the viewer is somebody else.
    public func user(_ id: UserID, viewer: UserID? = nil) throws(ChatError) -> UserView {
        let (profile, threads) = try query { models throws(ChatError) in
            guard viewer == nil || viewer == id else { throw .rejected(.notAllowed) }
            guard let profile = models.users.profile(id) else { throw .rejected(.unknownUser) }
            return (profile, models.membership.threads(of: id).map { models.userThread(id, $0.thread) })
        }
        return UserView(
            id: id, username: profile.username?.text, postcode: profile.postcode, createdAt: profile.createdAt,
            threads: try map(threads) { row throws(ChatError) in
                var thread = row.thread
                if let (message, author) = row.last { thread.lastMessage = try entry(message, author, in: thread.id) }
                return thread
            })
    }

    /// Whether there is a user of this id.
    public func isUser(_ id: UserID) -> Bool { views.withLock { $0.models.users.profile(id) != nil } }

    /// The user who bears a username now, compared as usernames are.
    public func user(named username: String) -> UserID? { views.withLock { $0.models.users.user(named: username) } }

    /// The user whom the identity provider calls by this subject.
    public func user(withSubject subject: String) -> UserID? { views.withLock { $0.models.users.user(withSubject: subject) } }
}

extension ChatStore {
    /// Asks the read models under their lock; the text is read from the journal afterwards, outside it.
    private func query<Value>(_ body: (borrowing ReadModels) throws(ChatError) -> Value) throws(ChatError) -> Value {
        let result: Result<Value, ChatError> = views.withLock { views in
            if views.isClosed { return .failure(.journal(JournalError(.closed, "The store has been closed."))) }
            do throws(ChatError) { return .success(try body(views.models)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func map<Row, Value>(_ rows: [Row], _ transform: (Row) throws(ChatError) -> Value) throws(ChatError) -> [Value] {
        try rows.map(transform)
    }

    private func entry(_ row: PostRecord<MessageID>, _ author: Person, in thread: ThreadID) throws(ChatError) -> TimelineEntry {
        let text = try text(of: row)
        return TimelineEntry(
            position: row.position, id: row.id, thread: thread, author: author, body: text.body, createdAt: text.createdAt,
            editedAt: text.editedAt, retracted: row.isRetracted, replyCount: row.replyCount)
    }

    /// Reads what a post says now, and when it was written and edited.
    private func text<ID>(
        of row: PostRecord<ID>
    ) throws(ChatError) -> (body: String?, createdAt: Timestamp, editedAt: Timestamp?) {
        let posted = try event(at: row.position)
        let edited: Event?
        if let position = row.editPosition { edited = try event(at: position) } else { edited = nil }
        return (row.isRetracted ? nil : (edited ?? posted).body, posted.createdAt, edited?.createdAt)
    }
}

extension ReadModels {
    fileprivate func requireUser(_ user: UserID) throws(ChatError) {
        guard users.profile(user) != nil else { throw .rejected(.unknownUser) }
    }

    /// A thread that exists and that the viewer, if there is one, may read.
    fileprivate func readableThread(_ id: ThreadID, _ viewer: UserID?) throws(ChatError) -> ThreadRecord {
        if let viewer { try requireUser(viewer) }
        guard let thread = timelines.thread(id) else { throw .rejected(.unknownThread) }
        if let viewer, !mayRead(viewer, id) { throw .rejected(.notAMember) }
        return thread
    }

    fileprivate func person(_ user: UserID) -> Person { Person(id: user, username: users.profile(user)?.username?.text) }

    fileprivate func summary(_ thread: ThreadRecord) -> ThreadSummary {
        ThreadSummary(
            id: thread.id, name: thread.name, outwardCode: thread.id.outwardCode, members: membership.memberCount(of: thread.id),
            messages: thread.messageCount, lastPosition: thread.lastPosition, createdAt: thread.createdAt)
    }

    fileprivate func userThread(_ user: UserID, _ id: ThreadID) -> (thread: UserThread, last: (PostRecord<MessageID>, Person)?) {
        let thread = UserThread(
            id: id, name: timelines.thread(id)?.name, unread: unreadCount(of: user, in: id), readUpTo: users.readUpTo(user, in: id))
        return (thread, timelines.lastMessage(of: id).map { ($0, person($0.author)) })
    }
}
