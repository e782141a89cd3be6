import Columns

extension ChatState {
    /// Moves the state on by one recorded event; events never fail to apply.
    ///
    /// Works on the event's fact alone, but for the indexes over content (usernames, subjects, postcodes), which simply lack what has been erased. Whoever an
    /// event names gets a number, also where the event that registered or opened them was lost; a reply or a change of a message that was never heard
    /// of changes only ``head``.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - position: Where it stands in the journal.
    /// - Complexity: O(1) on average.
    public mutating func evolve(_ event: Event, at position: Position) { _ = resolvingEvolve(event.row, event.content, at: position) }

    /// Moves the state on and tells which rows the event was about, so that a read model need not look up the same ids again.
    ///
    /// - Parameter content: The event's content where its kind ``EventKind/isIndexed``; anything for another kind.
    package mutating func resolvingEvolve(_ event: EventRow, _ content: borrowing Content, at position: Position) -> EventNumbers {
        head = position
        lastRecordedAt = max(lastRecordedAt, event.recordedAt)
        var numbers = EventNumbers()
        guard let kind = event.kind else {
            hasUnknownEvents = true
            return numbers
        }
        if kind != .lost { numbers.user = user(event.user) }
        if kind.isNumbered {
            numbers.thread = thread(event.thread)
            threads[numbers.thread].eventCount = event.number
        }
        switch kind {
        case .userRegistered: numbers.isNew = register(numbers.user, content, at: position)
        case .usernameChanged: name(numbers.user, content.username)
        case .postcodeSet:
            numbers.thread = thread(event.thread)
            users[numbers.user].postcode = content.postcode
            users[numbers.user].residence = ThreadID(bits: event.thread)
        case .threadOpened:
            numbers.isNew = threads[numbers.thread].openedAt == 0
            if numbers.isNew {
                threads[numbers.thread].openedAt = position
                threads[numbers.thread].openedBy = numbers.user
            }
        case .threadJoined: changeMembership(&numbers) { Self.set(&$0.isMember, true) }
        case .threadLeft: changeMembership(&numbers) { Self.set(&$0.isMember, false) }
        case .threadRead:
            numbers.thread = thread(event.thread)
            changeMembership(&numbers) { Self.set(&$0.readUpTo, event.number) }
        case .messagePosted:
            (numbers.post, numbers.isNew) = messages.append(
                event.post, at: position, place: numbers.thread, author: numbers.user, isImported: event.isImported)
        case .replyPosted:
            guard let message = messages.find(event.message) else { break }
            numbers.message = message
            (numbers.post, numbers.isNew) = replies.append(
                event.post, at: position, place: message, author: numbers.user, isImported: event.isImported)
            messages.markHistory(message)
        case .messageEdited:
            guard let message = messages.find(event.post) else { break }
            (numbers.post, numbers.isNew) = (message, true)
            messages.markHistory(message)
        case .replyEdited:
            guard let reply = replies.find(event.post) else { break }
            (numbers.post, numbers.isNew) = (reply, true)
            replies.markHistory(reply)
        case .messageRetracted:
            guard let message = messages.find(event.post) else { break }
            (numbers.post, numbers.isNew) = (message, !messages.isRetracted(message))
            messages.markRetracted(message)
        case .replyRetracted:
            guard let reply = replies.find(event.post) else { break }
            (numbers.post, numbers.message, numbers.isNew) = (reply, replies.place(reply), !replies.isRetracted(reply))
            replies.markRetracted(reply)
        case .sessionStarted:
            numbers.isNew = sessionNumbers.insert(SessionID(bits: event.post)).isNew
            if numbers.isNew { sessions.append(SessionRow(startedAt: position, user: UInt32(numbers.user))) }
        case .sessionEnded:
            guard let session = sessionNumbers.find(SessionID(bits: event.post)) else { break }
            sessions[session].hasEnded = true
        case .lost: lostEvents += 1
        }
        return numbers
    }

    /// The number of a user, registered or not.
    private mutating func user(_ id: UInt128) -> Int {
        let (user, isNew) = userNumbers.insert(UserID(bits: id))
        if isNew { users.append(UserRow()) }
        return user
    }

    /// The number of a thread, open or not.
    private mutating func thread(_ id: UInt128) -> Int {
        let (thread, isNew) = threadNumbers.insert(ThreadID(bits: id))
        if isNew { threads.append(ThreadRow()) }
        return thread
    }

    private mutating func register(_ user: Int, _ content: borrowing Content, at position: Position) -> Bool {
        guard users[user].registeredAt == 0 else { return false }
        users[user].registeredAt = position
        users[user].registeredAs = content.username?.foldKey
        name(user, content.username)
        if let subject = content.subject { usersBySubject[Array(subject.utf8)] = user }
        return true
    }

    /// Gives a user a username (nil where it has been erased) and frees the former one at once.
    private mutating func name(_ user: Int, _ username: Username?) {
        if let former = users[user].foldKey, usersByName[former] == user { usersByName[former] = nil }
        users[user].foldKey = username?.foldKey
        users[user].username = username?.text
        if let username { usersByName[username.foldKey] = user }
    }

    private mutating func changeMembership(_ numbers: inout EventNumbers, _ change: (inout MembershipRow) -> Bool) {
        let (membership, isNew) = membershipNumbers.insert(numbers.user, numbers.thread)
        if isNew { memberships.append(MembershipRow()) }
        numbers.membership = membership
        numbers.isNew = change(&memberships[membership])
    }

    /// Sets a value; returns whether it was another.
    private static func set<Value: Equatable>(_ value: inout Value, _ new: Value) -> Bool {
        defer { value = new }
        return value != new
    }
}

extension ChatState {
    /// Moves the state on by consecutive events, as ``resolvingEvolve(_:_:at:)`` does by one.
    package mutating func resolvingEvolve(_ events: EventRows) -> [EventNumbers] {
        _ = userNumbers.warm(events.rows.map(\.user))
        _ = messages.ids.warm(
            events.rows.compactMap { event in
                switch event.kind {
                case .messagePosted, .messageEdited, .messageRetracted: event.post
                case .replyPosted: event.message
                default: nil
                }
            })
        var numbers: [EventNumbers] = []
        numbers.reserveCapacity(events.rows.count)
        events.forEach { event, content, position in numbers.append(resolvingEvolve(event, content, at: position)) }
        return numbers
    }
}

/// The rows that an event is about; -1 where there is none.
package struct EventNumbers {
    /// Who did it, or whom it concerns.
    package var user = -1
    /// The thread; for a postcode that of its outward code.
    package var thread = -1
    /// The row of ``ChatState/memberships`` of that user and that thread, for the events that change it.
    package var membership = -1
    /// The message or the reply.
    package var post = -1
    /// The message that the reply answers, where the event posts or retracts a reply.
    package var message = -1
    /// Whether the event changed anything: an id that was new, a membership that was not so, a post that was there to be changed.
    package var isNew = false
}
