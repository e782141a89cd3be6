/// Roles, moderation and custom events, whose rules are those of the decider.
extension RuleState {
    /// Returns the fault of an event whose command the decider would not answer with this event.
    func communityFault(of kind: EventKind, _ event: EventRow, _ ids: borrowing Identities) -> HistoryFault? {
        guard let command = ChatCommand(causing: kind, EventDetails(event).shape) else { return nil }
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
    init?(causing kind: EventKind, _ shape: EventShape) {
        let reason = "-"
        switch (kind, shape) {
        case (.threadPolicySet, .policy(let thread, _, let policy, let history, let by)):
            self = .setThreadPolicy(thread: thread, policy: policy, history: history, by: by)
        case (.userInvited, .member(let thread, _, let user, let by)): self = .invite(user: user, thread: thread, by: by)
        case (.invitationDeclined, .thread(let thread, _, let user)): self = .declineInvitation(user: user, thread: thread)
        case (.invitationRevoked, .member(let thread, _, let user, let by)): self = .revokeInvitation(user: user, thread: thread, by: by)
        case (.roleSet, .role(let thread, _, let user, let role, let by)):
            self = .setRole(user: user, thread: thread, role: role, by: by)
        case (.operatorGranted, .user(let user)): self = .grantOperator(user: user)
        case (.operatorRevoked, .user(let user)): self = .revokeOperator(user: user)
        case (.messageRemoved, .message(_, _, let message, let by)): self = .remove(.message(message), by: by, reason: reason)
        case (.replyRemoved, .reply(_, _, _, let reply, let by)): self = .remove(.reply(reply), by: by, reason: reason)
        case (.userMuted, .sanction(let thread, _, let user, let by, let until)):
            self = .mute(user: user, thread: thread, by: by, reason: reason, until: until)
        case (.userUnmuted, .member(let thread, _, let user, let by)): self = .unmute(user: user, thread: thread, by: by)
        case (.userBanned, .sanction(let thread, _, let user, let by, let until)):
            self = .ban(user: user, thread: thread, by: by, reason: reason, until: until)
        case (.userUnbanned, .member(let thread, _, let user, let by)): self = .unban(user: user, thread: thread, by: by)
        case (.memberRemoved, .member(let thread, _, let user, let by)):
            self = .removeMember(user: user, thread: thread, by: by, reason: reason)
        case (.messagePinned, .message(_, _, let message, let by)): self = .pin(message: message, by: by)
        case (.messageUnpinned, .message(_, _, let message, let by)): self = .unpin(message: message, by: by)
        case (.threadLocked, .thread(let thread, _, let by)): self = .lockThread(thread: thread, by: by)
        case (.threadUnlocked, .thread(let thread, _, let by)): self = .unlockThread(thread: thread, by: by)
        case (.threadClosed, .thread(let thread, _, let by)): self = .closeThread(thread: thread, by: by)
        case (.messageReported, .messageReport(_, let message, let by)): self = .report(.message(message), by: by, reason: reason)
        case (.replyReported, .replyReport(_, _, let reply, let by)): self = .report(.reply(reply), by: by, reason: reason)
        case (.messageReportsResolved, .messageReport(_, let message, let by)): self = .resolveReport(.message(message), by: by)
        case (.replyReportsResolved, .replyReport(_, _, let reply, let by)): self = .resolveReport(.reply(reply), by: by)
        case (.userBlocked, .block(let user, let by)): self = .block(user: user, by: by)
        case (.userUnblocked, .block(let user, let by)): self = .unblock(user: user, by: by)
        case (.custom, .custom(let thread, _, let id, let by)):
            self = .custom(id: id, kind: "com.example", thread: thread, by: by, payload: CustomPayload(unchecked: "0"))
        default: return nil
        }
    }
}
