public import ChatDomain
import EventJournal
import Projections

/// Users and their access.
extension ChatStore {
    fileprivate func profileAndThreads(
        of user: UserID, _ page: PageRequest, _ viewer: Viewer, _ point: AsOf
    ) throws(ChatError) -> (profile: UserProfile, threads: Page<UserThread>) {
        let ((profile, scan, blocked), sections) = try sections(point, as: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, user)
            guard let profile = models.profile(user, asOf: view.position) else { throw .rejected(.unknownUser) }
            return (profile, models.scan(membershipsOf: user), models.blockedUsers(by: user))
        }
        // A count costs as much as one of each blocked user.
        let countsPerSection = max(1, SectionedQuery.unreadCount / (1 + blocked.count / 16))
        let view = sections.viewpoint
        let memberships = sections.compactMap(scan) { models, row -> IndexedMembership? in
            models.indexedMembership(ofMembership: row, asOf: view.position).flatMap {
                models.mayRead(models.threadID($0), from: view) ? $0 : nil
            }
        }
        var names = ShownNames(from: view)
        let rows = sections.page(page, of: memberships, by: \.since, per: countsPerSection) { models, membership in
            let id = models.threadID(membership)
            // The details are the user's, so the host too sees the messages that the user may read.
            let start =
                (viewer == .host
                    ? models.readingStart(user, id, asOf: view.position) : models.readingStart(id, from: view)) ?? .max
            // A viewer who joined again later may read no message of that time.
            let unread =
                start > view.position
                ? (count: 0, first: nil) : models.unread(of: user, in: id, except: blocked, asOf: view.position)
            let record = models.shownThread(id, from: view, &names)
            let thread = UserThread(
                id: id, name: record?.name, people: record?.people, since: membership.since, unreadCount: unread.count,
                firstUnread: unread.first,
                readUpTo: models.readMarker(user, in: id, asOf: view.position))
            var last = models.lastMessage(of: id, asOf: view.position, after: start).map { [$0] } ?? []
            models.mark(&last, id, from: view, &names)
            return (thread: thread, level: models.notifications(of: user, in: id, asOf: view.position), last: last)
        }
        // Few levels have an end, which needs the time.
        let time =
            rows.contains { $0.level.until != nil } ? try time(of: point, view) : Timestamp(millisecondsSince1970: 0)
        // All texts at once: each reading of texts takes locks of the cache and of the log.
        var last = try posts(rows.flatMap(\.last)).makeIterator()
        let threads = rows.map { row in
            var thread = row.thread
            thread.notifications = ThreadNotifications(row.level, at: time)
            if !row.last.isEmpty { thread.lastMessage = last.next() }
            thread.lastMessage?.thread = thread.id
            return thread
        }
        return (profile, Page(entries: threads, older: rows.older, newer: rows.newer))
    }

    /// Returns the position after which a user could read the messages of a thread, with their
    /// replies; for the host only.
    ///
    /// An audit uses it to list what a user could read at a time: the timeline as of that time,
    /// after this position. A query with a viewer also applies the rights and the texts of today.
    ///
    /// - Returns: 0 if the user could read the whole thread, the position of their latest join if
    ///   the thread's history begins there, and nil if they could read none of it.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser` and `unknownThread`.
    /// - Complexity: O(log *n*).
    public func readingStart(of user: UserID, in thread: ThreadID, asOf point: AsOf = .now) throws(ChatError)
        -> Position?
    {
        try query(point, as: .host) { models, view throws(ChatError) in
            try models.requireUser(user, asOf: view.position)
            guard models.hasThread(thread, asOf: view.position) else { throw .rejected(.unknownThread) }
            return models.readingStart(user, thread, asOf: view.position)
        }
    }

    /// Returns whether a user with this id exists; for the host only.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    public func isUser(_ id: UserID, asOf point: AsOf = .now) throws(ChatError) -> Bool {
        try query(point, as: .host) { models, view throws(ChatError) in models.profile(id, asOf: view.position) != nil }
    }

    /// Returns the user with a username, for the host only; nil if none exists.
    ///
    /// Usernames are compared as in registration.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    public func userID(named username: String, asOf point: AsOf = .now) throws(ChatError) -> UserID? {
        try query(point, as: .host) { models, view throws(ChatError) in
            models.userID(named: username, asOf: view.position)
        }
    }

    /// Returns a user's id and name, for the host only; nil if none exists.
    public func summary(of user: UserID) -> UserSummary? {
        withCurrentModels { models, now in
            models.profile(user, asOf: now).map { UserSummary(id: user, username: $0.username?.text) }
        }
    }

    /// Returns the user with this subject of the identity provider; nil if none exists.
    public func userID(withSubject subject: String) -> UserID? {
        withCurrentModels { $0.userID(withSubject: subject, asOf: $1) }
    }
}

extension UserSummary {
    init(_ membership: Membership) { self.init(id: membership.user, username: membership.username) }
}

extension UserQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> UserDetails {
        let user = try reader.user(orViewer: user)
        let (profile, found) = try reader.store.profileAndThreads(of: user, threads, reader.viewer, reader.point)
        return UserDetails(
            id: user, username: profile.username?.text, postcode: profile.postcode, createdAt: profile.createdAt,
            threads: found.entries)
    }
}

extension ChatReader {
    /// Returns a user's profile with their threads.
    ///
    /// A viewer may read only their own profile. For a viewer, a profile as of an earlier point
    /// includes only the threads of which they are still a member.
    ///
    /// - Parameters:
    ///   - id: The user.
    ///   - page: The part of the list of threads; by default all.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: As ``threads(of:page:)``.
    public func user(_ id: UserID, threads page: PageRequest = .all) throws(ChatError) -> UserDetails {
        try answer(UserQuery(user: id, threads: page))
    }
}

extension UserThreadsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<UserThread> {
        let user = try reader.user(orViewer: user)
        return try reader.store.profileAndThreads(of: user, page, reader.viewer, reader.point).threads
    }
}

extension ChatReader {
    /// Returns a page of a user's threads, in joining order; by default all.
    ///
    /// A viewer may read only their own threads.
    ///
    /// - Throws: As ``user(_:threads:)``.
    /// - Complexity: O(*n* log *n*) in the number of threads that the user ever joined or was
    ///   invited to, plus O(*b* log *m* log *d*) for each one of the page with *m* messages, whose
    ///   latest text is read; *b* is the number of users whom the user blocks, *d* that of the
    ///   messages between the read marker and the first unread message.
    public func threads(of user: UserID, page: PageRequest = .all) throws(ChatError) -> Page<UserThread> {
        try answer(UserThreadsQuery(user: user, page: page))
    }
}

extension ChatReader {
    /// Returns the periods in which a user could read each thread, ordered by start.
    ///
    /// The periods include those as an operator of the community, who can read every thread that is
    /// not `inviteOnly`. Overlapping periods of a thread are one. A viewer may read only their own
    /// periods. ``ChatStore/readingStart(of:in:asOf:)`` returns which messages a user could read.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: O(*n* log *n*) in the number of the user's joins and departures. For a user
    ///   who ever was an operator, also in the number of all threads for each such period.
    public func access(of user: UserID) throws(ChatError) -> [ThreadAccess] {
        let (sections, scan) = try memberships(of: user)
        return sections.access(of: user, scan)
    }

    /// Returns a scan of the user's memberships, whose periods the viewer may read.
    func memberships(of user: UserID) throws(ChatError) -> (SectionedQuery, Scan) {
        let (scan, sections) = try sections { models, view throws(ChatError) in
            try requireSelf(viewer, user)
            try models.requireUser(user, asOf: view.position)
            return models.scan(membershipsOf: user)
        }
        return (sections, scan)
    }
}
