import Columns

/// Invitations, roles, moderation, blocks and custom events; `Community.md` has the rules.
extension RuleState {
    /// The maximum number of pinned messages of a thread.
    static var maximumPinCount: UInt32 { 50 }
    /// The maximum length of a reason, in bytes.
    static var maximumReasonLength: Int { 512 }

    func decideCommunity(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        switch command {
        case .invite(let user, let thread, let by): return try invite(user, thread, by, ids, frame, &batch)
        case .acceptInvitation(let user, let thread): return try acceptInvitation(user, thread, ids, frame, &batch)
        case .declineInvitation(let user, let thread): return try declineInvitation(user, thread, ids, frame, &batch)
        case .revokeInvitation(let user, let thread, let by): return try revokeInvitation(user, thread, by, ids, frame, &batch)
        case .setRole(let user, let thread, let role, let by): return try setRole(user, thread, role, by, ids, frame, &batch)
        case .grantOperator(let user): return try setOperator(user, true, ids, frame, &batch)
        case .revokeOperator(let user): return try setOperator(user, false, ids, frame, &batch)
        case .remove(let post, let by, let reason): return try remove(post, by, reason, ids, frame, &batch)
        case .mute(let user, let thread, let by, let reason, let until):
            return try mute(user, thread, by, reason, until, ids, frame, &batch)
        case .unmute(let user, let thread, let by): return try unmute(user, thread, by, ids, frame, &batch)
        case .ban(let user, let thread, let by, let reason, let until):
            return try ban(user, thread, by, reason, until, ids, frame, &batch)
        case .unban(let user, let thread, let by): return try unban(user, thread, by, ids, frame, &batch)
        case .removeMember(let user, let thread, let by, let reason):
            return try removeMember(user, thread, by, reason, ids, frame, &batch)
        case .pin(let message, let by): return try pin(message, by, ids, frame, &batch)
        case .unpin(let message, let by): return try unpin(message, by, ids, frame, &batch)
        case .lockThread(let thread, let by): return try setLock(thread, true, by, ids, frame, &batch)
        case .unlockThread(let thread, let by): return try setLock(thread, false, by, ids, frame, &batch)
        case .closeThread(let thread, let by): return try closeThread(thread, by, ids, frame, &batch)
        case .report(let post, let by, let reason): return try report(post, by, reason, ids, frame, &batch)
        case .resolveReport(let post, let by): return try resolveReport(post, by, ids, frame, &batch)
        case .block(let user, let by): return try setBlock(user, true, by, ids, frame, &batch)
        case .unblock(let user, let by): return try setBlock(user, false, by, ids, frame, &batch)
        default: preconditionFailure("`decide` handles the other commands")
        }
    }
}

/// A command of one user that concerns another user in a thread.
private struct Encounter {
    let by: UserID
    let user: UserID
    let thread: ThreadID
    let actorIndex: Int
    let userIndex: Int
    let threadIndex: Int
    /// The standing of the acting user.
    let actor: Standing
    /// The standing of the user concerned.
    let concerned: Standing
    /// The index of the concerned user's membership; nil if no event has named the pair.
    let membership: Int?
}

/// Rights.
extension RuleState {
    /// Whether a user is banned from a thread at a time.
    func isBanned(_ user: Int, from thread: Int, at time: Timestamp, _ ids: borrowing Identities) -> Bool {
        ids.memberships.find(user, thread).map { isBanned($0, at: time) } ?? false
    }

    /// Whether a member is the only owner of a thread that is not closed.
    func isLastOwner(_ standing: Standing, of thread: Int) -> Bool {
        standing.role == .owner && threads[thread].ownerCount == 1 && !threads[thread].isClosed
    }

    /// Throws unless a user moderates a thread.
    func requireModerator(_ user: Int, of thread: Int, _ ids: borrowing Identities) throws(Rejection) {
        if let role = standing(of: user, in: thread, ids).role, role >= .moderator { return }
        guard isOperator(user) else { throw .notAModerator }
    }

    /// Finds the two users and the thread of a command.
    private func encounter(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ ids: borrowing Identities
    ) throws(Rejection) -> Encounter {
        let actorIndex = try requireUser(by, ids)
        let userIndex = try requireUser(user, ids)
        let threadIndex = try requireThread(thread, ids)
        return Encounter(
            by: by, user: user, thread: thread, actorIndex: actorIndex, userIndex: userIndex, threadIndex: threadIndex,
            actor: standing(of: actorIndex, in: threadIndex, ids), concerned: standing(of: userIndex, in: threadIndex, ids),
            membership: ids.memberships.find(userIndex, threadIndex))
    }

    /// Throws unless the acting user may moderate the user concerned.
    private func requireAuthority(_ found: Encounter, _ ids: borrowing Identities) throws(Rejection) {
        try requireModerator(found.actorIndex, of: found.threadIndex, ids)
        if found.actor.role == .owner || isOperator(found.actorIndex) { return }
        // A moderator neither acts against another one nor ends a mute of their own.
        if let role = found.concerned.role, role >= .moderator { throw .notAnOwner }
    }

    private func append(
        _ kind: EventKind, _ found: Encounter, after pending: UInt64 = 0, value: UInt64 = 0, _ frame: EventEnvelope,
        _ batch: inout EventBatch
    ) {
        let row = frame.row(
            kind, found.thread, nextNumber(in: found.threadIndex) &+ pending, found.user, actor: found.by, value: value)
        batch.append(row, .none, EventIndexes(user: found.userIndex, thread: found.threadIndex))
    }

    private func requireReason(_ reason: String) throws(Rejection) {
        // The rule of a body, with another limit.
        guard reason.utf8.count <= Self.maximumReasonLength, MessageBody.isValid(reason) else { throw .invalidReason }
    }

    private func requireEnd(_ until: Timestamp?, _ frame: EventEnvelope) throws(Rejection) {
        guard let until else { return }
        guard until > frame.recordedAt, ChatEvent.recordableTimes.contains(until) else { throw .invalidUntil }
    }
}

/// Invitations and roles.
extension RuleState {
    private func invite(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let found = try encounter(user, thread, by, ids)
        try requireModerator(found.actorIndex, of: found.threadIndex, ids)
        guard !threads[found.threadIndex].isClosed else { throw .threadClosed }
        guard !found.concerned.isMember else { return .unchanged }
        if let membership = found.membership, isBanned(membership, at: frame.recordedAt) { throw .banned }
        guard !found.concerned.isInvited else { return .unchanged }
        append(.userInvited, found, frame, &batch)
        return .append
    }

    private func acceptInvitation(
        _ id: UserID, _ threadID: ThreadID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        let thread = try requireThread(threadID, ids)
        let standing = standing(of: user, in: thread, ids)
        guard !standing.isMember else { return .unchanged }
        if let rejection = joinRejection(user, thread, frame, isAccepting: true, ids) { throw rejection }
        appendJoin(id, user, thread, ids, frame, &batch)
        return .append
    }

    private func declineInvitation(
        _ id: UserID, _ threadID: ThreadID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        let thread = try requireThread(threadID, ids)
        guard standing(of: user, in: thread, ids).isInvited else { return .unchanged }
        batch.append(
            frame.row(.invitationDeclined, threadID, nextNumber(in: thread), id), .none, EventIndexes(user: user, thread: thread))
        return .append
    }

    private func revokeInvitation(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let found = try encounter(user, thread, by, ids)
        try requireModerator(found.actorIndex, of: found.threadIndex, ids)
        guard found.concerned.isInvited else { return .unchanged }
        append(.invitationRevoked, found, frame, &batch)
        return .append
    }

    private func setRole(
        _ user: UserID, _ thread: ThreadID, _ role: ThreadRole, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let found = try encounter(user, thread, by, ids)
        let row = threads[found.threadIndex]
        let isOperatorAllowed = row.ownerCount == 0 && isOperator(found.actorIndex)
        let isSteppingDown = found.actorIndex == found.userIndex && found.concerned.role.map { role < $0 } ?? false
        guard found.actor.role == .owner || isOperatorAllowed || isSteppingDown, role != .owner || row.canHaveOwners else {
            throw .notAnOwner
        }
        guard let present = found.concerned.role else { throw .notAMember }
        guard present != role else { return .unchanged }
        guard !isLastOwner(found.concerned, of: found.threadIndex) else { throw .lastOwner }
        append(.roleSet, found, value: role.code, frame, &batch)
        return .append
    }

    private func setOperator(
        _ id: UserID, _ isOperator: Bool, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        guard self.isOperator(user) != isOperator else { return .unchanged }
        var row = frame.row(isOperator ? .operatorGranted : .operatorRevoked)
        row.user = id.bits
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }
}

/// Sanctions.
extension RuleState {
    private func mute(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ reason: String, _ until: Timestamp?, _ ids: borrowing Identities,
        _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let found = try encounter(user, thread, by, ids)
        try requireAuthority(found, ids)
        if let membership = found.membership, isMuted(membership, at: frame.recordedAt),
            Sanction.until(community.mutes[membership]) == until
        {
            return .unchanged
        }
        try requireReason(reason)
        try requireEnd(until, frame)
        append(.userMuted, found, value: Sanction.value(until: until), frame, &batch)
        return .append
    }

    private func unmute(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let found = try encounter(user, thread, by, ids)
        try requireAuthority(found, ids)
        guard let membership = found.membership, isMuted(membership, at: frame.recordedAt) else { return .unchanged }
        append(.userUnmuted, found, frame, &batch)
        return .append
    }

    private func ban(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ reason: String, _ until: Timestamp?, _ ids: borrowing Identities,
        _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let found = try encounter(user, thread, by, ids)
        try requireAuthority(found, ids)
        try requireNotLastOwner(found)
        if let membership = found.membership, isBanned(membership, at: frame.recordedAt),
            Sanction.until(community.bans[membership]) == until
        {
            return .unchanged
        }
        try requireReason(reason)
        try requireEnd(until, frame)
        append(.userBanned, found, value: Sanction.value(until: until), frame, &batch)
        if found.concerned.isMember { append(.memberRemoved, found, after: 1, frame, &batch) }
        return .append
    }

    private func unban(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let found = try encounter(user, thread, by, ids)
        try requireAuthority(found, ids)
        guard let membership = found.membership, isBanned(membership, at: frame.recordedAt) else { return .unchanged }
        append(.userUnbanned, found, frame, &batch)
        return .append
    }

    private func removeMember(
        _ user: UserID, _ thread: ThreadID, _ by: UserID, _ reason: String, _ ids: borrowing Identities, _ frame: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let found = try encounter(user, thread, by, ids)
        try requireAuthority(found, ids)
        try requireNotLastOwner(found)
        guard found.concerned.isMember else { return .unchanged }
        try requireReason(reason)
        append(.memberRemoved, found, frame, &batch)
        return .append
    }

    /// Throws if the last owner ends their own membership.
    private func requireNotLastOwner(_ found: Encounter) throws(Rejection) {
        if found.actorIndex == found.userIndex, isLastOwner(found.concerned, of: found.threadIndex) { throw .lastOwner }
    }
}

/// Posts.
extension RuleState {
    private func remove(
        _ post: PostID, _ by: UserID, _ reason: String, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        try requireModerator(user, of: found.thread, ids)
        guard !found.marks.contains(.removed) else { return .unchanged }
        try requireReason(reason)
        appendChange(post, found, by, user, ifMessage: .messageRemoved, ifReply: .replyRemoved, ids, frame, &batch)
        return .append
    }

    private func pin(
        _ id: MessageID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(.message(id), ids)
        try requireModerator(user, of: found.thread, ids)
        guard !threads[found.thread].isClosed else { throw .threadClosed }
        guard !found.marks.isGone else { throw .retracted }
        guard !found.marks.contains(.pinned) else { return .unchanged }
        guard threads[found.thread].pinCount < Self.maximumPinCount else { throw .tooManyPins }
        appendChange(.message(id), found, by, user, ifMessage: .messagePinned, ifReply: .messagePinned, ids, frame, &batch)
        return .append
    }

    private func unpin(
        _ id: MessageID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(.message(id), ids)
        try requireModerator(user, of: found.thread, ids)
        guard !threads[found.thread].isClosed else { throw .threadClosed }
        guard found.marks.contains(.pinned) else { return .unchanged }
        appendChange(.message(id), found, by, user, ifMessage: .messageUnpinned, ifReply: .messageUnpinned, ids, frame, &batch)
        return .append
    }

    private func report(
        _ post: PostID, _ by: UserID, _ reason: String, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        let membership = try requireMember(user, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(post) }
        guard !found.marks.isGone else { throw .retracted }
        guard !reports(of: post).isReported(found.post, by: user) else { return .unchanged }
        try requireReason(reason)
        appendReport(post, found, by, user, ifMessage: .messageReported, ifReply: .replyReported, ids, frame, &batch)
        return .append
    }

    private func resolveReport(
        _ post: PostID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        try requireModerator(user, of: found.thread, ids)
        guard reports(of: post).hasOpenReports(found.post) else { return .unchanged }
        appendReport(post, found, by, user, ifMessage: .messageReportsResolved, ifReply: .replyReportsResolved, ids, frame, &batch)
        return .append
    }

    private func reports(of post: PostID) -> ReportTable {
        switch post {
        case .message: community.messageReports
        case .reply: community.replyReports
        }
    }

    /// Appends an event about the reports of a post, which has no number in its thread.
    private func appendReport(
        _ post: PostID, _ found: FoundPost, _ by: UserID, _ user: Int, ifMessage: EventKind, ifReply: EventKind,
        _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) {
        let thread = ids.threads.id(found.thread)
        let row =
            switch post {
            case .message(let message): frame.row(ifMessage, thread, 0, by, post: message.bits)
            case .reply(let reply): frame.row(ifReply, thread, 0, by, post: reply.bits, message: ids.messages.id(found.message))
            }
        batch.append(row, .none, EventIndexes(user: user, thread: found.thread, post: found.post))
    }

    func custom(
        _ id: CustomEventID?, _ kind: String, _ threadID: ThreadID, _ by: UserID, _ payload: CustomPayload, fresh: UInt128,
        _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let known = ids.customEvents.find(id) {
            guard ids.threads.id(ids.customFacts.parent(known)) == threadID, ids.users.id(ids.customFacts.author(known)) == by else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.customFacts.position(known)...ids.customFacts.position(known))
        }
        let user = try requireUser(by, ids)
        let thread = try requireThread(threadID, ids)
        let membership = try requireMember(user, of: thread, ids)
        try requireWritable(thread, membership, at: frame.recordedAt)
        guard CustomKind.isValid(kind) else { throw .invalidKind }
        guard payload.isWithinLimit else { throw .invalidPayload }
        batch.append(
            frame.row(.custom, threadID, nextNumber(in: thread), by, post: id?.bits ?? fresh), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }
}

/// Locks and blocks.
extension RuleState {
    private func setLock(
        _ id: ThreadID, _ isLocked: Bool, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let thread = try requireThread(id, ids)
        try requireModerator(user, of: thread, ids)
        guard !threads[thread].isClosed else { throw .threadClosed }
        guard threads[thread].isLocked != isLocked else { return .unchanged }
        batch.append(
            frame.row(isLocked ? .threadLocked : .threadUnlocked, id, nextNumber(in: thread), by), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }

    private func closeThread(
        _ id: ThreadID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let thread = try requireThread(id, ids)
        guard standing(of: user, in: thread, ids).role == .owner || isOperator(user) else { throw .notAnOwner }
        guard !threads[thread].isClosed else { return .unchanged }
        batch.append(frame.row(.threadClosed, id, nextNumber(in: thread), by), .none, EventIndexes(user: user, thread: thread))
        return .append
    }

    private func setBlock(
        _ id: UserID, _ isBlocked: Bool, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let blocker = try requireUser(by, ids)
        let user = try requireUser(id, ids)
        guard self.isBlocked(user, by: blocker) != isBlocked, user != blocker else { return .unchanged }
        var row = frame.row(isBlocked ? .userBlocked : .userUnblocked)
        (row.user, row.postOrSession) = (by.bits, id.bits)
        batch.append(row, .none, EventIndexes(user: blocker, post: user))
        return .append
    }

    private func isBlocked(_ user: Int, by blocker: Int) -> Bool {
        community.blockPairs.find(blocker, user).map { community.blocks[$0] != 0 } ?? false
    }
}

extension Rejection {
    /// The rejection of a post that does not exist, or not for this user.
    static func unknown(_ post: PostID) -> Rejection {
        switch post {
        case .message: .unknownMessage
        case .reply: .unknownReply
        }
    }
}
