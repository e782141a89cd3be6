public import ChatDomain
import EventJournal
import Projections

// Queries about roles, sanctions, pins, reports and invitations.

extension ChatStore {
    /// Returns the owners and moderators of a thread, in the order in which they got their roles.
    ///
    /// The list has the first `limit` ones.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it.
    public func roles(in thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now, limit: Int = .max) throws(ChatError)
        -> [RoleHolder]
    {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        let position = sections.viewpoint.position
        let rows = sections.compactMap(scan) { models, row -> (membership: IndexedMembership, role: ThreadRole, since: Position)? in
            guard let held = models.role(ofMembership: row, asOf: position), held.role > .member,
                let membership = models.indexedMembership(ofMembership: row, asOf: position)
            else { return nil }
            return (membership, held.role, held.since)
        }.sorted { $0.since < $1.since }
        return sections.map(rows.prefix(limit)) { models, row in
            RoleHolder(user: UserSummary(models.membership(row.membership, asOf: position)), role: row.role, since: row.since)
        }
    }

    /// Returns the operators of the community, in the order in which they became that.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `notAllowed` for a viewer who is no operator.
    /// - Complexity: O(*n* log *n*) in the number of users who ever were operators.
    public func operators(viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [CommunityOperator] {
        try query(point, for: viewer) { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            if let viewer, !models.isOperator(viewer, asOf: view.position) || !models.isOperator(viewer, asOf: view.currentPosition) {
                throw .rejected(.notAnOperator)
            }
            return models.operators(asOf: view.position).map { CommunityOperator(user: UserSummary($0), since: $0.since) }
        }
    }

    /// Returns the mutes and bans of a thread that are in effect, oldest first.
    ///
    /// A sanction is in effect until its end: as of now by the clock of the store, or by the time of
    /// the last event if that is later, as of a time by that time, and as of a position by the time
    /// of the event at it.
    ///
    /// The list has the first `limit` ones.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember` and
    ///   `notAModerator`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it; reads one event for each mute and ban that no command has
    ///   ended.
    public func sanctions(in thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now, limit: Int = .max) throws(ChatError)
        -> [ThreadSanction]
    {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try models.requireModerated(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        let position = sections.viewpoint.position
        let rows = sections.compactMap(scan) { models, row -> [SanctionRecord]? in
            let found = models.sanctions(ofMembership: row, asOf: position)
            return found.isEmpty ? nil : found
        }.joined().sorted { $0.position < $1.position }
        let time = try time(of: point, sections.viewpoint)
        var sanctions: [ThreadSanction] = []
        for row in rows {
            if sanctions.count == limit { break }
            let event = try event(at: row.position)
            guard case .sanction(_, _, _, let by, let until) = event.shape else { continue }
            if let until, until <= time { continue }
            sanctions.append(
                ThreadSanction(
                    user: UserSummary(id: row.user, username: row.username), kind: row.isBan ? .ban : .mute, position: row.position,
                    imposedAt: event.createdAt, until: until, by: sections.userSummary(by), reason: event.reason))
        }
        return sanctions
    }

    /// Returns a user's standing in a thread: the role, and what moderators have done to the user,
    /// with the reason and the end.
    ///
    /// A viewer may ask for their own, also if they can no longer read the thread. Mutes and bans that
    /// are no longer in effect are left out, as in ``sanctions(in:viewer:asOf:limit:)``.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser` and `unknownThread`, and with `notAllowed` if
    ///   the viewer is another user. A private thread that never concerned the viewer is unknown.
    /// - Complexity: O(log *n*); reads at most three events.
    public func standing(
        of user: UserID, in thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now
    ) throws(ChatError) -> ThreadStanding {
        let (record, viewpoint) = try query(point, for: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, user)
            try models.requireUser(user, asOf: view.position)
            guard models.hasThread(thread, asOf: view.position) else { throw .rejected(.unknownThread) }
            if let record = models.standing(of: user, in: thread, asOf: view.position) { return (record, view) }
            if let viewer, !models.isKnown(thread, to: viewer, asOf: view.currentPosition) { throw .rejected(.unknownThread) }
            return (StandingRecord(), view)
        }
        let time = try time(of: point, viewpoint)
        var standing = ThreadStanding(role: record.role, since: record.since)
        standing.mute = try act(at: record.mute, inEffectAt: time)
        standing.ban = try act(at: record.ban, inEffectAt: time)
        standing.removal = try act(at: record.departure, inEffectAt: time)
        return standing
    }

    /// Returns what a moderator did by an event; nil without an event, for one that a moderator did
    /// not cause, and if it has ended by itself.
    private func act(at position: Position?, inEffectAt time: Timestamp) throws(ChatError) -> ThreadStanding.Act? {
        guard let position else { return nil }
        let event = try event(at: position)
        var end: Timestamp?
        if case .sanction(_, _, _, _, let until) = event.shape { end = until } else if event.kind != .memberRemoved { return nil }
        if let end, end <= time { return nil }
        return ThreadStanding.Act(position: position, imposedAt: event.createdAt, until: end, reason: event.reason)
    }

    /// Returns the pinned messages of a thread, in the order in which they were pinned.
    ///
    /// The list has the first `limit` ones.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of messages that were ever pinned in the thread;
    ///   reads the texts of the returned ones.
    public func pins(in thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now, limit: Int = .max) throws(ChatError)
        -> [TimelineEntry]
    {
        let rows = try query(point, for: viewer) { models, view throws(ChatError) in
            let start = try models.requireReadable(thread, from: view)
            let pinned = models.pinnedMessages(of: thread, asOf: view.position, after: start)
            return models.marking(Array(pinned.prefix(limit)), in: thread, from: view)
        }
        return try entries(rows, in: thread)
    }

    /// Returns the open reports of a thread's posts, oldest first; for its moderators.
    ///
    /// The list has the first `limit` ones.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember` and
    ///   `notAModerator`.
    /// - Complexity: O(*n* log *n*) in the number of reports that were ever made in the thread;
    ///   reads one event, and the text of the post, for each returned report.
    public func reports(in thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now, limit: Int = .max) throws(ChatError)
        -> [PostReport]
    {
        let ((scan, start), sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            let start = try models.requireModerated(thread, from: view)
            return (models.scan(reportsOf: thread), start)
        }
        let position = sections.viewpoint.position
        let rows = sections.compactMap(scan) { $0.openReport($1, in: thread, asOf: position, after: start) }
            .sorted { $0.position < $1.position }.prefix(limit)
        var reports: [PostReport] = []
        for row in rows {
            let event = try event(at: row.position)
            let found = sections.withSection { models -> (author: UserSummary, isRemoved: Bool, text: Position?)? in
                guard let author = models.author(of: row.post, asOf: position) else { return nil }
                // A viewer is shown the current text only, as everywhere.
                let asOf = viewer == nil ? position : sections.viewpoint.currentPosition
                let text = models.textPosition(of: row.post, includesRemoved: true, asOf: asOf)
                return (author, models.removalPosition(of: row.post, asOf: position) != nil, text)
            }
            // In a forged checkpoint, the search for the id of a reported post can fail.
            guard let (author, isRemoved, text) = found else { continue }
            let body = if let text { try self.event(at: text).body } else { nil as String? }
            reports.append(
                PostReport(
                    position: row.position, post: row.post, author: author, body: body, isRemoved: isRemoved,
                    by: sections.userSummary(row.reporter), reason: event.reason, reportedAt: event.createdAt))
        }
        return reports
    }

    /// Returns a user's invitations, oldest first.
    ///
    /// The list has the first `limit` ones.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: O(*n* log *n*) in the number of threads that the user ever joined or was
    ///   invited to; reads one event for each returned one.
    public func invitations(of user: UserID, viewer: UserID? = nil, asOf point: AsOf = .now, limit: Int = .max) throws(ChatError)
        -> [ThreadInvitation]
    {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, user)
            try models.requireUser(user, asOf: view.position)
            return models.scan(membershipsOf: user)
        }
        return try invitations(scan, sections, limit)
    }

    /// Returns the invitations to a thread, oldest first; for its moderators.
    ///
    /// The list has the first `limit` ones.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember` and
    ///   `notAModerator`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it; reads one event for each returned one.
    public func invitations(to thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now, limit: Int = .max) throws(ChatError)
        -> [ThreadInvitation]
    {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try models.requireModerated(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        return try invitations(scan, sections, limit)
    }

    private func invitations(_ scan: Scan, _ sections: SectionedQuery, _ limit: Int) throws(ChatError) -> [ThreadInvitation] {
        let position = sections.viewpoint.position
        var invitations: [ThreadInvitation] = []
        for invited in sections.compactMap(scan, { $0.invitation(ofMembership: $1, asOf: position) }).sorted().prefix(limit) {
            let event = try event(at: invited)
            guard event.kind == .userInvited, case .member(let thread, _, let user, let by) = event.shape else { continue }
            // As everywhere, the blocks of now count.
            let (viewer, current) = (sections.viewpoint.viewer, sections.viewpoint.currentPosition)
            let (name, isFromBlockedUser) = sections.withSection { models in
                (
                    models.thread(thread, asOf: position)?.name,
                    viewer == user && models.isBlocked(by, by: user, asOf: current)
                )
            }
            invitations.append(
                ThreadInvitation(
                    thread: thread, name: name, user: sections.userSummary(user), by: sections.userSummary(by),
                    position: invited, invitedAt: event.createdAt, isFromBlockedUser: isFromBlockedUser))
        }
        return invitations
    }

    /// Returns the time with which the ends of sanctions are compared.
    private func time(of point: AsOf, _ viewpoint: Viewpoint) throws(ChatError) -> Timestamp {
        switch point {
        case .now: return max(clock.now(), try recordedTime(at: viewpoint.position))
        case .time(let time): return time
        case .position: return try recordedTime(at: viewpoint.position)
        }
    }

    private func recordedTime(at position: Position) throws(ChatError) -> Timestamp {
        position == 0 ? Timestamp(millisecondsSince1970: 0) : try event(at: position).recordedAt
    }
}

extension SectionedQuery {
    /// Returns a user's id and name as of the query's position.
    fileprivate func userSummary(_ user: UserID) -> UserSummary {
        withSection { UserSummary(id: user, username: $0.profile(user, asOf: viewpoint.position)?.username?.text) }
    }
}

extension ReadModels {
    /// Returns the author of a post; nil if the post did not exist.
    fileprivate func author(of post: PostID, asOf position: Position) -> UserSummary? {
        switch post {
        case .message(let id): message(id, asOf: position).map { UserSummary(id: $0.author, username: $0.authorName) }
        case .reply(let id): reply(id, asOf: position).map { UserSummary(id: $0.author, username: $0.authorName) }
        }
    }
}
