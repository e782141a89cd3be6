public import ChatDomain
import Projections

/// Mutes, bans and removals.
extension ChatStore {
    /// Returns what a moderator did by an event; nil without an event, for one that a moderator did
    /// not cause, and if it has ended by itself.
    fileprivate func act(at position: Position?, inEffectAt time: Timestamp) throws(ChatError) -> ThreadStanding.Act? {
        guard let position else { return nil }
        let event = try event(at: position)
        var end: Timestamp?
        if case .sanction(_, _, _, _, let until) = event.shape {
            end = until
        } else if event.kind != .memberRemoved {
            return nil
        }
        if let end, end <= time { return nil }
        return ThreadStanding.Act(position: position, imposedAt: event.createdAt, until: end, reason: event.reason)
    }

    /// Returns the time with which the ends of sanctions and levels are compared; now, at least
    /// that of the last event.
    func time(of point: AsOf, _ viewpoint: Viewpoint) throws(ChatError) -> Timestamp {
        switch point {
        case .now: return max(clock.now(), try recordedTime(at: viewpoint.currentPosition))
        case .time(let time): return time
        case .position: return try recordedTime(at: viewpoint.position)
        }
    }

    private func recordedTime(at position: Position) throws(ChatError) -> Timestamp {
        position == 0 ? Timestamp(millisecondsSince1970: 0) : try event(at: position).recordedAt
    }
}

extension SanctionsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<ThreadSanction> {
        let (scan, sections) = try reader.sections { models, view throws(ChatError) in
            try models.requireModerated(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        let position = sections.viewpoint.position
        let rows = sections.compactMap(scan) { models, row -> [SanctionRecord]? in
            let found = models.sanctions(ofMembership: row, asOf: position)
            return found.isEmpty ? nil : found
        }.flatMap(\.self)
        let time = try reader.store.time(of: reader.point, sections.viewpoint)
        var names = ShownNames(from: sections.viewpoint)
        return try sections.readPage(page, of: rows, by: \.position) { row throws(ChatError) in
            let event = try reader.store.event(at: row.position)
            guard case .sanction(_, _, _, let by, let until) = event.shape else { return nil }
            if let until, until <= time { return nil }
            return ThreadSanction(
                user: sections.userSummary(row.user, in: thread, at: row.position, &names),
                kind: row.isBan ? .ban : .mute,
                position: row.position,
                imposedAt: event.createdAt, until: until,
                by: sections.userSummary(by, in: thread, at: row.position, &names),
                reason: event.reason)
        }
    }
}

extension ChatReader {
    /// Returns a page of the mutes and bans of a thread that are in effect, oldest first; by
    /// default all.
    ///
    /// A sanction is in effect until its end: as of now by the clock of the store, or by the time
    /// of the last event if that is later, as of a time by that time, and as of a position by the
    /// time of the event at it.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember` and
    ///   `notAModerator`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it; reads one event for each sanction of the page, for each
    ///   one beside them that has ended by itself, and for the one before them.
    public func sanctions(in thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<ThreadSanction> {
        try answer(SanctionsQuery(thread: thread, page: page))
    }
}

extension StandingQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> ThreadStanding {
        let user = try reader.user(orViewer: user)
        let (record, level, people, showsReason, viewpoint) = try reader.query {
            models, view throws(ChatError) in
            try requireSelf(reader.viewer, user)
            try models.requireUser(user, asOf: view.position)
            guard models.hasThread(thread, asOf: view.position) else { throw .rejected(.unknownThread) }
            let level = models.notifications(of: user, in: thread, asOf: view.position)
            let record = models.standing(of: user, in: thread, asOf: view.position)
            if record == nil { try models.requireKnown(thread, from: view) }
            // Without names: a user who has left may not be told the present ones.
            let people = models.people(ofDirect: thread, asOf: view.position)?.map(\.id)
            func showsReason(at position: Position?) -> Bool {
                reader.viewer == .host || position.map { models.isReasonShown(to: user, in: thread, at: $0) } ?? false
            }
            return (
                record ?? StandingRecord(), level, people,
                (mute: showsReason(at: record?.mute), ban: showsReason(at: record?.ban)), view
            )
        }
        let time = try reader.store.time(of: reader.point, viewpoint)
        var standing = ThreadStanding(role: record.role, since: record.since)
        standing.mute = try reader.store.act(at: record.mute, inEffectAt: time)
        standing.ban = try reader.store.act(at: record.ban, inEffectAt: time)
        if !showsReason.mute { standing.mute?.reason = nil }
        if !showsReason.ban { standing.ban?.reason = nil }
        standing.removal = try reader.store.act(at: record.departure, inEffectAt: time)
        standing.notifications = ThreadNotifications(level, at: time)
        standing.people = people
        return standing
    }
}

extension ChatReader {
    /// Returns a user's standing in a thread: the role, what moderators have done to the user, with
    /// the reason and the end, what notifies the user, and of a direct thread the ids of its
    /// people.
    ///
    /// A viewer may ask for their own, also if they can no longer read the thread. Mutes and bans
    /// that are no longer in effect are left out, as in ``sanctions(in:page:)``.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser` and `unknownThread`, and with `notAllowed`
    ///   if the viewer is another user. A private thread that never concerned the viewer is
    ///   unknown.
    /// - Complexity: O(log *n*); reads at most three events.
    public func standing(of user: UserID, in thread: ThreadID) throws(ChatError) -> ThreadStanding {
        try answer(StandingQuery(thread: thread, user: user))
    }
}
