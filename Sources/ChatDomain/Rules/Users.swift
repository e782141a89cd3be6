import Columns

/// Users: registration and names.
extension RuleState {
    func registerUser(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let subject = command.label
        if let id = command.id, let user = registeredUser(UserID(bits: id), ids) {
            guard users[user].oneBasedFoldKeyAtRegistration > 0,
                ids.foldKeys.text(Int(users[user].oneBasedFoldKeyAtRegistration) - 1) == Username.foldKey(command.text)
            else {
                throw .identifierTaken
            }
            // Two subjects are two people: the second must not receive the first one's receipt.
            if let subject, !Subject.isValid(subject) || owner(ofSubject: ids.subjects.find(subject)) != user {
                throw .subjectMismatch
            }
            return .duplicate(of: users[user].registeredAt...users[user].registeredAt)
        }
        guard let username = envelope.recorded?.username ?? Username(command.text) else { throw .invalidUsername }
        try requireFree(username, for: nil, ids, envelope)
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
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireActor(command.actorID, ids)
        let username = envelope.recorded?.username ?? Username(command.text)
        // Precedes the check of the name: an earlier version may have accepted the current name
        // under other rules.
        if let current = users[user].username?.utf8,
            current.elementsEqual((username?.text ?? "").utf8)
                || current.elementsEqual(NameRules.trimmed(command.text).utf8)
        {
            return .unchanged
        }
        guard let username else { throw .invalidUsername }
        try requireFree(username, for: user, ids, envelope)
        var row = envelope.row(.usernameChanged)
        row.user = command.actorID.bits
        batch.append(row, .username(username), EventIndexes(user: user))
        return .append
    }

    /// Throws if a name belongs to another user.
    private func requireFree(
        _ name: Username, for user: Int?, _ ids: Identities, _ envelope: EventEnvelope
    ) throws(Rejection) {
        guard let owner = owner(ofName: ids.foldKeys.find(name.currentFoldKey)), owner != user else { return }
        guard envelope.isAudit, looksLikeNameOfOther(name, than: user, ids) else { throw .usernameTaken }
    }

    /// Records the text also if it is the current one: the rules keep no texts.
    func setProfile(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireActor(command.actorID, ids)
        guard ProfileText.isValid(ProfileText.trimmed(command.text)) else { throw .invalidAbout }
        var row = envelope.row(.profileSet)
        row.user = command.actorID.bits
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    /// Returns the index of a registered user.
    package func registeredUser(_ userID: UserID, _ ids: Identities) -> Int? {
        guard let user = ids.users.find(userID), user < users.count, users[user].registeredAt > 0 else { return nil }
        return user
    }

    /// Returns the index of a user who acts; they are registered and not erased.
    func requireActor(_ userID: UserID, _ ids: Identities) throws(Rejection) -> Int {
        let user = try requireRegistered(userID, ids)
        guard !users[user].isErased else { throw .userErased }
        return user
    }

    /// Returns the index of a user; of one on whom another user acts see
    /// ``requirePerson(_:for:isBlock:_:_:)``.
    func requireRegistered(_ userID: UserID, _ ids: Identities) throws(Rejection) -> Int {
        guard let user = registeredUser(userID, ids) else { throw .unknownUser }
        return user
    }

    /// Throws if a user who is invited, muted, banned or blocked is erased.
    func requireNotErased(_ user: Int, _ envelope: EventEnvelope) throws(Rejection) {
        if users[user].isErased, !envelope.isAudit { throw .userErased }
    }

    /// Returns the index of the user who has a username now, by the index of the name's fold key.
    func owner(ofName name: Int?) -> Int? {
        guard let name, name < usernameOwners.count, usernameOwners[name] > 0 else { return nil }
        return Int(usernameOwners[name]) - 1
    }

    /// Returns the index of the user who registered with a subject, by the index of the subject.
    func owner(ofSubject subject: Int?) -> Int? {
        guard let subject, subject < subjectOwners.count, subjectOwners[subject] > 0 else { return nil }
        return Int(subjectOwners[subject]) - 1
    }

    mutating func register(_ user: Int, _ content: borrowing EventBatch.IndexedContent, at position: Position) {
        guard users[user].registeredAt == 0 else { return }
        users[user].registeredAt = position
        users[user].oneBasedFoldKeyAtRegistration = content.oneBasedFoldKey
        setUsername(user, content)
        guard content.oneBasedSubject > 0 else { return }
        while subjectOwners.count < Int(content.oneBasedSubject) { subjectOwners.append(0) }
        let subject = Int(content.oneBasedSubject) - 1
        // Each owner knows their subject: no decider gives it to a second one.
        if subjectOwners[subject] > 0 { users[Int(subjectOwners[subject]) - 1].oneBasedSubject = 0 }
        subjectOwners[subject] = UInt32(truncatingIfNeeded: user + 1)
        users[user].oneBasedSubject = content.oneBasedSubject
    }

    /// Sets a user's username, or none if it was erased, and frees the former one.
    mutating func setUsername(_ user: Int, _ content: borrowing EventBatch.IndexedContent) {
        let owner = UInt32(truncatingIfNeeded: user + 1)
        let former = Int(users[user].oneBasedFoldKey) - 1
        if former >= 0, usernameOwners[former] == owner { usernameOwners[former] = 0 }
        users[user].oneBasedFoldKey = content.oneBasedFoldKey
        users[user].username = content.content.username?.text
        guard content.oneBasedFoldKey > 0 else { return }
        while usernameOwners.count < Int(content.oneBasedFoldKey) { usernameOwners.append(0) }
        // Under earlier rules several users could have names that are equal now: the first one
        // holds the key.
        if usernameOwners[Int(content.oneBasedFoldKey) - 1] == 0 {
            usernameOwners[Int(content.oneBasedFoldKey) - 1] = owner
        }
    }
}
