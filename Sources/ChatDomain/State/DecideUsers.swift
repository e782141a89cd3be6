import Columns

/// Users and sessions.
extension RuleState {
    func registerUser(
        _ id: UserID?, _ text: String, _ subject: String?, fresh: UInt128, _ ids: borrowing Identities, _ frame: EventFrame,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let user = registeredUser(id, ids) {
            guard users[user].registeredAs > 0, ids.names.text(Int(users[user].registeredAs) - 1) == Username.foldKey(text) else {
                throw .identifierTaken
            }
            // Two callers with two subjects are two people, of whom the second must not be taken for the first.
            if let subject, subject.utf8.count > 256 || owner(ofSubject: ids.subjects.find(subject)) != user { throw .otherSubject }
            return .duplicate(of: users[user].registeredAt...users[user].registeredAt)
        }
        guard let username = Username(text) else { throw .invalidUsername }
        guard bearer(ofName: ids.names.find(username.foldKey)) == nil else { throw .usernameTaken }
        if let subject {
            guard (1...256).contains(subject.utf8.count) else { throw .invalidSubject }
            guard owner(ofSubject: ids.subjects.find(subject)) == nil else { throw .subjectTaken }
        }
        var row = frame.row(.userRegistered)
        row.user = id?.bits ?? fresh
        batch.append(row, .registration(username, subject: subject))
        return .append
    }

    func changeUsername(
        _ id: UserID, _ text: String, _ ids: borrowing Identities, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try knownUser(id, ids)
        // Before the check of the name, which a former version may have accepted under another rule.
        if let present = users[user].username, let name = NameText.trimmed(text), present.utf8.elementsEqual(name.utf8) {
            return .unchanged
        }
        guard let username = Username(text) else { throw .invalidUsername }
        if let owner = bearer(ofName: ids.names.find(username.foldKey)), owner != user { throw .usernameTaken }
        var row = frame.row(.usernameChanged)
        row.user = id.bits
        batch.append(row, .username(username), EventIndexes(user: user))
        return .append
    }

    func setPostcode(
        _ id: UserID, _ text: String, _ ids: borrowing Identities, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try knownUser(id, ids)
        guard let postcode = Postcode(text) else { throw .invalidPostcode }
        guard users[user].postcode != postcode else { return .unchanged }
        let thread = ThreadID(postcode.outwardCode)
        var row = frame.row(.postcodeSet)
        (row.user, row.thread) = (id.bits, thread.bits)
        batch.append(row, .postcode(postcode), EventIndexes(user: user))
        guard let known = startedThread(thread, ids) else {
            appendOpening(thread, .none, id, user, frame, &batch)
            return .append
        }
        if !isMember(user, of: known, ids) {
            batch.append(frame.row(.threadJoined, thread, nextNumber(in: known), id), .none, EventIndexes(user: user, thread: known))
        }
        return .append
    }

    func startSession(
        _ id: UserID, _ session: SessionID?, _ device: String, fresh: UInt128, _ ids: borrowing Identities, _ frame: EventFrame,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let session, let known = ids.sessions.find(session) {
            guard ids.users.id(Int(sessions[known].user)) == id else { throw .identifierTaken }
            return .duplicate(of: sessions[known].startedAt...sessions[known].startedAt)
        }
        let user = try knownUser(id, ids)
        guard device.utf8.count <= 1_024 else { throw .invalidDevice }
        var row = frame.row(.sessionStarted)
        (row.user, row.post) = (id.bits, session?.bits ?? fresh)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    func endSession(
        _ session: SessionID, _ ids: borrowing Identities, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard let known = ids.sessions.find(session) else { throw .unknownSession }
        guard !sessions[known].hasEnded else { return .unchanged }
        let user = Int(sessions[known].user)
        var row = frame.row(.sessionEnded)
        (row.user, row.post) = (ids.users.id(user).bits, session.bits)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }
}
