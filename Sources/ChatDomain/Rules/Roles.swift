import Columns

/// The acting user, the user concerned and the thread of a command, as ids and as indexes.
struct UserAction {
    let actorID: UserID
    let userID: UserID
    let threadID: ThreadID
    let actor: Int
    let user: Int
    let thread: Int
    /// The standing of the acting user.
    let actorStanding: Standing
    /// The standing of the user concerned.
    let userStanding: Standing
    /// The index of the concerned user's membership; nil if no event has named the pair.
    let membership: Int?
}

/// Roles in threads and operators of the community, and who may do what: the table is in
/// Community.md.
extension RuleState {
    func setRole(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, mayBeErased: envelope.isAudit, ids, envelope)
        if users[action.actor].isErased { try requireSuccession(action, to: command.role) }
        let row = threads[action.thread]
        let isOperatorAllowed = row.ownerCount == 0 && operates(action.actor, action.thread)
        let isSteppingDown = action.actor == action.user && action.userStanding.role.map { command.role < $0 } ?? false
        guard action.actorStanding.role == .owner || isOperatorAllowed || isSteppingDown,
            command.role != .owner || row.canHaveOwners
        else {
            throw .notAnOwner
        }
        guard let current = action.userStanding.role else { throw .notAMember }
        guard current != command.role else { return .unchanged }
        guard users[action.actor].isErased || !isLastOwner(action.userStanding, of: action.thread) else {
            throw .lastOwner
        }
        append(.roleSet, action, value: command.role.code, envelope, &batch)
        return .append
    }

    func setOperator(
        _ command: borrowing ChatCommand, _ isOperator: Bool, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = isOperator ? try requireActor(command.userID, ids) : try requireRegistered(command.userID, ids)
        guard self.isOperator(user) != isOperator else { return .unchanged }
        var row = envelope.row(isOperator ? .operatorGranted : .operatorRevoked)
        row.user = command.userID.bits
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    /// Whether a user is an operator of the community.
    package func isOperator(_ user: Int) -> Bool { user < community.operators.count && community.operators[user] != 0 }

    /// Whether a user has the rights of an operator of the community in a thread, which no direct
    /// thread gives, and none in doubt, which may be a direct one.
    func operates(_ user: Int, _ thread: Int) -> Bool {
        isOperator(user) && !threads[thread].isDirect && !isInDoubt(thread)
    }

    /// Throws unless a user moderates a thread.
    func requireModerator(_ user: Int, of thread: Int, _ ids: Identities) throws(Rejection) {
        if let role = standing(of: user, in: thread, ids).role, role >= .moderator { return }
        guard operates(user, thread) else { throw .notAModerator }
    }

    /// Throws unless the acting user may moderate the user concerned.
    func requireAuthority(_ action: UserAction, _ ids: Identities) throws(Rejection) {
        try requireModerator(action.actor, of: action.thread, ids)
        if action.actorStanding.role == .owner || operates(action.actor, action.thread) { return }
        // A moderator acts against no owner and no moderator, and so does not end a mute of their
        // own.
        if let role = action.userStanding.role, role >= .moderator { throw .notAnOwner }
    }

    /// Finds the two users and the thread of a moderator's command.
    ///
    /// - Parameters:
    ///   - rejectsErased: Whether an erased user is rejected; false for commands that end
    ///     something, and for a change of role.
    ///   - mayBeErased: Whether the acting user may be erased.
    func userAction(
        _ command: borrowing ChatCommand, rejectsErased: Bool = false, mayBeErased: Bool = false,
        _ ids: Identities,
        _ envelope: EventEnvelope
    ) throws(Rejection) -> UserAction {
        let actor = mayBeErased ? try requireRegistered(command.actorID, ids) : try requireActor(command.actorID, ids)
        let user = try requirePerson(command.userID, for: actor, ids, envelope)
        if rejectsErased { try requireNotErased(user, envelope) }
        let thread = try requireThread(command.threadID, for: actor, as: .ofModerator, ids, envelope)
        return UserAction(
            actorID: command.actorID, userID: command.userID, threadID: command.threadID, actor: actor, user: user,
            thread: thread,
            actorStanding: standing(of: actor, in: thread, ids), userStanding: standing(of: user, in: thread, ids),
            membership: ids.memberships.find(user, thread))
    }

    /// Appends an event about the user concerned.
    ///
    /// - Parameter pending: The number of events of the same decision in the thread before this
    ///   one.
    func append(
        _ kind: EventKind, _ action: UserAction, after pending: UInt64 = 0, value: UInt64 = 0,
        _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) {
        let row = envelope.row(
            kind, action.threadID, nextNumber(in: action.thread) &+ pending, action.userID, otherActor: action.actorID,
            value: value)
        batch.append(row, .none, EventIndexes(user: action.user, thread: action.thread))
    }

    /// Changes a user's role in a thread; nil ends the membership.
    mutating func changeRole(_ indexes: EventIndexes, to role: ThreadRole?) {
        var former: ThreadRole?
        changeStanding(indexes) {
            former = $0.role
            $0.role = role
        }
        // Wrapping: a checkpoint can contain any count, and nothing may trap.
        if former == .owner { threads[indexes.thread].ownerCount &-= 1 }
        if role == .owner { threads[indexes.thread].ownerCount &+= 1 }
    }
}
