import Columns

/// Users, operators and blocks.
extension RuleState {
    func registerUser(
        _ id: UserID?, _ text: String, _ subject: String?, fresh: UInt128, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let user = registeredUser(id, ids) {
            guard users[user].oneBasedFoldKeyAtRegistration > 0,
                ids.foldKeys.text(Int(users[user].oneBasedFoldKeyAtRegistration) - 1) == Username.foldKey(text)
            else {
                throw .identifierTaken
            }
            // Two subjects are two people: the second must not receive the first one's receipt.
            if let subject, subject.utf8.count > 256 || owner(ofSubject: ids.subjects.find(subject)) != user { throw .subjectMismatch }
            return .duplicate(of: users[user].registeredAt...users[user].registeredAt)
        }
        guard let username = Username(text) else { throw .invalidUsername }
        guard owner(ofName: ids.foldKeys.find(username.foldKey)) == nil else { throw .usernameTaken }
        if let subject {
            guard (1...256).contains(subject.utf8.count) else { throw .invalidSubject }
            guard owner(ofSubject: ids.subjects.find(subject)) == nil else { throw .subjectTaken }
        }
        var row = envelope.row(.userRegistered)
        row.user = id?.bits ?? fresh
        batch.append(row, .registration(username, subject: subject))
        return .append
    }

    func changeUsername(
        _ id: UserID, _ text: String, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        // Precedes the check of the name: an earlier version may have accepted the current name
        // under wider rules.
        if let present = users[user].username, let name = NameRules.trimmed(text), present.utf8.elementsEqual(name.utf8) {
            return .unchanged
        }
        guard let username = Username(text) else { throw .invalidUsername }
        if let owner = owner(ofName: ids.foldKeys.find(username.foldKey)), owner != user { throw .usernameTaken }
        var row = envelope.row(.usernameChanged)
        row.user = id.bits
        batch.append(row, .username(username), EventIndexes(user: user))
        return .append
    }

    func setPostcode(
        _ id: UserID, _ text: String, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        guard let postcode = Postcode(text) else { throw .invalidPostcode }
        guard users[user].postcode != postcode else { return .unchanged }
        let thread = ThreadID(postcode.outwardCode)
        var row = envelope.row(.postcodeSet)
        (row.user, row.thread) = (id.bits, thread.bits)
        batch.append(row, .postcode(postcode), EventIndexes(user: user))
        guard let known = existingThread(thread, ids) else {
            appendOpening(thread, .none, id, user, envelope, &batch)
            return .append
        }
        // A banned user, or a locked or closed thread, is no reason to reject the postcode.
        if !isMember(user, of: known, ids), lockOrBanRejection(user, known, at: envelope.recordedAt, ids) == nil {
            batch.append(envelope.row(.threadJoined, thread, nextNumber(in: known), id), .none, EventIndexes(user: user, thread: known))
        }
        return .append
    }

    func setOperator(
        _ id: UserID, _ isOperator: Bool, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = isOperator ? try requireUser(id, ids) : try requireRegistered(id, ids)
        guard self.isOperator(user) != isOperator else { return .unchanged }
        var row = envelope.row(isOperator ? .operatorGranted : .operatorRevoked)
        row.user = id.bits
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    func setBlock(
        _ id: UserID, _ isBlocked: Bool, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let blocker = try requireUser(by, ids)
        let user = try requireRegistered(id, ids)
        guard self.isBlocked(user, by: blocker) != isBlocked, user != blocker else { return .unchanged }
        var row = envelope.row(isBlocked ? .userBlocked : .userUnblocked)
        (row.user, row.secondID) = (by.bits, id.bits)
        batch.append(row, .none, EventIndexes(user: blocker, post: user))
        return .append
    }

    private func isBlocked(_ user: Int, by blocker: Int) -> Bool {
        community.blockPairs.find(blocker, user).map { community.blocks[$0] != 0 } ?? false
    }
}

/// Sessions.
extension RuleState {
    func startSession(
        _ id: UserID, _ session: SessionID?, _ device: String, fresh: UInt128, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let session, let known = ids.sessions.find(session) {
            guard ids.users.id(Int(sessions[known].user)) == id else { throw .identifierTaken }
            return .duplicate(of: sessions[known].startedAt...sessions[known].startedAt)
        }
        let user = try requireUser(id, ids)
        guard device.utf8.count <= 1_024 else { throw .invalidDevice }
        var row = envelope.row(.sessionStarted)
        (row.user, row.secondID) = (id.bits, session?.bits ?? fresh)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    func endSession(
        _ session: SessionID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard let known = ids.sessions.find(session) else { throw .unknownSession }
        guard !sessions[known].hasEnded else { return .unchanged }
        let user = Int(sessions[known].user)
        var row = envelope.row(.sessionEnded)
        (row.user, row.secondID) = (ids.users.id(user).bits, session.bits)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }
}

extension RuleState {
    /// Returns the user of a session, ended or not; nil if it does not exist.
    package func user(of session: SessionID, _ ids: borrowing Identities) -> UserID? {
        ids.sessions.find(session).map { ids.users.id(Int(sessions[$0].user)) }
    }
}
