import Columns

/// Opening threads.
extension RuleState {
    func openThread(
        _ id: ThreadID?, _ text: String, _ by: UserID, _ policy: ThreadPolicy, _ history: ThreadHistory, fresh: UInt128,
        _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id {
            if let code = id.outwardCode { return try openImportedThread(of: code, text, by, policy, history, ids, envelope, &batch) }
            if let thread = existingThread(id, ids) {
                guard threads[thread].openedAt > 0, ids.users.id(threads[thread].openedBy) == by else { throw .identifierTaken }
                return duplicateOpening(ofThread: thread)
            }
        }
        let user = try requireUser(by, ids)
        guard let name = ThreadName(text) else { throw .invalidThreadName }
        try requirePolicy(policy, history, envelope)
        appendOpening(id ?? ThreadID(bits: fresh), .threadName(name.text), by, user, envelope, &batch, policy: policy, history: history)
        return .append
    }

    /// Appends the events that open a thread; its opener joins it.
    ///
    /// - Parameters:
    ///   - by: The opener's id.
    ///   - user: The opener's index.
    func appendOpening(
        _ thread: ThreadID, _ name: EventContent, _ by: UserID, _ user: Int, _ envelope: EventEnvelope, _ batch: inout EventBatch,
        policy: ThreadPolicy = .open, history: ThreadHistory = .all
    ) {
        batch.append(envelope.row(.threadOpened, thread, 1, by), name, EventIndexes(user: user))
        var joinNumber: UInt64 = 2
        if policy != .open || history != .all {
            var row = envelope.row(.threadPolicySet, thread, joinNumber, by)
            row.value = ThreadPolicySet.value(policy, history)
            batch.append(row, .none, EventIndexes(user: user))
            joinNumber += 1
        }
        batch.append(envelope.row(.threadJoined, thread, joinNumber, by), .none, EventIndexes(user: user))
    }

    /// Returns the positions of a thread's opening: `threadOpened`, `threadPolicySet` if there is
    /// one, and the opener's `threadJoined`.
    private func duplicateOpening(ofThread thread: Int) -> BatchDecision {
        let hasPolicy = threads[thread].policy != .open || threads[thread].history != .all
        return .duplicate(of: threads[thread].openedAt...threads[thread].openedAt + (hasPolicy ? 2 : 1))
    }

    /// Throws unless a thread can be opened with this policy and history; an import has the defaults.
    private func requirePolicy(_ policy: ThreadPolicy, _ history: ThreadHistory, _ envelope: EventEnvelope) throws(Rejection) {
        guard policy != .residents, envelope.origin == .native || policy == .open && history == .all else { throw .invalidPolicy }
    }

    /// Opens the thread of an outward code, whose id is reserved, for an import.
    ///
    /// Outside an import such a thread is opened only by a user who sets their postcode.
    private func openImportedThread(
        of code: OutwardCode, _ text: String, _ by: UserID, _ policy: ThreadPolicy, _ history: ThreadHistory,
        _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard case .imported = envelope.origin, OutwardCode(text) == code else { throw .identifierTaken }
        let thread = ThreadID(code)
        let known = existingThread(thread, ids)
        if let known, threads[known].openedAt > 0, ids.users.id(threads[known].openedBy) == by {
            return duplicateOpening(ofThread: known)
        }
        let user = try requireUser(by, ids)
        try requirePolicy(policy, history, envelope)
        // Two imports that open the same outward code share one thread.
        guard known == nil else { return .unchanged }
        appendOpening(thread, .none, by, user, envelope, &batch)
        return .append
    }
}

/// Membership and read markers.
extension RuleState {
    /// Joins a thread.
    ///
    /// - Parameter isAccepting: Whether the user accepts an invitation, which they must then have.
    func joinThread(
        _ id: UserID, _ threadID: ThreadID, isAccepting: Bool = false, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        let thread = try requireThread(threadID, ids)
        guard !standing(of: user, in: thread, ids).isMember else { return .unchanged }
        if let rejection = joinRejection(user, thread, envelope, isAccepting: isAccepting, ids) { throw rejection }
        appendJoin(id, user, thread, ids, envelope, &batch)
        return .append
    }

    /// Returns the rejection of a join by a lock or a ban, whatever the policy; nil if none applies.
    func lockOrBanRejection(_ user: Int, _ thread: Int, at time: Timestamp, _ ids: borrowing Identities) -> Rejection? {
        if threads[thread].isClosed { return .threadClosed }
        if threads[thread].isLocked { return .threadLocked }
        return isBanned(user, from: thread, at: time, ids) ? .banned : nil
    }

    /// Returns the rejection of a join by a user who is no member; nil if they may join.
    ///
    /// - Parameter isAccepting: Whether the user accepts an invitation, which they must then have.
    func joinRejection(
        _ user: Int, _ thread: Int, _ envelope: EventEnvelope, isAccepting: Bool, _ ids: borrowing Identities
    ) -> Rejection? {
        if let stop = lockOrBanRejection(user, thread, at: envelope.recordedAt, ids) { return stop }
        let policy = policy(of: thread, ids)
        if isAccepting || policy == .inviteOnly, !standing(of: user, in: thread, ids).isInvited { return .notInvited }
        // An import skips the residence rule.
        if policy == .residents, envelope.origin == .native, users[user].oneBasedResidence != EventIndexes.oneBased(thread) {
            return .notResident
        }
        return nil
    }

    func appendJoin(
        _ id: UserID, _ user: Int, _ thread: Int, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) {
        batch.append(
            envelope.row(.threadJoined, ids.threads.id(thread), nextNumber(in: thread), id), .none, EventIndexes(user: user, thread: thread)
        )
    }

    func leaveThread(
        _ id: UserID, _ threadID: ThreadID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        let thread = try requireThread(threadID, ids)
        let standing = standing(of: user, in: thread, ids)
        guard standing.isMember else { return .unchanged }
        guard !isLastOwner(standing, of: thread) else { throw .lastOwner }
        batch.append(envelope.row(.threadLeft, threadID, nextNumber(in: thread), id), .none, EventIndexes(user: user, thread: thread))
        return .append
    }

    func markRead(
        _ id: UserID, _ threadID: ThreadID, _ upTo: Position, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        let thread = try requireThread(threadID, ids)
        let membership = try requireMember(user, of: thread, ids)
        guard upTo <= head else { throw .invalidPosition }
        guard upTo > memberships.readUpTo(membership) else { return .unchanged }
        batch.append(envelope.row(.threadRead, threadID, upTo, id), .none, EventIndexes(user: user, thread: thread))
        return .append
    }
}

/// Invitations and roles.
extension RuleState {
    func invite(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(user, thread, by, ids)
        try requireModerator(action.actorIndex, of: action.threadIndex, ids)
        guard !threads[action.threadIndex].isClosed else { throw .threadClosed }
        guard !action.concerned.isMember else { return .unchanged }
        if let membership = action.membership, isSanctioned(.ban, membership, at: envelope.recordedAt) { throw .banned }
        guard !action.concerned.isInvited else { return .unchanged }
        append(.userInvited, action, envelope, &batch)
        return .append
    }

    func declineInvitation(
        _ id: UserID, _ threadID: ThreadID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        let thread = try requireThread(threadID, ids)
        guard standing(of: user, in: thread, ids).isInvited else { return .unchanged }
        batch.append(
            envelope.row(.invitationDeclined, threadID, nextNumber(in: thread), id), .none, EventIndexes(user: user, thread: thread))
        return .append
    }

    func revokeInvitation(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(user, thread, by, ids)
        try requireModerator(action.actorIndex, of: action.threadIndex, ids)
        guard action.concerned.isInvited else { return .unchanged }
        append(.invitationRevoked, action, envelope, &batch)
        return .append
    }

    func setRole(
        _ user: UserID, _ thread: ThreadID, _ role: ThreadRole, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(user, thread, by, ids)
        let row = threads[action.threadIndex]
        let isOperatorAllowed = row.ownerCount == 0 && isOperator(action.actorIndex)
        let isSteppingDown = action.actorIndex == action.userIndex && action.concerned.role.map { role < $0 } ?? false
        guard action.actor.role == .owner || isOperatorAllowed || isSteppingDown, role != .owner || row.canHaveOwners else {
            throw .notAnOwner
        }
        guard let present = action.concerned.role else { throw .notAMember }
        guard present != role else { return .unchanged }
        guard !isLastOwner(action.concerned, of: action.threadIndex) else { throw .lastOwner }
        append(.roleSet, action, value: role.code, envelope, &batch)
        return .append
    }
}

/// Locking and closing threads.
extension RuleState {
    func setLock(
        _ id: ThreadID, _ isLocked: Bool, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let thread = try requireThread(id, ids)
        try requireModerator(user, of: thread, ids)
        guard !threads[thread].isClosed else { throw .threadClosed }
        guard threads[thread].isLocked != isLocked else { return .unchanged }
        batch.append(
            envelope.row(isLocked ? .threadLocked : .threadUnlocked, id, nextNumber(in: thread), by), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func closeThread(
        _ id: ThreadID, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let thread = try requireThread(id, ids)
        guard standing(of: user, in: thread, ids).role == .owner || isOperator(user) else { throw .notAnOwner }
        guard !threads[thread].isClosed else { return .unchanged }
        batch.append(envelope.row(.threadClosed, id, nextNumber(in: thread), by), .none, EventIndexes(user: user, thread: thread))
        return .append
    }
}
