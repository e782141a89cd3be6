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
        _ kind: SanctionKind, _ userID: UserID, _ threadID: ThreadID, _ actorID: UserID, _ reason: String, _ until: Timestamp?,
        _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(userID, threadID, actorID, sparesErased: true, ids, envelope)
        try requireAuthority(action, ids)
        if kind == .ban { try requireNotLastOwner(action) }
        if let membership = action.membership, isSanctioned(kind, membership, at: envelope.recordedAt),
            sanctionEnd(kind, membership) == until
        {
            return .unchanged
        }
        try requireReason(reason)
        try requireEnd(until, envelope)
        append(kind == .ban ? .userBanned : .userMuted, action, value: SanctionEnd.number(until), envelope, &batch)
        if kind == .ban, action.userStanding.isMember { append(.memberRemoved, action, after: 1, envelope, &batch) }
        return .append
    }

    func endSanction(
        _ kind: SanctionKind, _ userID: UserID, _ threadID: ThreadID, _ actorID: UserID, _ ids: borrowing Identities,
        _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(userID, threadID, actorID, ids, envelope)
        try requireAuthority(action, ids)
        guard let membership = action.membership, isSanctioned(kind, membership, at: envelope.recordedAt) else { return .unchanged }
        append(kind == .ban ? .userUnbanned : .userUnmuted, action, envelope, &batch)
        return .append
    }

    func removeMember(
        _ userID: UserID, _ threadID: ThreadID, _ actorID: UserID, _ reason: String, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(userID, threadID, actorID, ids, envelope)
        try requireAuthority(action, ids)
        try requireNotLastOwner(action)
        guard action.userStanding.isMember else { return .unchanged }
        try requireReason(reason)
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
        _ post: PostID, _ actorID: UserID, _ reason: String, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(actorID, ids)
        let found = try find(post, for: actor, as: .ofModerator, ids, envelope)
        try requireModerator(actor, of: found.thread, ids)
        guard !found.marks.contains(.removed) else { return .unchanged }
        try requireReason(reason)
        appendPostEvent(post.kind(.messageRemoved, .replyRemoved), post, found, actorID, actor, ids, envelope, &batch)
        return .append
    }

    func setPin(
        _ messageID: MessageID, _ isPinned: Bool, _ actorID: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(actorID, ids)
        let found = try find(.message(messageID), for: actor, as: .ofModerator, ids, envelope)
        try requireModerator(actor, of: found.thread, ids)
        guard !threads[found.thread].isClosed else { throw .threadClosed }
        if isPinned, found.marks.isWithdrawn { throw .retracted }
        guard found.marks.contains(.pinned) != isPinned else { return .unchanged }
        if isPinned, threads[found.thread].pinCount >= Self.maximumPinCount { throw .tooManyPins }
        appendPostEvent(isPinned ? .messagePinned : .messageUnpinned, .message(messageID), found, actorID, actor, ids, envelope, &batch)
        return .append
    }

    func report(
        _ post: PostID, _ actorID: UserID, _ reason: String, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(actorID, ids)
        let found = try find(post, for: actor, ids, envelope)
        let membership = try requireMember(actor, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(post) }
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard !reports(of: post).isReported(found.post, by: actor) else { return .unchanged }
        try requireReason(reason)
        appendPostEvent(post.kind(.messageReported, .replyReported), post, found, actorID, actor, ids, envelope, &batch)
        return .append
    }

    func resolveReport(
        _ post: PostID, _ actorID: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(actorID, ids)
        let found = try find(post, for: actor, as: .ofModerator, ids, envelope)
        try requireModerator(actor, of: found.thread, ids)
        guard reports(of: post).hasOpenReports(found.post) else { return .unchanged }
        appendPostEvent(post.kind(.messageReportsResolved, .replyReportsResolved), post, found, actorID, actor, ids, envelope, &batch)
        return .append
    }

    private func reports(of post: PostID) -> ReportTable {
        switch post {
        case .message: community.messageReports
        case .reply: community.replyReports
        }
    }
}
