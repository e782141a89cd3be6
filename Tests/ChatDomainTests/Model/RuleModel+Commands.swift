import ChatDomain

extension RuleModel {
    mutating func answer(_ request: CommandRequest, _ draft: Draft) throws(Refusal) -> Answer {
        switch request.command {
        case .registerUser(let user, let username, let subject): try register(user, username, subject, draft)
        case .changeUsername(let user, let username): try rename(user, username, draft)
        case .setPostcode(let user, let postcode): try move(user, postcode, draft)
        case .openThread(let thread, let name, let by, let policy, let history): try open(thread, name, by, policy, history, draft)
        case .joinThread(let user, let thread): try join(user, thread, draft)
        case .leaveThread(let user, let thread): try leave(user, thread, draft)
        case .postMessage(let message, let thread, let author, let body): try post(message, thread, author, body, draft)
        case .reply(let reply, let message, let author, let body): try self.reply(reply, message, author, body, draft)
        case .edit(.message(let message), let by, let body): try editMessage(message, by, body, draft)
        case .edit(.reply(let reply), let by, let body): try editReply(reply, by, body, draft)
        case .retract(.message(let message), let by): try retractMessage(message, by, draft)
        case .retract(.reply(let reply), let by): try retractReply(reply, by, draft)
        case .markRead(let user, let thread, let upTo): try markRead(user, thread, upTo, draft)
        case .startSession(let user, let session, let device): try startSession(user, session, device, draft)
        case .endSession(let session): try endSession(session, draft)
        case .invite(let user, let thread, let by): try invite(user, thread, by, draft)
        case .acceptInvitation(let user, let thread): try accept(user, thread, draft)
        case .declineInvitation(let user, let thread): try decline(user, thread, draft)
        case .revokeInvitation(let user, let thread, let by): try revokeInvitation(user, thread, by, draft)
        case .setRole(let user, let thread, let role, let by): try setRole(user, thread, role, by, draft)
        case .grantOperator(let user): try setOperator(user, true, draft)
        case .revokeOperator(let user): try setOperator(user, false, draft)
        case .remove(let post, let by, let reason): try remove(post, by, reason, draft)
        case .mute(let user, let thread, let by, let reason, let until): try mute(user, thread, by, reason, until, draft)
        case .unmute(let user, let thread, let by): try unmute(user, thread, by, draft)
        case .ban(let user, let thread, let by, let reason, let until): try ban(user, thread, by, reason, until, draft)
        case .unban(let user, let thread, let by): try unban(user, thread, by, draft)
        case .removeMember(let user, let thread, let by, let reason): try removeMember(user, thread, by, reason, draft)
        case .pin(let message, let by): try pin(message, by, draft)
        case .unpin(let message, let by): try unpin(message, by, draft)
        case .lockThread(let thread, let by): try setLock(thread, by, true, draft)
        case .unlockThread(let thread, let by): try setLock(thread, by, false, draft)
        case .closeThread(let thread, let by): try close(thread, by, draft)
        case .setThreadPolicy(let thread, let policy, let history, let by): try setPolicy(thread, policy, history, by, draft)
        case .report(let post, let by, let reason): try report(post, by, reason, draft)
        case .resolveReport(let post, let by): try resolve(post, by, draft)
        case .block(let user, let by): try setBlock(user, by, true, draft)
        case .unblock(let user, let by): try setBlock(user, by, false, draft)
        case .custom(let id, let kind, let thread, let by, let payload): try custom(id, kind, thread, by, payload, draft)
        }
    }

    private func owner(ofName text: String) -> UserID? {
        users.first { Username.foldKey($0.value.name) == Username.foldKey(text) }?.key
    }

    // MARK: Users

    private mutating func register(_ id: UserID?, _ text: String, _ subject: String?, _ draft: Draft) throws(Refusal) -> Answer {
        if let id, let user = users[id] {
            try check(Username.foldKey(user.firstName) == Username.foldKey(text), .identifierTaken)
            if let subject { try check(Array((user.subject ?? "").utf8) == Array(subject.utf8) && user.subject != nil, .subjectTaken) }
            return .duplicate(first: user.position, last: user.position)
        }
        guard let username = Username(text) else { throw Refusal(code: .invalidUsername) }
        try check(owner(ofName: text) == nil, .usernameTaken)
        if let subject {
            try check(!subject.utf8.isEmpty && subject.utf8.count <= 256, .subjectTaken)
            try check(!users.values.contains { Array(($0.subject ?? "").utf8) == Array(subject.utf8) }, .subjectTaken)
        }
        let user = id ?? UserID(bits: draft.freshID)
        users[user] = User(firstName: username.text, name: username.text, subject: subject, position: head + 1)
        return append([(.init(.userRegistered, .user(user)), .registration(username, subject: subject))], draft)
    }

    private mutating func rename(_ user: UserID, _ text: String, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        guard let username = Username(text) else { throw Refusal(code: .invalidUsername) }
        try check(owner(ofName: text) == nil || owner(ofName: text) == user, .usernameTaken)
        if Array((users[user]?.name ?? "").utf8) == Array(username.text.utf8) { return .nothing }
        users[user]?.name = username.text
        return append([(.init(.usernameChanged, .user(user)), .username(username))], draft)
    }

    private mutating func move(_ user: UserID, _ text: String, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        guard let postcode = Postcode(text) else { throw Refusal(code: .invalidPostcode) }
        if users[user]?.postcode == postcode { return .nothing }
        let thread = ThreadID(postcode.outwardCode)
        var facts: [(EventDetails, EventContent)] = [(.init(.postcodeSet, .postcode(user: user, thread: thread)), .postcode(postcode))]
        if threads[thread] == nil {
            threads[thread] = Thread(
                opener: user, opened: head + 2...head + 3, isOutward: true, canHaveOwner: false, policy: .residents)
            facts.append((.init(.threadOpened, .thread(thread, number: 1, user: user)), .none))
        }
        if let known = threads[thread], known.roles[user] == nil, !known.isLocked, !known.isClosed,
            !isInEffect(known.bans, user, at: draft.time)
        {
            let number = next(thread, after: UInt64(facts.count - 1))
            facts.append((.init(.threadJoined, .thread(thread, number: number, user: user)), .none))
            becomeMember(user, thread, at: head + Position(facts.count))
        }
        users[user]?.postcode = postcode
        return append(facts, draft)
    }

    // MARK: Threads

    private mutating func open(
        _ id: ThreadID?, _ text: String, _ by: UserID, _ policy: ThreadPolicy, _ history: ThreadHistory, _ draft: Draft
    ) throws(Refusal) -> Answer {
        let code = id?.outwardCode
        // The id of an outward code's thread is reserved. Only an import can open that thread,
        // under that code.
        if let code { try check(draft.isImport && OutwardCode(text) == code, .identifierTaken) }
        let isDefault = policy == .open && history == .all
        if let id, let thread = threads[id] {
            if thread.opener == by { return .duplicate(first: thread.opened.lowerBound, last: thread.opened.upperBound) }
            try check(code != nil, .identifierTaken)
            try check(users[by] != nil, .unknownUser)
            try check(isDefault, .invalidPolicy)
            return .nothing
        }
        try check(users[by] != nil, .unknownUser)
        var content = EventContent.none
        if code == nil {
            guard let name = ThreadName(text) else { throw Refusal(code: .invalidThreadName) }
            content = .threadName(name.text)
        }
        try check(policy != .residents, .invalidPolicy)
        // An import opens its threads with the whole history, and those of outward codes as they are.
        if draft.isImport { try check(history == .all && (policy == .open || code == nil), .invalidPolicy) }
        let thread = id ?? ThreadID(bits: draft.freshID)
        var opened = Thread(
            opener: by, opened: head + 1...head + 2, isOutward: code != nil, canHaveOwner: code == nil && !draft.isImport,
            policy: code == nil ? .open : .residents)
        opened.isImported = code == nil && draft.isImport
        var facts: [(EventDetails, EventContent)] = [(.init(.threadOpened, .thread(thread, number: 1, user: by)), content)]
        if !isDefault {
            (opened.policy, opened.history, opened.opened) = (policy, history, head + 1...head + 3)
            facts.append((.init(.threadPolicySet, .policy(thread: thread, number: 2, policy: policy, history: history, by: by)), .none))
        }
        facts.append((.init(.threadJoined, .thread(thread, number: UInt64(facts.count + 1), user: by)), .none))
        threads[thread] = opened
        becomeMember(by, thread, at: opened.opened.upperBound, opened.canHaveOwner ? .owner : .member)
        return append(facts, draft)
    }

    private mutating func join(_ user: UserID, _ id: ThreadID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        guard knows(user, id, draft), let thread = threads[id] else { throw Refusal(code: .unknownThread) }
        if thread.roles[user] != nil { return .nothing }
        try checkJoining(user, thread, draft)
        try checkResidence(user, id, draft)
        if thread.policy == .inviteOnly, !(thread.isImported && draft.isImport) {
            try check(thread.invited.contains(user), .notInvited)
        }
        becomeMember(user, id, at: head + 1)
        return append([(.init(.threadJoined, .thread(id, number: next(id), user: user)), .none)], draft)
    }

    private mutating func leave(_ user: UserID, _ id: ThreadID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        try check(knows(user, id, draft), .unknownThread)
        if !isMember(user, id) { return .nothing }
        try check(!isLastOwner(user, id), .lastOwner)
        threads[id]?.roles[user] = nil
        return append([(.init(.threadLeft, .thread(id, number: next(id), user: user)), .none)], draft)
    }

    private mutating func markRead(_ user: UserID, _ id: ThreadID, _ upTo: Position, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        try check(knows(user, id, draft), .unknownThread)
        try check(isMember(user, id), .notAMember)
        try check(upTo <= head, .invalidPosition)
        if upTo <= markers[user]?[id] ?? 0 { return .nothing }
        markers[user, default: [:]][id] = upTo
        return append([(.init(.threadRead, .marker(user: user, thread: id, upTo: upTo)), .none)], draft)
    }

    // MARK: Sessions

    private mutating func startSession(_ user: UserID, _ id: SessionID?, _ device: String, _ draft: Draft) throws(Refusal) -> Answer {
        if let id, let session = sessions[id] {
            try check(session.user == user, .identifierTaken)
            return .duplicate(first: session.position, last: session.position)
        }
        try check(users[user] != nil, .unknownUser)
        try check(device.utf8.count <= 1_024, .invalidDevice)
        let session = id ?? SessionID(bits: draft.freshID)
        sessions[session] = Session(user: user, position: head + 1)
        return append([(.init(.sessionStarted, .session(user: user, session: session)), .device(device))], draft)
    }

    private mutating func endSession(_ id: SessionID, _ draft: Draft) throws(Refusal) -> Answer {
        guard let session = sessions[id] else { throw Refusal(code: .unknownSession) }
        if session.ended { return .nothing }
        sessions[id]?.ended = true
        return append([(.init(.sessionEnded, .session(user: session.user, session: id)), .none)], draft)
    }
}
