import Columns

/// Memberships, read markers of threads and inboxes, and levels of notifications.
extension RuleState {
    /// Joins a thread.
    ///
    /// - Parameter isAccepting: Whether the user accepts an invitation, which they must then have.
    func joinThread(
        _ command: borrowing ChatCommand, isAccepting: Bool = false, _ ids: Identities,
        _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (user, thread) = try actorAndThread(command, ids, envelope)
        guard !standing(of: user, in: thread, ids).isMember else { return .unchanged }
        if let rejection = joinRejection(user, thread, envelope, isAccepting: isAccepting, ids) { throw rejection }
        appendJoin(command.actorID, user, thread, ids, envelope, &batch)
        return .append
    }

    /// Returns the rejection of a join by a lock or a ban, whatever the policy; nil if none
    /// applies.
    func lockOrBanRejection(_ user: Int, _ thread: Int, at time: Timestamp, _ ids: Identities) -> Rejection? {
        if threads[thread].isClosed { return .threadClosed }
        if threads[thread].isLocked { return .threadLocked }
        return isBanned(user, from: thread, at: time, ids) ? .banned : nil
    }

    /// Returns the rejection of a join by a user who is no member; nil if they may join.
    ///
    /// - Parameter isAccepting: Whether the user accepts an invitation, which they must then have.
    func joinRejection(
        _ user: Int, _ thread: Int, _ envelope: EventEnvelope, isAccepting: Bool, _ ids: Identities
    ) -> Rejection? {
        if let stop = lockOrBanRejection(user, thread, at: envelope.recordedAt, ids) { return stop }
        let policy = policy(of: thread, ids)
        if isAccepting || policy == .inviteOnly, !standing(of: user, in: thread, ids).isInvited,
            !skipsInvitation(thread, envelope.origin, ids)
        {
            return .notInvited
        }
        return policy == .residents && !isResident(user, of: thread, envelope) ? .notResident : nil
    }

    /// Whether a user lives in the outward code of a thread; an import skips this rule.
    func isResident(_ user: Int, of thread: Int?, _ envelope: EventEnvelope) -> Bool {
        envelope.origin != .native || thread != nil && users[user].oneBasedResidence == EventIndexes.oneBased(thread)
    }

    /// Whether a join needs no invitation: an import joins its own threads without one.
    func skipsInvitation(_ thread: Int, _ origin: EventOrigin, _ ids: Identities) -> Bool {
        origin != .native && isImportedNamedThread(thread, ids)
    }

    /// Appends the event of a join.
    func appendJoin(
        _ userID: UserID, _ user: Int, _ thread: Int, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) {
        batch.append(
            envelope.row(.threadJoined, ids.threads.id(thread), nextNumber(in: thread), userID), .none,
            EventIndexes(user: user, thread: thread)
        )
    }

    func leaveThread(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (user, thread) = try actorAndThread(command, ids, envelope)
        let standing = standing(of: user, in: thread, ids)
        guard standing.isMember else { return .unchanged }
        guard !isLastOwner(standing, of: thread) || envelope.isAudit else { throw .lastOwner }
        batch.append(
            envelope.row(.threadLeft, command.threadID, nextNumber(in: thread), command.actorID), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func removeMember(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, ids, envelope)
        try requireAuthority(action, ids)
        try requireNotLastOwner(action)
        guard action.userStanding.isMember else { return .unchanged }
        try requireReason(command.text)
        append(.memberRemoved, action, envelope, &batch)
        return .append
    }

    /// Throws if the last owner ends their own membership.
    func requireNotLastOwner(_ action: UserAction) throws(Rejection) {
        if action.actor == action.user, isLastOwner(action.userStanding, of: action.thread) { throw .lastOwner }
    }

    func markRead(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (user, thread) = try actorAndThread(command, ids, envelope)
        let membership = try requireMember(user, of: thread, ids)
        guard command.upTo <= head else { throw .invalidPosition }
        guard command.upTo > memberships.readUpTo(membership) else { return .unchanged }
        if let seen = command.seen, memberships.markedUnreadAt(membership) > seen { return .unchanged }
        batch.append(
            envelope.row(.threadRead, command.threadID, command.upTo, command.actorID), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func markInboxRead(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireActor(command.actorID, ids)
        guard command.upTo <= head else { throw .invalidPosition }
        guard command.upTo > community.inboxMarkers[user] else { return .unchanged }
        var row = envelope.row(.inboxRead)
        (row.user, row.number) = (command.actorID.bits, command.upTo)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    func markUnread(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (user, thread) = try actorAndThread(command, ids, envelope)
        let membership = try requireMember(user, of: thread, ids)
        guard command.from >= 1, command.from <= head else { throw .invalidPosition }
        guard command.from <= memberships.readUpTo(membership) else { return .unchanged }
        if let seen = command.seen, memberships.markedReadAt(membership) > seen { return .unchanged }
        batch.append(
            envelope.row(.threadMarkedUnread, command.threadID, command.from - 1, command.actorID), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func setNotifications(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (user, thread) = try actorAndThread(command, ids, envelope)
        let membership = try requireMember(user, of: thread, ids)
        let current = notifications(membership).inEffect(at: envelope.recordedAt)
        if current.level == command.level, current.until == command.until { return .unchanged }
        try requireEnd(command.until, envelope)
        var row = envelope.row(.notificationsSet, command.threadID, 0, command.actorID)
        (row.level, row.until) = (command.level, command.until)
        batch.append(row, .none, EventIndexes(user: user, thread: thread))
        return .append
    }

    /// Returns the level that a user set in a thread last, whose end may have passed.
    package func notifications(_ membership: Int) -> LimitedLevel {
        LimitedLevel(rawValue: community.notifications[membership])
    }

    /// Returns a user's standing in a thread.
    package func standing(of user: Int, in thread: Int, _ ids: Identities) -> Standing {
        ids.memberships.find(user, thread).map { memberships.standing($0) } ?? Standing()
    }

    func isMember(_ user: Int, of thread: Int, _ ids: Identities) -> Bool {
        standing(of: user, in: thread, ids).isMember
    }

    /// Returns the membership of a member.
    func requireMember(_ user: Int, of thread: Int, _ ids: Identities) throws(Rejection) -> Int {
        guard let membership = ids.memberships.find(user, thread), memberships.standing(membership).isMember else {
            throw .notAMember
        }
        return membership
    }

    /// Whether a member is the only owner of a thread, by default of one that is not closed.
    func isLastOwner(_ standing: Standing, of thread: Int, evenIfClosed: Bool = false) -> Bool {
        standing.role == .owner && threads[thread].ownerCount == 1 && (evenIfClosed || !threads[thread].isClosed)
    }

    /// Makes a user a member; the opener, whose join follows the opening, an owner.
    mutating func join(_ indexes: EventIndexes, at position: Position) {
        let row = threads[indexes.thread]
        let isOpener =
            row.awaitsOpener && row.openedBy == indexes.user
            && row.lastEventNumber <= ThreadRow.maximumNumberOfOpenersJoin
        if threads[indexes.thread].awaitsOpener { threads[indexes.thread].awaitsOpener = false }
        var wasMember = false
        changeStanding(indexes) { standing in
            standing.isInvited = false
            wasMember = standing.isMember
            if !wasMember { standing.role = isOpener ? .owner : .member }
        }
        guard !wasMember else { return }
        if isOpener { threads[indexes.thread].ownerCount &+= 1 }
        if threads[indexes.thread].isDirect { community.addAct(on: indexes.user, by: threads[indexes.thread].openedBy) }
        // Who comes back to a direct thread of three people or more reads what follows. So does who
        // joins a thread in doubt. An open window may still prove that it has lost nothing.
        let isInDoubt = lostEventCount > 0 && community.doubts[indexes.thread] != 0
        if threads[indexes.thread].history == .sinceJoining || threads[indexes.thread].isGroup && !indexes.isNew
            || isInDoubt
        {
            community.joins[indexes.membership] = position
        } else {
            community.joins.clear(indexes.membership)
        }
        countMember(indexes.user, of: indexes.thread)
    }

    /// Counts the users who were ever members of a thread, up to three; the opener is the first.
    private mutating func countMember(_ user: Int, of thread: Int) {
        let row = threads[thread]
        guard !row.hadThreeMembers, user != row.openedBy else { return }
        let member = UInt32(truncatingIfNeeded: user + 1)
        if row.oneBasedSecondMember == 0 {
            threads[thread].oneBasedSecondMember = member
        } else if row.oneBasedSecondMember != member {
            threads[thread].hadThreeMembers = true
        }
    }

    mutating func changeStanding(_ indexes: EventIndexes, _ change: (inout Standing) -> Void) {
        changeMembership(indexes) { table, membership in
            var standing = table.standing(membership)
            change(&standing)
            table.setStanding(standing, membership)
        }
    }

    /// Changes the membership of an event, adding its row if it is new.
    mutating func changeMembership(_ indexes: EventIndexes, _ change: (inout MembershipTable, Int) -> Void) {
        if indexes.membership == memberships.count { memberships.append(of: indexes.user) }
        change(&memberships, indexes.membership)
    }
}
