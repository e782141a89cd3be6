import Columns

/// Opening threads.
extension RuleState {
    func openThread(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let threadID = ThreadID(bits: envelope.id)
        if command.id != nil {
            if let code = threadID.outwardCode { return try openImportedThread(command, of: code, ids, envelope, &batch) }
            if let thread = existingThread(threadID, ids) {
                guard threads[thread].openedAt > 0, ids.users.id(threads[thread].openedBy) == command.actorID else {
                    throw .identifierTaken
                }
                return duplicateOpening(ofThread: thread)
            }
        }
        let user = try requireUser(command.actorID, ids)
        guard let name = ThreadName(command.text) else { throw .invalidThreadName }
        let history = command.history ?? .all
        // An imported thread has the whole history.
        guard command.policy != .residents, envelope.origin == .native || history == .all else { throw .invalidPolicy }
        appendOpening(
            threadID, .threadName(name.text), command.actorID, user, envelope, &batch, policy: command.policy, history: history)
        return .append
    }

    /// Appends the events that open a thread; its opener joins it.
    func appendOpening(
        _ threadID: ThreadID, _ name: EventContent, _ userID: UserID, _ user: Int, _ envelope: EventEnvelope, _ batch: inout EventBatch,
        policy: ThreadPolicy = .open, history: ThreadHistory = .all
    ) {
        batch.append(envelope.row(.threadOpened, threadID, 1, userID), name, EventIndexes(user: user))
        var joinNumber: UInt64 = 2
        if policy != .open || history != .all {
            var row = envelope.row(.threadPolicySet, threadID, joinNumber, userID)
            row.policyAndHistory = (policy, history)
            batch.append(row, .none, EventIndexes(user: user))
            joinNumber += 1
        }
        batch.append(envelope.row(.threadJoined, threadID, joinNumber, userID), .none, EventIndexes(user: user))
    }

    /// Returns the positions of a thread's opening: `threadOpened`, `threadPolicySet` if there is
    /// one, and the opener's `threadJoined`.
    private func duplicateOpening(ofThread thread: Int) -> BatchDecision {
        .duplicate(of: threads[thread].openedAt...threads[thread].openedAt + (threads[thread].wasOpenedWithPolicy ? 2 : 1))
    }

    /// Opens the thread of an outward code, whose id is reserved, for an import.
    ///
    /// Outside an import such a thread is opened only by a user who sets their postcode.
    private func openImportedThread(
        _ command: borrowing ChatCommand, of code: OutwardCode, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard case .imported = envelope.origin, OutwardCode(command.text) == code else { throw .identifierTaken }
        let threadID = ThreadID(code)
        let thread = existingThread(threadID, ids)
        if let thread, threads[thread].openedAt > 0, ids.users.id(threads[thread].openedBy) == command.actorID {
            return duplicateOpening(ofThread: thread)
        }
        let user = try requireUser(command.actorID, ids)
        guard command.policy == .open, command.history ?? .all == .all else { throw .invalidPolicy }
        // Two imports that open the same outward code share one thread.
        guard thread == nil else { return .unchanged }
        appendOpening(threadID, .none, command.actorID, user, envelope, &batch)
        return .append
    }
}

/// Membership and read markers.
extension RuleState {
    /// Joins a thread.
    ///
    /// - Parameter isAccepting: Whether the user accepts an invitation, which they must then have.
    func joinThread(
        _ command: borrowing ChatCommand, isAccepting: Bool = false, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: user, ids, envelope)
        guard !standing(of: user, in: thread, ids).isMember else { return .unchanged }
        if let rejection = joinRejection(user, thread, envelope, isAccepting: isAccepting, ids) { throw rejection }
        appendJoin(command.actorID, user, thread, ids, envelope, &batch)
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
        if isAccepting || policy == .inviteOnly, !standing(of: user, in: thread, ids).isInvited,
            !skipsInvitation(thread, envelope.origin, ids)
        {
            return .notInvited
        }
        // An import skips the residence rule.
        if policy == .residents, envelope.origin == .native, users[user].oneBasedResidence != EventIndexes.oneBased(thread) {
            return .notResident
        }
        return nil
    }

    /// Whether a join needs no invitation: an import joins its own threads without one.
    func skipsInvitation(_ thread: Int, _ origin: EventOrigin, _ ids: borrowing Identities) -> Bool {
        origin != .native && isImportedNamedThread(thread, ids)
    }

    /// Appends the event of a join.
    func appendJoin(
        _ userID: UserID, _ user: Int, _ thread: Int, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) {
        batch.append(
            envelope.row(.threadJoined, ids.threads.id(thread), nextNumber(in: thread), userID), .none,
            EventIndexes(user: user, thread: thread)
        )
    }

    func leaveThread(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: user, ids, envelope)
        let standing = standing(of: user, in: thread, ids)
        guard standing.isMember else { return .unchanged }
        guard !isLastOwner(standing, of: thread) else { throw .lastOwner }
        batch.append(
            envelope.row(.threadLeft, command.threadID, nextNumber(in: thread), command.actorID), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func markRead(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: user, ids, envelope)
        let membership = try requireMember(user, of: thread, ids)
        guard command.upTo <= head else { throw .invalidPosition }
        guard command.upTo > memberships.readUpTo(membership) else { return .unchanged }
        batch.append(
            envelope.row(.threadRead, command.threadID, command.upTo, command.actorID), .none, EventIndexes(user: user, thread: thread))
        return .append
    }
}

/// Invitations and roles.
extension RuleState {
    func invite(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, sparesErased: true, ids, envelope)
        try requireModerator(action.actor, of: action.thread, ids)
        guard envelope.isAudit || mayInvite(action.actor, action.user, action.thread, ids) else { throw .notAnOwner }
        guard !threads[action.thread].isClosed else { throw .threadClosed }
        guard !action.userStanding.isMember else { return .unchanged }
        if let membership = action.membership, isSanctioned(.ban, membership, at: envelope.recordedAt) { throw .banned }
        guard !action.userStanding.isInvited else { return .unchanged }
        append(.userInvited, action, envelope, &batch)
        return .append
    }

    /// Whether a user, who moderates a thread, may invite another user.
    ///
    /// An operator, who is neither owner nor moderator, must not open a private thread to themselves.
    func mayInvite(_ actor: Int, _ user: Int, _ thread: Int, _ ids: borrowing Identities) -> Bool {
        if let role = standing(of: actor, in: thread, ids).role, role >= .moderator { return true }
        return threads[thread].ownerCount == 0 && !isOperator(user) && !isImportedPair(thread, ids)
    }

    func declineInvitation(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: user, ids, envelope)
        guard standing(of: user, in: thread, ids).isInvited else { return .unchanged }
        batch.append(
            envelope.row(.invitationDeclined, command.threadID, nextNumber(in: thread), command.actorID), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func revokeInvitation(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, ids, envelope)
        try requireModerator(action.actor, of: action.thread, ids)
        guard action.userStanding.isInvited else { return .unchanged }
        append(.invitationRevoked, action, envelope, &batch)
        return .append
    }

    func setRole(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, ids, envelope)
        let row = threads[action.thread]
        let isOperatorAllowed = row.ownerCount == 0 && isOperator(action.actor)
        let isSteppingDown = action.actor == action.user && action.userStanding.role.map { command.role < $0 } ?? false
        guard action.actorStanding.role == .owner || isOperatorAllowed || isSteppingDown, command.role != .owner || row.canHaveOwners else {
            throw .notAnOwner
        }
        guard let current = action.userStanding.role else { throw .notAMember }
        guard current != command.role else { return .unchanged }
        guard !isLastOwner(action.userStanding, of: action.thread) else { throw .lastOwner }
        append(.roleSet, action, value: command.role.code, envelope, &batch)
        return .append
    }
}

/// Policies of open threads.
extension RuleState {
    /// Sets the policy and the history of a thread.
    ///
    /// An import closes a thread of an earlier import, in the name of its opener.
    func setThreadPolicy(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let isImport = envelope.origin != .native
        let actor = isImport ? try requireRegistered(command.actorID, ids) : try requireUser(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: actor, as: .ofModerator, ids, envelope)
        let row = threads[thread]
        if isImport {
            guard isImportedNamedThread(thread, ids), row.openedBy == actor, command.policy == .inviteOnly else { throw .notAnOwner }
        } else {
            try requirePolicyAuthority(actor, over: thread, command.policy, ids)
        }
        let isDisclosed = row.policy == .inviteOnly && command.policy == .open
        let newHistory = command.history ?? (isDisclosed ? .sinceJoining : row.history)
        guard command.policy != .residents, command.threadID.outwardCode == nil,
            newHistory == .sinceJoining || row.history == .all && !isDisclosed
        else { throw .invalidPolicy }
        guard command.policy != row.policy || newHistory != row.history else { return .unchanged }
        var event = envelope.row(.threadPolicySet, command.threadID, nextNumber(in: thread), command.actorID)
        event.policyAndHistory = (command.policy, newHistory)
        batch.append(event, .none, EventIndexes(user: actor, thread: thread))
        return .append
    }

    /// Throws unless a user may set the policy of a thread: an owner, or an operator if it has none.
    ///
    /// An operator cannot open an imported thread of two people, who had no owner to protect them.
    private func requirePolicyAuthority(
        _ actor: Int, over thread: Int, _ policy: ThreadPolicy, _ ids: borrowing Identities
    ) throws(Rejection) {
        if standing(of: actor, in: thread, ids).role == .owner { return }
        guard threads[thread].ownerCount == 0, isOperator(actor) else { throw .notAnOwner }
        guard policy != .open || threads[thread].policy != .inviteOnly || !isImportedPair(thread, ids) else { throw .notAnOwner }
    }
}

/// Locking and closing threads.
extension RuleState {
    func setLock(
        _ command: borrowing ChatCommand, _ isLocked: Bool, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: user, as: .ofModerator, ids, envelope)
        try requireModerator(user, of: thread, ids)
        guard !threads[thread].isClosed else { throw .threadClosed }
        guard threads[thread].isLocked != isLocked else { return .unchanged }
        batch.append(
            envelope.row(isLocked ? .threadLocked : .threadUnlocked, command.threadID, nextNumber(in: thread), command.actorID), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func closeThread(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: user, as: .ofModerator, ids, envelope)
        guard standing(of: user, in: thread, ids).role == .owner || isOperator(user) else { throw .notAnOwner }
        guard !threads[thread].isClosed else { return .unchanged }
        batch.append(
            envelope.row(.threadClosed, command.threadID, nextNumber(in: thread), command.actorID), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }
}
