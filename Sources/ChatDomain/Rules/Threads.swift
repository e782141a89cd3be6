import Columns

/// What a command does in a thread, which decides whether the thread exists for its acting user.
enum ThreadAct {
    /// What readers do: join, leave, write, report.
    case ofReader
    /// What moderators do, and with them the operators of the community.
    case ofModerator
    /// What the author of a post does with it without being a reader.
    case ofAuthor
}

/// Threads: opening, policies, locking and closing.
extension RuleState {
    func openThread(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let threadID = ThreadID(bits: envelope.id)
        if command.id != nil {
            if let code = threadID.outwardCode {
                return try openImportedThread(command, of: code, ids, envelope, &batch)
            }
            if let thread = existingThread(threadID, ids) {
                guard threads[thread].openedAt > 0, !threads[thread].isDirect,
                    ids.users.id(threads[thread].openedBy) == command.actorID
                else {
                    throw .identifierTaken
                }
                return duplicateOpening(ofThread: thread)
            }
        }
        let user = try requireActor(command.actorID, ids)
        guard let name = ThreadName(command.text) else { throw .invalidThreadName }
        let history = command.history ?? .all
        // An imported thread has the whole history.
        guard command.policy != .residents, envelope.origin == .native || history == .all else { throw .invalidPolicy }
        appendOpening(
            threadID, .threadName(name.text), command.actorID, user, envelope, &batch, policy: command.policy,
            history: history)
        return .append
    }

    /// Appends the events that open a thread; its opener joins it.
    func appendOpening(
        _ threadID: ThreadID, _ name: EventContent, _ userID: UserID, _ user: Int, _ envelope: EventEnvelope,
        _ batch: inout EventBatch,
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
        .duplicate(
            of: threads[thread].openedAt...threads[thread].openedAt + (threads[thread].wasOpenedWithPolicy ? 2 : 1))
    }

    /// Opens the thread of an outward code, whose id is reserved, for an import.
    ///
    /// Outside an import such a thread is opened only by a user who sets their postcode, of which an
    /// audit sees the opening by itself.
    private func openImportedThread(
        _ command: borrowing ChatCommand, of code: OutwardCode, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard envelope.origin != .native || envelope.isAudit, OutwardCode(command.text) == code else {
            throw .identifierTaken
        }
        let threadID = ThreadID(code)
        let thread = existingThread(threadID, ids)
        if let thread, threads[thread].openedAt > 0, ids.users.id(threads[thread].openedBy) == command.actorID {
            return duplicateOpening(ofThread: thread)
        }
        let user = try requireActor(command.actorID, ids)
        guard command.policy == .open, command.history ?? .all == .all else { throw .invalidPolicy }
        guard isResident(user, of: ids.threads.find(threadID), envelope) else { throw .notResident }
        // Two imports that open the same outward code share one thread.
        guard thread == nil else { return .unchanged }
        appendOpening(threadID, .none, command.actorID, user, envelope, &batch)
        return .append
    }

    /// Sets the policy and the history of a thread.
    ///
    /// An import closes a thread of an earlier import, in the name of its opener.
    func setThreadPolicy(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let isImport = envelope.origin != .native
        let actor = isImport ? try requireRegistered(command.actorID, ids) : try requireActor(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: actor, as: .ofModerator, ids, envelope)
        let row = threads[thread]
        if isImport {
            guard isImportedNamedThread(thread, ids), row.openedBy == actor, command.policy == .inviteOnly else {
                throw .notAnOwner
            }
        } else {
            try requirePolicyAuthority(actor, over: thread, command.policy, ids)
        }
        return try appendPolicy(command.policy, command.history, of: thread, as: actor, ids, envelope, &batch)
    }

    /// Appends the event of a policy, if a thread may have it and does not have it.
    ///
    /// In doubt the policy may be another one than the last that is left, so the same one is no
    /// repetition; and without a history, those who join read what follows.
    @discardableResult
    func appendPolicy(
        _ policy: ThreadPolicy, _ history: ThreadHistory?, of thread: Int, as actor: Int, _ ids: Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (row, isInDoubt) = (threads[thread], isInDoubt(thread))
        let isDisclosed = row.policy == .inviteOnly && policy != .inviteOnly
        let newHistory = history ?? (isDisclosed || isInDoubt ? .sinceJoining : row.history)
        guard policy != .residents, !row.isDistrict, newHistory == .sinceJoining || row.history == .all && !isDisclosed
        else {
            throw .invalidPolicy
        }
        guard policy != row.policy || newHistory != row.history || isInDoubt else { return .unchanged }
        var event = envelope.row(.threadPolicySet, ids.threads.id(thread), nextNumber(in: thread), ids.userID(actor))
        event.policyAndHistory = (policy, newHistory)
        batch.append(event, .none, EventIndexes(user: actor, thread: thread))
        return .append
    }

    /// Throws unless a user may set the policy of a thread: an owner, or an operator if it has
    /// none.
    ///
    /// An operator cannot open an imported thread of two people, who had no owner to protect them.
    private func requirePolicyAuthority(
        _ actor: Int, over thread: Int, _ policy: ThreadPolicy, _ ids: Identities
    ) throws(Rejection) {
        if standing(of: actor, in: thread, ids).role == .owner { return }
        guard threads[thread].ownerCount == 0, operates(actor, thread) else { throw .notAnOwner }
        guard policy == .inviteOnly || threads[thread].policy != .inviteOnly || !isImportedPair(thread, ids) else {
            throw .notAnOwner
        }
    }

    /// Gives a named thread another name.
    ///
    /// The thread of an outward code is named by it, and nobody owns it.
    func renameThread(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (user, thread) = try actorAndThread(command, as: .ofModerator, ids, envelope)
        guard
            standing(of: user, in: thread, ids).role == .owner
                || threads[thread].ownerCount == 0 && operates(user, thread),
            command.threadID.outwardCode == nil
        else { throw .notAnOwner }
        guard let name = ThreadName(command.text) else { throw .invalidThreadName }
        batch.append(
            envelope.row(.threadRenamed, command.threadID, nextNumber(in: thread), command.actorID),
            .threadName(name.text),
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func setLock(
        _ command: borrowing ChatCommand, _ isLocked: Bool, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (user, thread) = try actorAndThread(command, as: .ofModerator, ids, envelope)
        try requireModerator(user, of: thread, ids)
        guard !threads[thread].isClosed else { throw .threadClosed }
        guard threads[thread].isLocked != isLocked else { return .unchanged }
        batch.append(
            envelope.row(
                isLocked ? .threadLocked : .threadUnlocked, command.threadID, nextNumber(in: thread), command.actorID),
            .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func closeThread(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (user, thread) = try actorAndThread(command, as: .ofModerator, ids, envelope)
        guard standing(of: user, in: thread, ids).role == .owner || operates(user, thread) else { throw .notAnOwner }
        guard !threads[thread].isClosed else { return .unchanged }
        batch.append(
            envelope.row(.threadClosed, command.threadID, nextNumber(in: thread), command.actorID), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    /// Returns the index of a thread that has events, even if its opening event was lost.
    package func existingThread(_ threadID: ThreadID, _ ids: Identities) -> Int? {
        guard let thread = ids.threads.find(threadID), thread < threads.count, threads[thread].lastEventNumber > 0
        else { return nil }
        return thread
    }

    /// Returns the index of a thread that the acting user knows (``isKnown(_:to:as:_:_:)``).
    ///
    /// Every command that names a thread uses this function, so that a thread that a user does not
    /// know is rejected as one that does not exist.
    func requireThread(
        _ threadID: ThreadID, for actor: Int, as act: ThreadAct = .ofReader, _ ids: Identities,
        _ envelope: EventEnvelope
    ) throws(Rejection) -> Int {
        guard let thread = existingThread(threadID, ids), isKnown(thread, to: actor, as: act, ids, envelope) else {
            throw .unknownThread
        }
        return thread
    }

    /// Finds the acting user of a command and its thread, which the user knows.
    func actorAndThread(
        _ command: borrowing ChatCommand, as act: ThreadAct = .ofReader, _ ids: Identities,
        _ envelope: EventEnvelope
    ) throws(Rejection) -> (actor: Int, thread: Int) {
        let actor = try requireActor(command.actorID, ids)
        return (actor, try requireThread(command.threadID, for: actor, as: act, ids, envelope))
    }

    /// Whether a thread exists for a user who acts.
    ///
    /// An `inviteOnly` thread exists for its members and for the users with an invitation, and for
    /// the operators of the community when they moderate it. An import and an audit know every
    /// thread.
    func isKnown(
        _ thread: Int, to actor: Int, as act: ThreadAct, _ ids: Identities, _ envelope: EventEnvelope
    ) -> Bool {
        guard isInviteOnly(thread, ids), envelope.origin == .native, !envelope.isAudit else { return true }
        let standing = standing(of: actor, in: thread, ids)
        return standing.isMember || standing.isInvited || act == .ofModerator && operates(actor, thread)
    }

    /// Throws if the thread is closed or locked.
    func requireUnlocked(_ thread: Int) throws(Rejection) {
        if threads[thread].isClosed { throw .threadClosed }
        if threads[thread].isLocked { throw .threadLocked }
    }

    /// Whether a thread is a named one that an import opened.
    package func isImportedNamedThread(_ thread: Int, _ ids: Identities) -> Bool {
        threads[thread].openedAt > 0 && !threads[thread].canHaveOwners && !threads[thread].isDirect
            && ids.threads.id(thread).outwardCode == nil
    }

    /// Whether a thread was imported, and at most two users were ever members of it.
    func isImportedPair(_ thread: Int, _ ids: Identities) -> Bool {
        !threads[thread].hadThreeMembers && isImportedNamedThread(thread, ids)
    }

    /// Whether a thread takes only users with an invitation now.
    func isInviteOnly(_ thread: Int, _ ids: Identities) -> Bool {
        // The common case needs no id.
        threads[thread].policy == .inviteOnly && policy(of: thread, ids) == .inviteOnly || isInDoubt(thread)
    }

    /// Returns the policy of a thread: that of an outward code's thread is `residents`, that of one
    /// in doubt `inviteOnly`.
    package func policy(of thread: Int, _ ids: Identities) -> ThreadPolicy {
        if ids.threads.id(thread).outwardCode != nil { return .residents }
        return isInDoubt(thread) ? .inviteOnly : threads[thread].policy
    }

    /// Returns the posts that users who join a thread may read: in doubt, those that follow.
    package func history(of thread: Int) -> ThreadHistory {
        isInDoubt(thread) ? .sinceJoining : threads[thread].history
    }

    /// Returns the number of a thread's next event.
    func nextNumber(in thread: Int) -> UInt64 {
        // Wrapping addition: a damaged journal can contain any number. The audit reports it;
        // nothing may trap.
        threads[thread].lastEventNumber &+ 1
    }

    /// Opens a thread.
    mutating func open(_ event: EventRow, _ indexes: EventIndexes, at position: Position) {
        threads[indexes.thread].openedAt = position
        threads[indexes.thread].openedBy = indexes.user
        guard !event.isImported, ThreadID(bits: event.thread).outwardCode == nil else { return }
        threads[indexes.thread].canHaveOwners = true
        threads[indexes.thread].awaitsOpener = true
    }

    /// Sets the policy and the history of a thread.
    mutating func setPolicy(_ thread: Int, _ policy: ThreadPolicy, _ history: ThreadHistory, at position: Position) {
        let row = threads[thread]
        if row.openedAt > 0, position == row.openedAt + 1 { threads[thread].wasOpenedWithPolicy = true }
        let wasInDoubt = lostEventCount > 0 && community.doubts[thread] != 0
        if row.policy == .inviteOnly || wasInDoubt, policy != .inviteOnly { threads[thread].disclosedAt = position }
        if wasInDoubt { community.doubts.clear(thread) }
        (threads[thread].policy, threads[thread].history) = (policy, history)
    }
}
