import Columns

/// Invitations.
///
/// An invitation ends when it is declined or revoked, by a join, and by a ban; it does not expire.
extension RuleState {
    func invite(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, rejectsErased: true, ids, envelope)
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
    /// An operator, who is neither owner nor moderator, must not open a private thread to
    /// themselves.
    func mayInvite(_ actor: Int, _ user: Int, _ thread: Int, _ ids: Identities) -> Bool {
        if let role = standing(of: actor, in: thread, ids).role, role >= .moderator { return true }
        return threads[thread].ownerCount == 0 && !isOperator(user) && !isImportedPair(thread, ids)
    }

    func declineInvitation(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (user, thread) = try actorAndThread(command, ids, envelope)
        guard standing(of: user, in: thread, ids).isInvited else { return .unchanged }
        batch.append(
            envelope.row(.invitationDeclined, command.threadID, nextNumber(in: thread), command.actorID), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    func revokeInvitation(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, ids, envelope)
        try requireModerator(action.actor, of: action.thread, ids)
        guard action.userStanding.isInvited else { return .unchanged }
        append(.invitationRevoked, action, envelope, &batch)
        return .append
    }
}
