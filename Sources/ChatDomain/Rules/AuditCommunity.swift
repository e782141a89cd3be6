/// Roles, moderation and custom events, whose rules are those of the decider.
extension RuleState {
    /// Returns the fault of an event whose command the decider would not answer with this event.
    func communityFault(of kind: EventKind, _ event: EventRow, _ ids: borrowing Identities) -> HistoryFault? {
        guard let command = ChatCommand(causing: EventDetails(kind, event)) else { return nil }
        let isLossPossible = lostEventCount > 0
        if isLossPossible, let post = command.moderatedPost {
            // The loss may hide the role of the acting user, but not the thread of the post.
            let faults = faults(of: post, in: ThreadID(bits: event.thread), by: nil, unless: [], ids)
            if let fault = faults.first { return fault }
        }
        var batch = EventBatch(from: head + 1)
        let request = CommandRequest(command, origin: event.origin)
        do throws(Rejection) {
            switch try decide(request, ids, at: event.recordedAt, freshID: 0, into: &batch, isAudit: true) {
            case .append:
                var decided = batch.rows[0]
                (decided.number, decided.flags, decided.recordedAt, decided.createdAt) = (
                    event.number, event.flags, event.recordedAt, event.createdAt
                )
                return decided == event
                    ? nil : HistoryFault(problem: .unknownReference, message: "the ids of the event do not belong together")
            case .unchanged:
                return isLossPossible ? nil : HistoryFault(problem: .noEffect, message: "the effect of the event holds already")
            case .duplicate: return HistoryFault(problem: .identifierTwice, message: "the id of the event is in use")
            }
        } catch {
            if error.code == .identifierTaken { return HistoryFault(problem: .identifierTwice, message: error.message) }
            if isLossPossible { return nil }
            let isUnknown = [.unknownUser, .unknownThread, .unknownMessage, .unknownReply].contains(error.code)
            return HistoryFault(problem: isUnknown ? .unknownReference : .notPermitted, message: error.message)
        }
    }
}

extension ChatCommand {
    /// The post that a moderator or a reporter acts on.
    fileprivate var moderatedPost: PostID? {
        switch self {
        case .remove(let post, _, _), .report(let post, _, _), .resolveReport(let post, _): post
        case .pin(let message, _), .unpin(let message, _): .message(message)
        default: nil
        }
    }

    /// Creates the command that causes an event of roles, moderation or custom events.
    ///
    /// The reason, the kind and the payload are placeholders, on which no other rule depends.
    fileprivate init?(causing details: EventDetails) {
        let reason = "-"
        switch details {
        case .threadPolicySet(let details):
            self = .setThreadPolicy(thread: details.thread, policy: details.policy, history: details.history, by: details.by)
        case .userInvited(let details): self = .invite(user: details.user, thread: details.thread, by: details.by)
        case .invitationDeclined(let details): self = .declineInvitation(user: details.user, thread: details.thread)
        case .invitationRevoked(let details): self = .revokeInvitation(user: details.user, thread: details.thread, by: details.by)
        case .roleSet(let details): self = .setRole(user: details.user, thread: details.thread, role: details.role, by: details.by)
        case .operatorGranted(let details): self = .grantOperator(user: details.user)
        case .operatorRevoked(let details): self = .revokeOperator(user: details.user)
        case .messageRemoved(let details): self = .remove(.message(details.message), by: details.by, reason: reason)
        case .replyRemoved(let details): self = .remove(.reply(details.reply), by: details.by, reason: reason)
        case .userMuted(let details):
            self = .mute(user: details.user, thread: details.thread, by: details.by, reason: reason, until: details.until)
        case .userUnmuted(let details): self = .unmute(user: details.user, thread: details.thread, by: details.by)
        case .userBanned(let details):
            self = .ban(user: details.user, thread: details.thread, by: details.by, reason: reason, until: details.until)
        case .userUnbanned(let details): self = .unban(user: details.user, thread: details.thread, by: details.by)
        case .memberRemoved(let details):
            self = .removeMember(user: details.user, thread: details.thread, by: details.by, reason: reason)
        case .messagePinned(let details): self = .pin(message: details.message, by: details.by)
        case .messageUnpinned(let details): self = .unpin(message: details.message, by: details.by)
        case .threadLocked(let details): self = .lockThread(thread: details.thread, by: details.by)
        case .threadUnlocked(let details): self = .unlockThread(thread: details.thread, by: details.by)
        case .threadClosed(let details): self = .closeThread(thread: details.thread, by: details.by)
        case .messageReported(let details): self = .report(.message(details.message), by: details.by, reason: reason)
        case .replyReported(let details): self = .report(.reply(details.reply), by: details.by, reason: reason)
        case .messageReportsResolved(let details): self = .resolveReport(.message(details.message), by: details.by)
        case .replyReportsResolved(let details): self = .resolveReport(.reply(details.reply), by: details.by)
        case .userBlocked(let details): self = .block(user: details.user, by: details.by)
        case .userUnblocked(let details): self = .unblock(user: details.user, by: details.by)
        case .custom(let details):
            self = .custom(
                id: details.id, kind: "com.example", thread: details.thread, by: details.by, payload: CustomPayload(unchecked: "0"))
        default: return nil
        }
    }
}
