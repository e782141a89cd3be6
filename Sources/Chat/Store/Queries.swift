public import ChatDomain
import EventJournal
import Locking
public import Projections

/// The typed queries.
///
/// Each takes a viewer: nil for the operator or the auditor, who sees everything; a user is refused what they may not read. Each takes a moment: with
/// ``AsOf/position(_:)`` or ``AsOf/time(_:)`` it answers, at about the same cost, what it would have answered then, membership, names and the viewer's
/// rights included. A moment beyond the last durable position is refused with `invalidPosition`.
extension ChatStore {
    /// A page of the threads, ordered by their latest events; a viewer is shown the threads that they may read.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser` if there is no such viewer.
    public func threads(_ page: PageRequest = PageRequest(), viewer: UserID? = nil, asOf moment: AsOf = .now) throws(ChatError)
        -> [ThreadSummary]
    {
        let (places, sections) = try threadPlaces(viewer, moment)
        return sections.threads(page.slice(of: places)).map(ThreadSummary.init)
    }

    /// One thread.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`.
    public func thread(_ id: ThreadID, viewer: UserID? = nil, asOf moment: AsOf = .now) throws(ChatError) -> ThreadSummary {
        try query(moment, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(id, from: view)
            guard let thread = models.thread(id, asOf: view.position) else { throw .rejected(.unknownThread) }
            return ThreadSummary(thread)
        }
    }

    /// The threads that bear a name, in the order in which they were opened; an outward code's thread bears the code.
    ///
    /// Of several spellings the one that was asked for counts. Where no thread bears it, those count whose names are the same under canonical caseless matching (`soup` finds
    /// `Soup`). A viewer is told of the threads that they may read.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser` if there is no such viewer.
    /// - Complexity: O(*n*) in the threads.
    public func threads(named name: String, viewer: UserID? = nil, asOf moment: AsOf = .now) throws(ChatError) -> [ThreadID] {
        let (list, sections) = try shownThreads(viewer, moment)
        for match in ThreadNameMatch.allCases {
            let found = sections.compactMap(list) { models, row in
                sections.shownThread(models, row).flatMap { thread in
                    models.opening(thread, asOf: sections.view.position) { match.isMatch($0, name) }
                }
            }
            if !found.isEmpty { return found.sorted { $0.position < $1.position }.map(\.id) }
        }
        return []
    }

    /// A page of a thread's messages, the latest 50 unless it says otherwise, oldest first.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`;
    ///   ``ChatError/journal(_:)`` if the text cannot be read.
    public func timeline(
        _ thread: ThreadID, _ page: PageRequest = PageRequest(), viewer: UserID? = nil, asOf moment: AsOf = .now
    ) throws(ChatError) -> [TimelineEntry] {
        let rows = try query(moment, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return models.withheld(models.messages(of: thread, page, asOf: view.position), from: view)
        }
        return try entries(rows, in: thread)
    }

    /// One message.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `unknownUser` and `notAMember`.
    public func message(_ id: MessageID, viewer: UserID? = nil, asOf moment: AsOf = .now) throws(ChatError) -> TimelineEntry {
        let (rows, thread) = try query(moment, for: viewer) { models, view throws(ChatError) in
            guard let row = models.message(id, asOf: view.position), let thread = models.thread(of: id, asOf: view.position) else {
                throw .rejected(.unknownMessage)
            }
            try models.requireReadable(thread, from: view)
            return (models.withheld([row], from: view), thread)
        }
        return try entries(rows, in: thread)[0]
    }

    /// A page of the replies to a message, the latest 50 unless it says otherwise, oldest first.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `unknownUser` and `notAMember`.
    public func replies(
        to message: MessageID, _ page: PageRequest = PageRequest(), viewer: UserID? = nil, asOf moment: AsOf = .now
    ) throws(ChatError) -> [ReplyEntry] {
        let rows = try query(moment, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(message, from: view)
            return models.withheld(models.replies(to: message, page, asOf: view.position), from: view)
        }
        return try entries(rows, to: message)
    }

    /// The message that a reply answers, nil if there is no such reply or the viewer may not read its thread.
    public func message(answeredBy reply: ReplyID, viewer: UserID? = nil) -> MessageID? {
        present { models, now -> MessageID? in
            let view = Viewpoint(viewer: viewer, position: now, present: now)
            guard let message = models.message(answeredBy: reply, asOf: now), let thread = models.thread(of: message, asOf: now),
                models.mayRead(thread, from: view)
            else { return nil }
            return message
        }
    }

    /// Who is in a thread, in the order in which they joined.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `unknownUser` and `notAMember`.
    public func members(of thread: ThreadID, viewer: UserID? = nil, asOf moment: AsOf = .now) throws(ChatError) -> [ThreadMember] {
        let (scan, sections) = try sections(moment, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        return sections.members(scan).map { ThreadMember(user: UserSummary($0), since: $0.since) }
    }

    /// Who could read a thread, in the order in which they joined: the auditor's question.
    ///
    /// The same people as ``members(of:viewer:asOf:)`` for as long as membership alone decides who may read.
    ///
    /// For the operator and the auditor alone.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`, and with `notAllowed` for any viewer.
    public func readers(of thread: ThreadID, viewer: UserID? = nil, asOf moment: AsOf = .now) throws(ChatError) -> [ThreadMember] {
        let (scan, sections) = try sections(moment, for: viewer) { models, view throws(ChatError) in
            try requireOperator(viewer)
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        return sections.readers(of: thread, scan, asOf: sections.view.position)
    }

    /// Who lives in an outward code, in the order in which they moved there; a viewer has to be a member of its thread, and is shown no postcode but their own.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with a viewer: `unknownUser` and `notAMember`.
    public func residents(of code: OutwardCode, viewer: UserID? = nil, asOf moment: AsOf = .now) throws(ChatError) -> [Resident] {
        let (scan, sections) = try sections(moment, for: viewer) { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            guard models.mayRead(ThreadID(code), from: view) else { throw .rejected(.notAMember) }
            return models.scan(residencesOf: code)
        }
        return sections.residents(scan).map {
            Resident(user: UserSummary($0), since: $0.since, postcode: $0.postcode(shownTo: viewer), outwardCode: code)
        }
    }

    /// A user's view; a viewer is shown their own alone, and of its threads those of which they are a member now too.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser`, and `notAllowed` if the viewer is somebody else.
    public func user(_ id: UserID, viewer: UserID? = nil, asOf moment: AsOf = .now) throws(ChatError) -> UserDetails {
        let ((profile, scan), sections) = try sections(moment, for: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, id)
            guard let profile = models.profile(id, asOf: view.position) else { throw .rejected(.unknownUser) }
            return (profile, models.scan(membershipsOf: id))
        }
        let (view, user) = (sections.view, id)
        let stays = sections.compactMap(scan) { models, row -> Stay? in
            models.stay(ofMembership: row, asOf: view.position).flatMap { models.mayRead(models.threadID($0), from: view) ? $0 : nil }
        }
        let threads = sections.map(stays.sorted { $0.since < $1.since }, per: Sections.unreadCount) { models, stay in
            let id = models.threadID(stay)
            let thread = UserThread(
                id: id, name: models.thread(id, asOf: view.position)?.name,
                unread: models.unreadCount(of: user, in: id, asOf: view.position),
                readUpTo: models.readUpTo(user, in: id, asOf: view.position))
            let last = models.lastMessage(of: id, asOf: view.position)
            return (thread: thread, last: models.withheld(last.map { [$0] } ?? [], from: view))
        }
        return UserDetails(
            id: id, username: profile.username?.text, postcode: profile.postcode, createdAt: profile.createdAt,
            threads: try map(threads) { row throws(ChatError) in
                var thread = row.thread
                thread.lastMessage = try entries(row.last, in: thread.id).first
                return thread
            })
    }

    /// When a user gained and lost each thread, in the order in which they gained them; a viewer is shown their own alone.
    ///
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser`, and `notAllowed` if the viewer is somebody else.
    public func access(of user: UserID, viewer: UserID? = nil, asOf moment: AsOf = .now) throws(ChatError) -> [ThreadAccess] {
        let (scan, sections) = try sections(moment, for: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, user)
            try models.requireUser(user, asOf: view.position)
            return models.scan(membershipsOf: user)
        }
        return sections.access(scan)
    }

    /// What happened on each day: registrations, sessions, active users, messages and replies; days without any are left out.
    ///
    /// For the operator alone, because it is about everybody. An import counts on the day of its original time, whenever it was
    /// recorded, so that days change that are long over.
    ///
    /// - Parameters:
    ///   - first: The first day to show, nil for all from the beginning.
    ///   - last: The last day to show, nil for all to the end.
    ///   - viewer: nil for the operator; a viewer is refused.
    ///   - moment: What was recorded later is not counted.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` for a moment beyond the last durable position, and with `notAllowed` for any viewer.
    public func activity(
        from first: CalendarDay? = nil, to last: CalendarDay? = nil, viewer: UserID? = nil, asOf moment: AsOf = .now
    ) throws(ChatError) -> [ActivityDay] {
        let (scan, sections) = try sections(moment, for: viewer) { models, _ throws(ChatError) in
            try requireOperator(viewer)
            return models.scanOfDays()
        }
        return sections.compactMap(scan) { $0.activity(onDay: $1, from: first, to: last, asOf: sections.view.position) }
            .sorted { $0.day < $1.day }
    }

    /// Whether there is a user of this id: the operator's question, like the two that follow.
    ///
    /// - Throws: ``ChatError`` only where a moment other than now cannot be asked.
    public func isUser(_ id: UserID, asOf moment: AsOf = .now) throws(ChatError) -> Bool {
        try query(moment) { models, view throws(ChatError) in models.profile(id, asOf: view.position) != nil }
    }

    /// The user who bears a username, compared as usernames are.
    ///
    /// - Throws: ``ChatError`` only where a moment other than now cannot be asked.
    public func user(named username: String, asOf moment: AsOf = .now) throws(ChatError) -> UserID? {
        try query(moment) { models, view throws(ChatError) in models.user(named: username, asOf: view.position) }
    }

    /// The user whom the identity provider calls by this subject.
    public func user(withSubject subject: String) -> UserID? { present { $0.user(withSubject: subject, asOf: $1) } }
}

extension ChatStore {
    func map<Row, Value>(_ rows: [Row], _ transform: (Row) throws(ChatError) -> Value) throws(ChatError) -> [Value] {
        try rows.map(transform)
    }
}

extension UserSummary {
    init(_ membership: Membership) { self.init(id: membership.user, username: membership.username) }
}

extension ThreadSummary {
    init(_ thread: ThreadRecord) {
        self.init(
            id: thread.id, name: thread.name, outwardCode: thread.id.outwardCode, members: thread.memberCount,
            messages: thread.messageCount,
            lastPosition: thread.lastPosition, createdAt: thread.createdAt)
    }
}
