import Columns

/// Rights of moderators.
extension RuleState {
    /// The maximum number of pinned messages of a thread.
    static var maximumPinCount: UInt32 { 50 }
    /// The maximum length of a reason, in bytes.
    static var maximumReasonLength: Int { 512 }

    /// Throws unless the acting user may moderate the user concerned.
    private func requireAuthority(_ action: UserAction, _ ids: borrowing Identities) throws(Rejection) {
        try requireModerator(action.actorIndex, of: action.threadIndex, ids)
        if action.actor.role == .owner || isOperator(action.actorIndex) { return }
        // A moderator neither acts against another one nor ends a mute of their own.
        if let role = action.concerned.role, role >= .moderator { throw .notAnOwner }
    }

    private func requireReason(_ reason: String) throws(Rejection) {
        // The rule of a body, with another limit.
        guard reason.utf8.count <= Self.maximumReasonLength, MessageBody.isValid(reason) else { throw .invalidReason }
    }

    private func requireEnd(_ until: Timestamp?, _ envelope: EventEnvelope) throws(Rejection) {
        guard let until else { return }
        guard until > envelope.recordedAt, ChatEvent.recordableTimes.contains(until) else { throw .invalidUntil }
    }
}

/// Sanctions.
extension RuleState {
    func sanction(
        _ kind: SanctionKind, _ user: UserID, _ thread: ThreadID, _ by: UserID, _ reason: String, _ until: Timestamp?,
        _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(user, thread, by, ids)
        try requireAuthority(action, ids)
        if kind == .ban { try requireNotLastOwner(action) }
        if let membership = action.membership, isSanctioned(kind, membership, at: envelope.recordedAt),
            sanctionEnd(kind, membership) == until
        {
            return .unchanged
        }
        try requireReason(reason)
        try requireEnd(until, envelope)
        append(kind == .ban ? .userBanned : .userMuted, action, value: Sanction.value(until: until), envelope, &batch)
        if kind == .ban, action.concerned.isMember { append(.memberRemoved, action, after: 1, envelope, &batch) }
        return .append
    }

    func endSanction(
        _ kind: SanctionKind, _ user: UserID, _ thread: ThreadID, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(user, thread, by, ids)
        try requireAuthority(action, ids)
        guard let membership = action.membership, isSanctioned(kind, membership, at: envelope.recordedAt) else { return .unchanged }
        append(kind == .ban ? .userUnbanned : .userUnmuted, action, envelope, &batch)
        return .append
    }

    func removeMember(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ reason: String, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let action = try userAction(user, thread, by, ids)
        try requireAuthority(action, ids)
        try requireNotLastOwner(action)
        guard action.concerned.isMember else { return .unchanged }
        try requireReason(reason)
        append(.memberRemoved, action, envelope, &batch)
        return .append
    }

    /// Throws if the last owner ends their own membership.
    private func requireNotLastOwner(_ action: UserAction) throws(Rejection) {
        if action.actorIndex == action.userIndex, isLastOwner(action.concerned, of: action.threadIndex) { throw .lastOwner }
    }
}

/// Posts and reports.
extension RuleState {
    func remove(
        _ post: PostID, _ by: UserID, _ reason: String, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        try requireModerator(user, of: found.thread, ids)
        guard !found.marks.contains(.removed) else { return .unchanged }
        try requireReason(reason)
        appendPostEvent(post.kind(.messageRemoved, .replyRemoved), post, found, by, user, ids, envelope, &batch)
        return .append
    }

    func setPin(
        _ id: MessageID, _ isPinned: Bool, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(.message(id), ids)
        try requireModerator(user, of: found.thread, ids)
        guard !threads[found.thread].isClosed else { throw .threadClosed }
        if isPinned, found.marks.isGone { throw .retracted }
        guard found.marks.contains(.pinned) != isPinned else { return .unchanged }
        if isPinned, threads[found.thread].pinCount >= Self.maximumPinCount { throw .tooManyPins }
        appendPostEvent(isPinned ? .messagePinned : .messageUnpinned, .message(id), found, by, user, ids, envelope, &batch)
        return .append
    }

    func report(
        _ post: PostID, _ by: UserID, _ reason: String, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        let membership = try requireMember(user, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(post) }
        guard !found.marks.isGone else { throw .retracted }
        guard !reports(of: post).isReported(found.post, by: user) else { return .unchanged }
        try requireReason(reason)
        appendPostEvent(post.kind(.messageReported, .replyReported), post, found, by, user, ids, envelope, &batch)
        return .append
    }

    func resolveReport(
        _ post: PostID, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        try requireModerator(user, of: found.thread, ids)
        guard reports(of: post).hasOpenReports(found.post) else { return .unchanged }
        appendPostEvent(post.kind(.messageReportsResolved, .replyReportsResolved), post, found, by, user, ids, envelope, &batch)
        return .append
    }

    private func reports(of post: PostID) -> ReportTable {
        switch post {
        case .message: community.messageReports
        case .reply: community.replyReports
        }
    }
}
