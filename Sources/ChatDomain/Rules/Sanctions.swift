import Columns

/// Mutes and bans.
extension RuleState {
    func sanction(
        _ command: borrowing ChatCommand, _ kind: SanctionKind, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, rejectsErased: true, ids, envelope)
        try requireAuthority(action, ids)
        if kind == .ban { try requireNotLastOwner(action) }
        if let membership = action.membership, isSanctioned(kind, membership, at: envelope.recordedAt),
            sanctionEnd(kind, membership) == command.until
        {
            return .unchanged
        }
        guard action.userStanding.isSanctionable || envelope.isAudit else { throw .notAMember }
        try requireReason(command.text)
        try requireEnd(command.until, envelope)
        append(
            kind == .ban ? .userBanned : .userMuted, action, value: SanctionEnd.number(command.until), envelope, &batch)
        if kind == .ban, action.userStanding.isMember { append(.memberRemoved, action, after: 1, envelope, &batch) }
        return .append
    }

    func endSanction(
        _ command: borrowing ChatCommand, _ kind: SanctionKind, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, ids, envelope)
        try requireAuthority(action, ids)
        guard let membership = action.membership, isSanctioned(kind, membership, at: envelope.recordedAt) else {
            return .unchanged
        }
        append(kind == .ban ? .userUnbanned : .userUnmuted, action, envelope, &batch)
        return .append
    }

    func requireReason(_ reason: String) throws(Rejection) {
        guard ModerationReason.isValid(reason) else { throw .invalidReason }
    }

    func requireEnd(_ until: Timestamp?, _ envelope: EventEnvelope) throws(Rejection) {
        guard let until else { return }
        guard until > envelope.recordedAt, ChatEvent.recordableTimes.contains(until) else { throw .invalidUntil }
    }

    /// Whether a user is banned from a thread at a time.
    func isBanned(_ user: Int, from thread: Int, at time: Timestamp, _ ids: Identities) -> Bool {
        ids.memberships.find(user, thread).map { isSanctioned(.ban, $0, at: time) } ?? false
    }

    /// Whether a sanction of a user in a thread holds at a time.
    package func isSanctioned(_ kind: SanctionKind, _ membership: Int, at time: Timestamp) -> Bool {
        guard memberships.standing(membership).has(kind) else { return false }
        return sanctionEnd(kind, membership).map { time < $0 } ?? true
    }

    /// Returns the end of the latest sanction of a user in a thread; nil if it has none.
    func sanctionEnd(_ kind: SanctionKind, _ membership: Int) -> Timestamp? {
        SanctionEnd.time(kind == .mute ? community.mutes[membership] : community.bans[membership])
    }
}
