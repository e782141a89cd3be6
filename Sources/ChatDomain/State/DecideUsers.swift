import Columns

/// Users and sessions.
extension ChatState {
    func registerUser(
        _ id: UserID?, _ text: String, _ subject: String?, fresh: UserID, _ frame: EventFrame
    ) throws(Rejection) -> Decision {
        if let id, let user = registeredUser(id) {
            guard let registered = users[user].registeredAs, registered == Username.foldKey(text) else { throw .identifierTaken }
            // Two callers with two subjects are two people, of whom the second must not be taken for the first.
            if let subject, usersBySubject[Array(subject.utf8.prefix(257))] != user { throw .otherSubject }
            return .duplicate(of: users[user].registeredAt...users[user].registeredAt)
        }
        guard let username = Username(text) else { throw .invalidUsername }
        guard usersByName[username.foldKey] == nil else { throw .usernameTaken }
        if let subject {
            let bytes = Array(subject.utf8.prefix(257))
            guard (1...256).contains(bytes.count) else { throw .invalidSubject }
            guard usersBySubject[bytes] == nil else { throw .subjectTaken }
        }
        let fact = UserRegistered(user: id ?? fresh)
        return .append([frame.event(.userRegistered(fact), .registration(username, subject: subject))])
    }

    func changeUsername(_ id: UserID, _ text: String, _ frame: EventFrame) throws(Rejection) -> Decision {
        let user = try knownUser(id)
        // Before the check of the name, which a former version may have accepted under another rule.
        if let present = users[user].username, let name = NameText.trimmed(text), present.utf8.elementsEqual(name.utf8) {
            return .unchanged
        }
        guard let username = Username(text) else { throw .invalidUsername }
        if let owner = usersByName[username.foldKey], owner != user { throw .usernameTaken }
        return .append([frame.event(.usernameChanged(UsernameChanged(user: id)), .username(username))])
    }

    func setPostcode(_ id: UserID, _ text: String, _ frame: EventFrame) throws(Rejection) -> Decision {
        let user = try knownUser(id)
        guard let postcode = Postcode(text) else { throw .invalidPostcode }
        guard users[user].postcode != postcode else { return .unchanged }
        let thread = ThreadID(postcode.outwardCode)
        var events = [frame.event(.postcodeSet(PostcodeSet(user: id, thread: thread)), .postcode(postcode))]
        guard let known = startedThread(thread) else { return .append(events + opening(thread, .none, by: id, frame)) }
        if !isMember(user, of: known) {
            events.append(frame.event(.threadJoined(ThreadJoined(thread: thread, number: nextNumber(in: known), user: id))))
        }
        return .append(events)
    }

    func startSession(
        _ id: UserID, _ session: SessionID?, _ device: String, fresh: SessionID, _ frame: EventFrame
    ) throws(Rejection) -> Decision {
        if let session, let known = dependents.sessions.find(session) {
            guard numbering.users.id(Int(sessions[known].user)) == id else { throw .identifierTaken }
            return .duplicate(of: sessions[known].startedAt...sessions[known].startedAt)
        }
        _ = try knownUser(id)
        guard device.utf8.count <= 1_024 else { throw .invalidDevice }
        return .append([frame.event(.sessionStarted(SessionStarted(user: id, session: session ?? fresh)), .device(device))])
    }

    func endSession(_ session: SessionID, _ frame: EventFrame) throws(Rejection) -> Decision {
        guard let known = dependents.sessions.find(session) else { throw .unknownSession }
        guard !sessions[known].hasEnded else { return .unchanged }
        let user = numbering.users.id(Int(sessions[known].user))
        return .append([frame.event(.sessionEnded(SessionEnded(user: user, session: session)))])
    }
}
