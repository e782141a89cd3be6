import Columns

/// Rights of moderators.
extension RuleState {
    /// The maximum number of pinned messages of a thread.
    static var maximumPinCount: UInt32 { 50 }

    /// Throws unless the acting user may moderate the user concerned.
    private func requireAuthority(_ action: UserAction, _ ids: borrowing Identities) throws(Rejection) {
        try requireModerator(action.actor, of: action.thread, ids)
        if action.actorStanding.role == .owner || isOperator(action.actor) { return }
        // A moderator neither acts against another one nor ends a mute of their own.
        if let role = action.userStanding.role, role >= .moderator { throw .notAnOwner }
    }

    private func requireReason(_ reason: String) throws(Rejection) {
        guard ModerationReason.isValid(reason) else { throw .invalidReason }
    }

    private func requireEnd(_ until: Timestamp?, _ envelope: EventEnvelope) throws(Rejection) {
        guard let until else { return }
        guard until > envelope.recordedAt, ChatEvent.recordableTimes.contains(until) else { throw .invalidUntil }
    }
}

/// Sanctions.
extension RuleState {
    func sanction(
        _ command: borrowing ChatCommand, _ kind: SanctionKind, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, sparesErased: true, ids, envelope)
        try requireAuthority(action, ids)
        if kind == .ban { try requireNotLastOwner(action) }
        if let membership = action.membership, isSanctioned(kind, membership, at: envelope.recordedAt),
            sanctionEnd(kind, membership) == command.until
        {
            return .unchanged
        }
        try requireReason(command.text)
        try requireEnd(command.until, envelope)
        append(kind == .ban ? .userBanned : .userMuted, action, value: SanctionEnd.number(command.until), envelope, &batch)
        if kind == .ban, action.userStanding.isMember { append(.memberRemoved, action, after: 1, envelope, &batch) }
        return .append
    }

    func endSanction(
        _ command: borrowing ChatCommand, _ kind: SanctionKind, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(command, ids, envelope)
        try requireAuthority(action, ids)
        guard let membership = action.membership, isSanctioned(kind, membership, at: envelope.recordedAt) else { return .unchanged }
        append(kind == .ban ? .userUnbanned : .userUnmuted, action, envelope, &batch)
        return .append
    }

    func removeMember(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
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
    private func requireNotLastOwner(_ action: UserAction) throws(Rejection) {
        if action.actor == action.user, isLastOwner(action.userStanding, of: action.thread) { throw .lastOwner }
    }
}

/// Posts and reports.
extension RuleState {
    func remove(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(command.actorID, ids)
        let found = try find(command.post, for: actor, as: .ofModerator, ids, envelope)
        try requireModerator(actor, of: found.thread, ids)
        guard !found.marks.contains(.removed) else { return .unchanged }
        try requireReason(command.text)
        appendPostEvent(command.post.kind(.messageRemoved, .replyRemoved), command, found, actor, ids, envelope, &batch)
        return .append
    }

    func setPin(
        _ command: borrowing ChatCommand, _ isPinned: Bool, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(command.actorID, ids)
        let found = try find(command.post, for: actor, as: .ofModerator, ids, envelope)
        try requireModerator(actor, of: found.thread, ids)
        guard !threads[found.thread].isClosed else { throw .threadClosed }
        if isPinned, found.marks.isWithdrawn { throw .retracted }
        guard found.marks.contains(.pinned) != isPinned else { return .unchanged }
        if isPinned, threads[found.thread].pinCount >= Self.maximumPinCount { throw .tooManyPins }
        appendPostEvent(isPinned ? .messagePinned : .messageUnpinned, command, found, actor, ids, envelope, &batch)
        return .append
    }

    func report(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(command.actorID, ids)
        let found = try find(command.post, for: actor, ids, envelope)
        let membership = try requireMember(actor, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(command.post) }
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard !reports(of: command.post).isReported(found.post, by: actor) else { return .unchanged }
        try requireReason(command.text)
        appendPostEvent(command.post.kind(.messageReported, .replyReported), command, found, actor, ids, envelope, &batch)
        return .append
    }

    func resolveReport(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(command.actorID, ids)
        let found = try find(command.post, for: actor, as: .ofModerator, ids, envelope)
        try requireModerator(actor, of: found.thread, ids)
        guard reports(of: command.post).hasOpenReports(found.post) else { return .unchanged }
        appendPostEvent(command.post.kind(.messageReportsResolved, .replyReportsResolved), command, found, actor, ids, envelope, &batch)
        return .append
    }

    private func reports(of post: PostID) -> ReportTable {
        switch post {
        case .message: community.messageReports
        case .reply: community.replyReports
        }
    }
}
