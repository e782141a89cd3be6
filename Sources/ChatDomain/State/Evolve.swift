extension ChatState {
    /// Moves the state on by one recorded event; events never fail to apply.
    ///
    /// Works on the event's fact alone, but for the indexes over content (usernames, subjects, postcodes), which simply lack what has been erased. An event
    /// about something that was never heard of, which no journal of this decider holds, changes only ``head``.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - position: Where it stands in the journal.
    /// - Complexity: O(1) on average.
    public mutating func evolve(_ event: Event, at position: Position) {
        head = position
        lastRecordedAt = max(lastRecordedAt, event.recordedAt)
        if let thread = event.fact.thread, let number = event.fact.threadNumber, let row = threadNumbers.find(thread) {
            threads[row].eventCount = number
        }
        switch event.fact {
        case .userRegistered(let fact): register(fact.user, event, at: position)
        case .usernameChanged(let fact):
            if let user = userNumbers.find(fact.user) { name(user, event.username) }
        case .postcodeSet(let fact):
            if let user = userNumbers.find(fact.user) {
                users[user].postcode = event.postcode
                users[user].residence = fact.thread
            }
        case .threadOpened(let fact):
            if let user = userNumbers.find(fact.by), threadNumbers.insert(fact.thread).isNew {
                threads.append(ThreadRow(openedAt: position, openedBy: user, eventCount: fact.number))
            }
        case .threadJoined(let fact): setMembership(of: fact.user, in: fact.thread) { $0.isMember = true }
        case .threadLeft(let fact): setMembership(of: fact.user, in: fact.thread) { $0.isMember = false }
        case .messagePosted(let fact):
            if let thread = threadNumbers.find(fact.thread), let author = userNumbers.find(fact.author),
                messageNumbers.insert(fact.message).isNew
            {
                messages.append(PostRow(position: position, place: thread, author: author))
            }
        case .replyPosted(let fact):
            if let message = messageNumbers.find(fact.message), let author = userNumbers.find(fact.author),
                replyNumbers.insert(fact.reply).isNew
            {
                replies.append(PostRow(position: position, place: message, author: author))
            }
        case .messageRetracted(let fact):
            if let message = messageNumbers.find(fact.message) { messages[message].isRetracted = true }
        case .replyRetracted(let fact):
            if let reply = replyNumbers.find(fact.reply) { replies[reply].isRetracted = true }
        case .threadRead(let fact): setMembership(of: fact.user, in: fact.thread) { $0.readUpTo = fact.upTo }
        case .sessionStarted(let fact):
            if let user = userNumbers.find(fact.user), sessionNumbers.insert(fact.session).isNew {
                sessions.append(SessionRow(startedAt: position, user: user))
            }
        case .sessionEnded(let fact):
            if let session = sessionNumbers.find(fact.session) { sessions[session].hasEnded = true }
        case .messageEdited, .replyEdited: break
        case .lost: lostEvents += 1
        case .unknown: hasUnknownEvents = true
        }
    }

    private mutating func register(_ id: UserID, _ event: Event, at position: Position) {
        let (user, isNew) = userNumbers.insert(id)
        guard isNew else { return }
        users.append(UserRow(registeredAt: position, registeredAs: event.username?.foldKey))
        name(user, event.username)
        if let subject = event.subject { usersBySubject[Array(subject.utf8)] = user }
    }

    /// Gives a user a username (nil where it has been erased) and frees the former one at once.
    private mutating func name(_ user: Int, _ username: Username?) {
        if let former = users[user].foldKey { usersByName[former] = nil }
        users[user].foldKey = username?.foldKey
        users[user].username = username?.text
        if let username { usersByName[username.foldKey] = user }
    }

    private mutating func setMembership(of userID: UserID, in threadID: ThreadID, _ change: (inout MembershipRow) -> Void) {
        guard let user = userNumbers.find(userID), let thread = threadNumbers.find(threadID) else { return }
        change(&memberships[MembershipKey(user: user, thread: thread), default: MembershipRow()])
    }
}
