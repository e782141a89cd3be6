public import ChatDomain
import EventJournal
import Locking
public import Projections

// The typed queries.

extension ChatStore {
    /// Returns a page of the threads, ordered by latest event.
    ///
    /// A viewer receives the threads that they may read.
    ///
    /// - Parameters:
    ///   - page: The part of the list. With a cursor, only its limit applies.
    ///   - cursor: A cursor of an earlier page of the same list, in either direction; nil for
    ///     `page`.
    ///   - viewer: The user who asks; nil for the host.
    ///   - point: The point in the history to read as of.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>); for the cursor,
    ///   ``ChatError/foreignCursor`` and ``ChatError/rejected(_:)`` with `invalidPosition`.
    /// - Complexity: O(*n* log *n* + *m* log *k*), where *n* is the number of threads that the
    ///   viewer ever joined; for the host and operators, of all threads. *m* is the size of the
    ///   page, *k* the number of messages in a thread.
    public func threads(
        _ page: PageRequest = PageRequest(), at cursor: PageCursor? = nil, viewer: UserID? = nil, asOf point: AsOf = .now
    ) throws(ChatError) -> Page<ThreadSummary> {
        let page = try request(page, at: cursor, of: .threads)
        let (keys, sections) = try threadSortKeys(viewer, point)
        let found = sections.threads(page.slice(of: keys))
        return makePage(found, page, of: .threads, asOf: sections.viewpoint.position, position: \.lastPosition)
    }

    /// Returns one thread.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(log *n*) in the number of messages in the thread.
    public func thread(_ id: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> ThreadSummary {
        try query(point, for: viewer) { models, view throws(ChatError) in
            let start = try models.requireReadable(id, from: view)
            guard let thread = models.thread(id, asOf: view.position, after: start) else { throw .rejected(.unknownThread) }
            return ThreadSummary(thread)
        }
    }

    /// Returns the threads with a name, in opening order; a postcode thread is named by its outward
    /// code.
    ///
    /// Threads with the exact spelling take precedence. If none exist, names are compared by
    /// canonical caseless matching (`soup` finds `Soup`). A viewer receives the threads that they
    /// may read.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    /// - Complexity: O(*n*), where *n* is the number of threads that the viewer ever joined; for
    ///   the host and operators, of all threads.
    public func threads(named name: String, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [ThreadID] {
        let (list, sections) = try shownThreads(viewer, point)
        for match in ThreadNameMatch.allCases {
            let found = sections.compactMap(list) { models, row in
                sections.shownThread(models, row).flatMap { thread in
                    models.opening(thread, asOf: sections.viewpoint.position) { match.matches($0, name) }
                }
            }
            if !found.isEmpty { return found.sorted { $0.position < $1.position }.map(\.id) }
        }
        return []
    }

    /// Returns a page of a thread's messages, oldest first; by default the latest 50.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - page: The part of the list. With a cursor, only its limit applies.
    ///   - cursor: A cursor of an earlier page of the same list, in either direction; nil for
    ///     `page`.
    ///   - viewer: The user who asks; nil for the host.
    ///   - point: The point in the history to read as of.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`; for the
    ///   cursor, ``ChatError/foreignCursor`` and ``ChatError/rejected(_:)`` with `invalidPosition`.
    /// - Complexity: O(log *n* + *m*), where *n* is the number of the thread's messages and *m* the
    ///   size of the page, whose texts are read.
    public func timeline(
        _ thread: ThreadID, _ page: PageRequest = PageRequest(), at cursor: PageCursor? = nil, viewer: UserID? = nil,
        asOf point: AsOf = .now
    ) throws(ChatError) -> Page<TimelineEntry> {
        let page = try request(page, at: cursor, of: .timeline(thread))
        let (found, now) = try query(point, for: viewer) { models, view throws(ChatError) in
            let start = try models.requireReadable(thread, from: view)
            var found = models.messages(of: thread, page, asOf: view.position, after: start)
            models.mark(&found.items, thread, from: view, PostID.message)
            return (found, view.position)
        }
        let shown = PartialList(items: try entries(found.items, in: thread), hasOlder: found.hasOlder)
        return makePage(shown, page, of: .timeline(thread), asOf: now, position: \.position)
    }

    /// Returns one message.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `notAMember`.
    public func message(_ id: MessageID, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> TimelineEntry {
        let (rows, thread) = try query(point, for: viewer) { models, view throws(ChatError) in
            let thread = try models.requireReadable(id, from: view)
            guard let row = models.message(id, asOf: view.position) else { throw .rejected(.unknownMessage) }
            return (models.marking([row], in: thread, from: view), thread)
        }
        return try entries(rows, in: thread)[0]
    }

    /// Returns a page of the replies to a message, oldest first; by default the latest 50.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - page: The part of the list. With a cursor, only its limit applies.
    ///   - cursor: A cursor of an earlier page of the same list, in either direction; nil for
    ///     `page`.
    ///   - viewer: The user who asks; nil for the host.
    ///   - point: The point in the history to read as of.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `notAMember`; for the
    ///   cursor, ``ChatError/foreignCursor`` and ``ChatError/rejected(_:)`` with `invalidPosition`.
    /// - Complexity: O(log *n* + *m*), or O(log² *n* + *m*) with bounds, where *n* is the number of
    ///   the message's replies and *m* the size of the page, whose texts are read.
    public func replies(
        to message: MessageID, _ page: PageRequest = PageRequest(), at cursor: PageCursor? = nil, viewer: UserID? = nil,
        asOf point: AsOf = .now
    ) throws(ChatError) -> Page<ReplyEntry> {
        let page = try request(page, at: cursor, of: .replies(message))
        let (found, now) = try query(point, for: viewer) { models, view throws(ChatError) in
            let thread = try models.requireReadable(message, from: view)
            var found = models.replies(to: message, page, asOf: view.position)
            models.mark(&found.items, thread, from: view, PostID.reply)
            return (found, view.position)
        }
        let shown = PartialList(items: try entries(found.items, to: message), hasOlder: found.hasOlder)
        return makePage(shown, page, of: .replies(message), asOf: now, position: \.position)
    }

    /// Returns the message that a reply answers; nil if it is unknown or the viewer may not read
    /// its thread.
    public func message(answeredBy reply: ReplyID, viewer: UserID? = nil) -> MessageID? {
        withCurrentModels { models, now -> MessageID? in
            let view = Viewpoint(viewer: viewer, position: now, currentPosition: now)
            // Any rejection means that the viewer may not see the reply.
            return try? models.requireReadable(reply, from: view).message
        }
    }

    /// Returns the members of a thread, in joining order.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it.
    public func members(of thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [ThreadMember] {
        try members(of: thread, nil, viewer: viewer, asOf: point).items
    }

    /// Returns a page of the members of a thread, in joining order; nil for all of them.
    ///
    /// - Throws: As ``members(of:viewer:asOf:)``.
    /// - Complexity: As ``members(of:viewer:asOf:)``, but only the names of the page are read.
    package func members(
        of thread: ThreadID, _ page: PageRequest?, viewer: UserID?, asOf point: AsOf = .now
    ) throws(ChatError) -> PartialList<ThreadMember> {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        return sections.members(scan, page).map { ThreadMember(user: UserSummary($0), since: $0.since) }
    }

    /// Returns the users who could read a thread; for the host only.
    ///
    /// The members come first, in joining order, then the operators of the community who are no
    /// members, unless the thread is `inviteOnly`.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`, and with `notAllowed` for any viewer.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it, and of users who ever were operators.
    public func readers(of thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [ThreadMember] {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try requireHost(viewer)
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        return sections.readers(of: thread, scan, asOf: sections.viewpoint.position)
    }

    /// Returns the residents of an outward code, in the order in which they moved there.
    ///
    /// A viewer must be a member of the code's thread, and receives no postcode other than their
    /// own.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>); with a viewer also
    ///   ``ChatError/rejected(_:)`` with `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever lived there.
    public func residents(of code: OutwardCode, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [Resident] {
        try residents(of: code, nil, viewer: viewer, asOf: point).items
    }

    /// Returns a page of the residents of an outward code, in the order in which they moved there;
    /// nil for all of them.
    ///
    /// - Throws: As ``residents(of:viewer:asOf:)``.
    /// - Complexity: As ``residents(of:viewer:asOf:)``, but only the names of the page are read.
    package func residents(
        of code: OutwardCode, _ page: PageRequest?, viewer: UserID?, asOf point: AsOf = .now
    ) throws(ChatError) -> PartialList<Resident> {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            guard models.mayRead(ThreadID(code), from: view) else { throw .rejected(.notAMember) }
            return models.scan(residencesOf: code)
        }
        return sections.residents(scan, page).map {
            Resident(user: UserSummary($0), since: $0.since, postcode: $0.postcode(shownTo: viewer), outwardCode: code)
        }
    }

    /// Returns a user's profile with their threads.
    ///
    /// A viewer may read only their own profile. For a viewer, a profile as of an earlier point
    /// includes only the threads of which they are still a member.
    ///
    /// - Parameters:
    ///   - id: The user.
    ///   - viewer: The user who asks; nil for the host.
    ///   - point: The point in the history to read as of.
    ///   - threadLimit: The maximum number of threads, first joined first.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: O(*n* log *n*) in the number of threads that the user ever joined or was
    ///   invited to, plus O(*b* log *m*) for each current one with *m* messages, whose latest text is
    ///   read; *b* is the number of users whom the user blocks.
    public func user(
        _ id: UserID, viewer: UserID? = nil, asOf point: AsOf = .now, threadLimit: Int = .max
    ) throws(ChatError) -> UserDetails {
        let ((profile, scan, blocked), sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, id)
            guard let profile = models.profile(id, asOf: view.position) else { throw .rejected(.unknownUser) }
            return (profile, models.scan(membershipsOf: id), models.blockedUsers(by: id))
        }
        // A count costs as much as one of each blocked user.
        let countsPerSection = max(1, SectionedQuery.unreadCount / (1 + blocked.count / 16))
        let (view, user) = (sections.viewpoint, id)
        let memberships = sections.compactMap(scan) { models, row -> IndexedMembership? in
            models.indexedMembership(ofMembership: row, asOf: view.position).flatMap {
                models.mayRead(models.threadID($0), from: view) ? $0 : nil
            }
        }
        let shown = memberships.sorted { $0.since < $1.since }.prefix(threadLimit)
        let threads = sections.map(shown, per: countsPerSection) { models, membership in
            let id = models.threadID(membership)
            // The details are the user's, so the host too sees the messages that the user may read.
            let start = (viewer == nil ? models.readingStart(user, id, asOf: view.position) : models.readingStart(id, from: view)) ?? .max
            // A viewer who joined again later may read no message of that time.
            let thread = UserThread(
                id: id, name: models.thread(id, asOf: view.position)?.name,
                unreadCount: start > view.position
                    ? 0 : models.unreadCount(of: user, in: id, except: blocked, asOf: view.position),
                readUpTo: models.readMarker(user, in: id, asOf: view.position))
            let last = models.lastMessage(of: id, asOf: view.position, after: start)
            return (thread: thread, last: models.marking(last.map { [$0] } ?? [], in: id, from: view))
        }
        return UserDetails(
            id: id, username: profile.username?.text, postcode: profile.postcode, createdAt: profile.createdAt,
            threads: try mapRows(threads) { row throws(ChatError) in
                var thread = row.thread
                thread.lastMessage = try entries(row.last, in: thread.id).first
                return thread
            })
    }

    /// Returns the periods in which a user could read each thread, ordered by start.
    ///
    /// The periods include those as an operator of the community, who can read every thread that is
    /// not `inviteOnly`. Overlapping periods of a thread are one. A viewer may read only their own
    /// periods. ``readingStart(of:in:asOf:)`` returns which messages a user could read.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: O(*n* log *n*) in the number of the user's joins and departures. For a user
    ///   who ever was an operator, also in the number of all threads for each such period.
    public func access(of user: UserID, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [ThreadAccess] {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, user)
            try models.requireUser(user, asOf: view.position)
            return models.scan(membershipsOf: user)
        }
        return sections.access(of: user, scan)
    }

    /// Returns the position after which a user could read the messages of a thread, with their
    /// replies; for the host only.
    ///
    /// An audit uses it to list what a user could read at a time: the timeline as of that time,
    /// after this position. A query with a viewer also applies the rights and the texts of today.
    ///
    /// - Returns: 0 if the user could read the whole thread, the position of their latest join if the
    ///   thread's history begins there, and nil if they could read none of it.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser` and `unknownThread`.
    /// - Complexity: O(log *n*).
    public func readingStart(of user: UserID, in thread: ThreadID, asOf point: AsOf = .now) throws(ChatError) -> Position? {
        try query(point) { models, view throws(ChatError) in
            try models.requireUser(user, asOf: view.position)
            guard models.hasThread(thread, asOf: view.position) else { throw .rejected(.unknownThread) }
            return models.readingStart(user, thread, asOf: view.position)
        }
    }

    /// Returns the activity of each day, for the host only; days without activity are omitted.
    ///
    /// An import counts on the day of its original time, so past days can change.
    ///
    /// - Parameters:
    ///   - first: The first day; nil for no lower bound.
    ///   - last: The last day; nil for no upper bound.
    ///   - viewer: nil for the host; any viewer is rejected.
    ///   - point: The point in the history to read as of; later recordings are not counted.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `notAllowed` for any viewer.
    /// - Complexity: O(*d* log *d*) in the number of days with activity.
    public func activity(
        from first: CalendarDay? = nil, to last: CalendarDay? = nil, viewer: UserID? = nil, asOf point: AsOf = .now
    ) throws(ChatError) -> [ActivityDay] {
        let (scan, sections) = try sections(point, for: viewer) { models, _ throws(ChatError) in
            try requireHost(viewer)
            return models.dayScan()
        }
        return sections.compactMap(scan) { $0.activity(onDay: $1, from: first, to: last, asOf: sections.viewpoint.position) }
            .sorted { $0.day < $1.day }
    }

    /// Returns whether a user with this id exists; for the host only.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    public func isUser(_ id: UserID, asOf point: AsOf = .now) throws(ChatError) -> Bool {
        try query(point) { models, view throws(ChatError) in models.profile(id, asOf: view.position) != nil }
    }

    /// Returns the user with a username, for the host only; nil if none exists.
    ///
    /// Usernames are compared as in registration.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    public func user(named username: String, asOf point: AsOf = .now) throws(ChatError) -> UserID? {
        try query(point) { models, view throws(ChatError) in models.user(named: username, asOf: view.position) }
    }

    /// Returns a user's id and name, for the host only; nil if none exists.
    public func summary(of user: UserID) -> UserSummary? {
        withCurrentModels { models, now in models.profile(user, asOf: now).map { UserSummary(id: user, username: $0.username?.text) } }
    }

    /// Returns the user with this subject of the identity provider; nil if none exists.
    public func user(withSubject subject: String) -> UserID? { withCurrentModels { $0.user(withSubject: subject, asOf: $1) } }
}

// MARK: Times

extension ChatStore {
    /// Returns the position of the last event recorded at or before a time; 0 if none exists.
    ///
    /// After a correction of the clock (``correctClock()``) the time is looked up in the latest run of
    /// times that begins at or before it: <doc:TimeTravelAndAudits#When-the-clock-was-wrong>.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if the log is closed or an event cannot be read;
    ///   ``ChatError/undecodable(position:_:)`` if one does not decode.
    /// - Complexity: O(*r* + log *n*) reads of single events, in the number *r* of corrections.
    public func position(asOf time: Timestamp) throws(ChatError) -> Position { try lastPosition { $0 <= time } }

    /// Returns the position of the last event recorded before a time; 0 if none exists.
    ///
    /// It bounds a page that begins at that time: `PageRequest(after: try store.position(before:
    /// time))` begins with the first entry recorded at that time or later. Entries are in journal
    /// order, so the time of recording counts for imports too, not the display time.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if the log is closed or an event cannot be read;
    ///   ``ChatError/undecodable(position:_:)`` if one does not decode.
    /// - Complexity: O(*r* + log *n*) reads of single events, in the number *r* of corrections.
    public func position(before time: Timestamp) throws(ChatError) -> Position { try lastPosition { $0 < time } }

    private func lastPosition(where condition: (Timestamp) -> Bool) throws(ChatError) -> Position {
        let (end, runs) = withCurrentModels { models, position in (position, models.runStarts) }
        guard end > 0 else { return 0 }
        return try log.lastPosition(through: end, runs: runs, where: condition)
    }
}

extension ChatStore {
    /// Maps with a typed error.
    func mapRows<Row, Value>(_ rows: [Row], _ transform: (Row) throws(ChatError) -> Value) throws(ChatError) -> [Value] {
        try rows.map(transform)
    }
}

extension UserSummary {
    init(_ membership: Membership) { self.init(id: membership.user, username: membership.username) }
}

extension ThreadSummary {
    init(_ thread: ThreadRecord) {
        self.init(
            id: thread.id, name: thread.name, outwardCode: thread.id.outwardCode, memberCount: thread.memberCount,
            messageCount: thread.messageCount, lastPosition: thread.lastPosition, createdAt: thread.createdAt, policy: thread.policy,
            history: thread.history, isLocked: thread.isLocked, isClosed: thread.isClosed)
    }
}
