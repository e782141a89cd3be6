import Columns

/// Users, operators and blocks.
extension RuleState {
    /// The maximum number of users whom a user has blocked at a time, which bounds the cost of their
    /// unread counts.
    static var maximumBlockCount: UInt64 { 1_000 }

    func registerUser(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let subject = command.label
        if let id = command.id, let user = registeredUser(UserID(bits: id), ids) {
            guard users[user].oneBasedFoldKeyAtRegistration > 0,
                ids.foldKeys.text(Int(users[user].oneBasedFoldKeyAtRegistration) - 1) == Username.foldKey(command.text)
            else {
                throw .identifierTaken
            }
            // Two subjects are two people: the second must not receive the first one's receipt.
            if let subject, !Subject.isValid(subject) || owner(ofSubject: ids.subjects.find(subject)) != user { throw .subjectMismatch }
            return .duplicate(of: users[user].registeredAt...users[user].registeredAt)
        }
        guard let username = Username(command.text) else { throw .invalidUsername }
        guard owner(ofName: ids.foldKeys.find(username.foldKey)) == nil else { throw .usernameTaken }
        if let subject {
            guard Subject.isValid(subject) else { throw .invalidSubject }
            guard owner(ofSubject: ids.subjects.find(subject)) == nil else { throw .subjectTaken }
        }
        var row = envelope.row(.userRegistered)
        row.user = envelope.id
        batch.append(row, .registration(username, subject: subject))
        return .append
    }

    func changeUsername(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(command.actorID, ids)
        let username = Username(command.text)
        // Precedes the check of the name: an earlier version may have accepted the current name
        // under other rules.
        if let current = users[user].username?.utf8,
            current.elementsEqual((username?.text ?? "").utf8) || current.elementsEqual(NameRules.trimmed(command.text).utf8)
        {
            return .unchanged
        }
        guard let username else { throw .invalidUsername }
        if let owner = owner(ofName: ids.foldKeys.find(username.foldKey)), owner != user { throw .usernameTaken }
        var row = envelope.row(.usernameChanged)
        row.user = command.actorID.bits
        batch.append(row, .username(username), EventIndexes(user: user))
        return .append
    }

    func setPostcode(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(command.actorID, ids)
        guard let postcode = Postcode(command.text) else { throw Postcode.isForcesNumber(command.text) ? .forcesNumber : .invalidPostcode }
        guard users[user].postcode != postcode else { return .unchanged }
        let threadID = ThreadID(postcode.outwardCode)
        var row = envelope.row(.postcodeSet)
        (row.user, row.thread) = (command.actorID.bits, threadID.bits)
        batch.append(row, .postcode(postcode), EventIndexes(user: user))
        guard let thread = existingThread(threadID, ids) else {
            appendOpening(threadID, .none, command.actorID, user, envelope, &batch)
            return .append
        }
        // A banned user, or a locked or closed thread, is no reason to reject the postcode.
        if !isMember(user, of: thread, ids), lockOrBanRejection(user, thread, at: envelope.recordedAt, ids) == nil {
            appendJoin(command.actorID, user, thread, ids, envelope, &batch)
        }
        return .append
    }

    func setOperator(
        _ command: borrowing ChatCommand, _ isOperator: Bool, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = isOperator ? try requireUser(command.userID, ids) : try requireRegistered(command.userID, ids)
        guard self.isOperator(user) != isOperator else { return .unchanged }
        var row = envelope.row(isOperator ? .operatorGranted : .operatorRevoked)
        row.user = command.userID.bits
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    func setBlock(
        _ command: borrowing ChatCommand, _ isBlocked: Bool, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(command.actorID, ids)
        let user = isBlocked ? try requireNotErased(command.userID, ids, envelope) : try requireRegistered(command.userID, ids)
        guard self.isBlocked(user, by: actor) != isBlocked, user != actor else { return .unchanged }
        if isBlocked, hasMaximumBlocks(actor), !envelope.isAudit { throw .tooManyBlocks }
        var row = envelope.row(isBlocked ? .userBlocked : .userUnblocked)
        (row.user, row.secondID) = (command.actorID.bits, command.userID.bits)
        batch.append(row, .none, EventIndexes(user: actor, second: user))
        return .append
    }

    /// Whether a user has blocked as many others as the rules allow.
    func hasMaximumBlocks(_ user: Int) -> Bool { community.blockCounts[user] >= Self.maximumBlockCount }

    private func isBlocked(_ user: Int, by blocker: Int) -> Bool {
        community.blockPairs.find(blocker, user).map { community.blocks[$0] != 0 } ?? false
    }
}

/// Sessions.
extension RuleState {
    func startSession(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let session = ids.sessions.find(SessionID(bits: id)) {
            guard ids.users.id(Int(sessions[session].user)) == command.actorID else { throw .identifierTaken }
            return .duplicate(of: sessions[session].startedAt...sessions[session].startedAt)
        }
        let user = try requireUser(command.actorID, ids)
        guard DeviceDescription.isValid(command.text) else { throw .invalidDevice }
        var row = envelope.row(.sessionStarted)
        (row.user, row.secondID) = (command.actorID.bits, envelope.id)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    func endSession(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard let session = ids.sessions.find(SessionID(bits: envelope.id)) else { throw .unknownSession }
        guard !sessions[session].hasEnded else { return .unchanged }
        let user = Int(sessions[session].user)
        var row = envelope.row(.sessionEnded)
        (row.user, row.secondID) = (ids.users.id(user).bits, envelope.id)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }
}

extension RuleState {
    /// Returns the user of a session, ended or not; nil if it does not exist.
    package func user(of sessionID: SessionID, _ ids: borrowing Identities) -> UserID? {
        ids.sessions.find(sessionID).map { ids.users.id(Int(sessions[$0].user)) }
    }
}
