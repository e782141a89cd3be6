import ChatDomain

extension ChatCommand {
    /// The message that a command names.
    fileprivate var message: MessageID { if case .message(let id) = post { id } else { MessageID(bits: 0) } }
}

extension RuleModel {
    mutating func answer(_ request: CommandRequest, _ draft: Draft) throws(Refusal) -> Answer {
        let command = request.command
        let (by, thread, text) = (command.actorID, command.threadID, command.text)
        return switch command.kind {
        case .registerUser: try register(command.id.map(UserID.init(bits:)), text, command.label, draft)
        case .changeUsername: try rename(by, text, draft)
        case .setPostcode: try move(by, text, draft)
        case .openThread:
            try open(command.id.map(ThreadID.init(bits:)), text, by, command.policy, command.history ?? .all, draft)
        case .openDirect: try openDirect(command.id.map(ThreadID.init(bits:)), by, command.mentions, draft)
        case .joinThread: try join(by, thread, draft)
        case .leaveThread: try leave(by, thread, draft)
        case .postMessage:
            try post(command.id.map(MessageID.init(bits:)), thread, by, text, mentions: command.mentions, draft)
        case .reply:
            try self.reply(
                command.id.map(ReplyID.init(bits:)), command.message, by, text, mentions: command.mentions, draft)
        case .edit:
            try edit(
                command.id.map(EditID.init(bits:)), command.post, by, text, mentions: command.mentions,
                replaces: command.replaces, draft)
        case .retract:
            switch command.post {
            case .message(let message): try retractMessage(message, by, draft)
            case .reply(let reply): try retractReply(reply, by, draft)
            }
        case .markRead: try markRead(by, thread, command.upTo, draft)
        case .startSession: try startSession(by, command.id.map(SessionID.init(bits:)), text, draft)
        case .endSession: try endSession(SessionID(bits: command.id ?? 0), draft)
        case .invite: try invite(command.userID, thread, by, draft)
        case .acceptInvitation: try accept(by, thread, draft)
        case .declineInvitation: try decline(by, thread, draft)
        case .revokeInvitation: try revokeInvitation(command.userID, thread, by, draft)
        case .setRole: try setRole(command.userID, thread, command.role, by, draft)
        case .grantOperator: try setOperator(command.userID, true, draft)
        case .revokeOperator: try setOperator(command.userID, false, draft)
        case .remove: try remove(command.post, by, text, draft)
        case .mute: try mute(command.userID, thread, by, text, command.until, draft)
        case .unmute: try unmute(command.userID, thread, by, draft)
        case .ban: try ban(command.userID, thread, by, text, command.until, draft)
        case .unban: try unban(command.userID, thread, by, draft)
        case .removeMember: try removeMember(command.userID, thread, by, text, draft)
        case .pin: try pin(command.message, by, draft)
        case .unpin: try unpin(command.message, by, draft)
        case .react: try react(command.post, by, command.text, draft)
        case .unreact: try unreact(command.post, by, command.text, draft)
        case .lockThread: try setLock(thread, by, true, draft)
        case .unlockThread: try setLock(thread, by, false, draft)
        case .closeThread: try close(thread, by, draft)
        case .renameThread: try renameThread(thread, text, by, draft)
        case .setThreadPolicy: try setPolicy(thread, command.policy, command.history, by, draft)
        case .report: try report(command.post, by, text, draft)
        case .resolveReport: try resolve(command.post, by, draft)
        case .block: try setBlock(command.userID, by, true, draft)
        case .unblock: try setBlock(command.userID, by, false, draft)
        case .markUnread: try markUnread(by, thread, command.from, draft)
        case .setNotifications: try setNotifications(by, thread, command.level, command.until, draft)
        case .markInboxRead: try markInboxRead(by, command.upTo, draft)
        case .setProfile: try setProfile(by, text, draft)
        case .custom:
            try custom(
                command.id.map(CustomEventID.init(bits:)), command.label ?? "", thread, by, command.payload, draft)
        }
    }

    private func owner(ofName text: String) -> UserID? {
        users.first { Username.foldKey($0.value.name) == Username.foldKey(text) }?.key
    }

    // MARK: Users

    private mutating func register(_ id: UserID?, _ text: String, _ subject: String?, _ draft: Draft) throws(Refusal)
        -> Answer
    {
        if let id, let user = users[id] {
            try check(Username.foldKey(user.firstName) == Username.foldKey(text), .identifierTaken)
            if let subject {
                try check(Array((user.subject ?? "").utf8) == Array(subject.utf8) && user.subject != nil, .subjectTaken)
            }
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
        var facts: [(EventDetails, EventContent)] = [
            (.init(.postcodeSet, .postcode(user: user, thread: thread)), .postcode(postcode))
        ]
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
            if thread.opener == by, thread.people == nil {
                return .duplicate(first: thread.opened.lowerBound, last: thread.opened.upperBound)
            }
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
        // An import opens its threads with the whole history, and those of outward codes as they
        // are.
        if draft.isImport { try check(history == .all && (policy == .open || code == nil), .invalidPolicy) }
        let thread = id ?? ThreadID(bits: draft.freshID)
        var opened = Thread(
            opener: by, opened: head + 1...head + 2, isOutward: code != nil,
            canHaveOwner: code == nil && !draft.isImport,
            policy: code == nil ? .open : .residents)
        opened.isImported = code == nil && draft.isImport
        var facts: [(EventDetails, EventContent)] = [
            (.init(.threadOpened, .thread(thread, number: 1, user: by)), content)
        ]
        if !isDefault {
            (opened.policy, opened.history, opened.opened) = (policy, history, head + 1...head + 3)
            facts.append(
                (
                    .init(
                        .threadPolicySet, .policy(thread: thread, number: 2, policy: policy, history: history, by: by)),
                    .none
                ))
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

    private mutating func markRead(_ user: UserID, _ id: ThreadID, _ upTo: Position, _ draft: Draft) throws(Refusal)
        -> Answer
    {
        try check(users[user] != nil, .unknownUser)
        try check(knows(user, id, draft), .unknownThread)
        try check(isMember(user, id), .notAMember)
        try check(upTo <= head, .invalidPosition)
        if upTo <= markers[user]?[id] ?? 0 { return .nothing }
        markers[user, default: [:]][id] = upTo
        return append([(.init(.threadRead, .marker(user: user, thread: id, upTo: upTo)), .none)], draft)
    }

    private mutating func markUnread(_ user: UserID, _ id: ThreadID, _ from: Position, _ draft: Draft) throws(Refusal)
        -> Answer
    {
        try check(users[user] != nil, .unknownUser)
        try check(knows(user, id, draft), .unknownThread)
        try check(isMember(user, id), .notAMember)
        try check(from > 0 && from <= head, .invalidPosition)
        if markers[user]?[id] ?? 0 < from { return .nothing }
        markers[user, default: [:]][id] = from - 1
        return append([(.init(.threadMarkedUnread, .marker(user: user, thread: id, upTo: from - 1)), .none)], draft)
    }

    private mutating func setNotifications(
        _ user: UserID, _ id: ThreadID, _ level: NotificationLevel, _ until: Timestamp?, _ draft: Draft
    ) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        try check(knows(user, id, draft), .unknownThread)
        try check(isMember(user, id), .notAMember)
        var current = levels[user]?[id] ?? Level()
        if case .at(let end) = current.end, end <= draft.time { current = Level() }
        let new = Level(level: level, end: Self.end(until))
        if current == new { return .nothing }
        try checkEnd(until, draft)
        levels[user, default: [:]][id] = new
        return append(
            [(.init(.notificationsSet, .notifications(user: user, thread: id, level: level, until: until)), .none)],
            draft)
    }

    private mutating func markInboxRead(_ user: UserID, _ upTo: Position, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        try check(upTo <= head, .invalidPosition)
        if upTo <= inboxMarkers[user] ?? 0 { return .nothing }
        inboxMarkers[user] = upTo
        return append([(.init(.inboxRead, .inbox(user: user, upTo: upTo)), .none)], draft)
    }

    private mutating func setProfile(_ user: UserID, _ text: String, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        var scalars = Array(text.unicodeScalars)
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        let controls = scalars.filter { $0.properties.generalCategory == .control }
        try check(scalars.count <= 500 && Set(controls).isSubset(of: ["\n", "\r"]), .invalidAbout)
        var about = String.UnicodeScalarView()
        about.append(contentsOf: scalars)
        return append([(.init(.profileSet, .user(user)), .about(String(about)))], draft)
    }

    // MARK: Sessions

    private mutating func startSession(_ user: UserID, _ id: SessionID?, _ device: String, _ draft: Draft)
        throws(Refusal) -> Answer
    {
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
