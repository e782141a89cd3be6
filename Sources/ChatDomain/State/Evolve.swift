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
        var numbers = numbering.resolve(event)
        dependents.resolve(event, &numbers)
        evolve(event, content, at: position, &numbers)
        return numbers
    }

    /// Moves the state on by an event that has its numbers.
    ///
    /// - Parameter numbers: What of them is known only here is put in.
    private mutating func evolve(_ event: EventRow, _ content: borrowing Content, at position: Position, _ numbers: inout EventNumbers) {
        head = position
        lastRecordedAt = max(lastRecordedAt, event.recordedAt)
        guard let kind = event.kind else {
            hasUnknownEvents = true
            return
        }
        // Whoever and whatever has a number has a row, also where the event that registered or opened them was lost.
        while users.count <= numbers.user { users.append(UserRow()) }
        while threads.count <= numbers.thread { threads.append(ThreadRow()) }
        if kind.isNumbered { threads[numbers.thread].eventCount = event.number }
        switch kind {
        case .userRegistered: numbers.isNew = register(numbers.user, content, at: position)
        case .usernameChanged: name(numbers.user, content.username)
        case .postcodeSet:
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
        case .threadRead: changeMembership(&numbers) { Self.set(&$0.readUpTo, event.number) }
        case .messagePosted:
            if numbers.isNew { messages.append(at: position, place: numbers.thread, author: numbers.user, isImported: event.isImported) }
        case .replyPosted:
            guard numbers.message >= 0 else { break }
            if numbers.isNew { replies.append(at: position, place: numbers.message, author: numbers.user, isImported: event.isImported) }
            messages.markHistory(numbers.message)
        case .messageEdited:
            numbers.isNew = numbers.post >= 0
            if numbers.isNew { messages.markHistory(numbers.post) }
        case .replyEdited:
            numbers.isNew = numbers.post >= 0
            if numbers.isNew { replies.markHistory(numbers.post) }
        case .messageRetracted:
            guard numbers.post >= 0 else { break }
            numbers.isNew = !messages.isRetracted(numbers.post)
            messages.markRetracted(numbers.post)
        case .replyRetracted:
            guard numbers.post >= 0 else { break }
            (numbers.messageEntry, numbers.isNew) = (replies.places[numbers.post] + 1, !replies.isRetracted(numbers.post))
            replies.markRetracted(numbers.post)
        case .sessionStarted:
            if numbers.isNew { sessions.append(SessionRow(startedAt: position, user: UInt32(numbers.user))) }
        case .sessionEnded: if numbers.post >= 0 { sessions[numbers.post].hasEnded = true }
        case .lost: lostEvents += 1
        }
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
        if numbers.membership == memberships.count { memberships.append(MembershipRow()) }
        numbers.isNew = change(&memberships[numbers.membership])
    }

    /// Sets a value; returns whether it was another.
    private static func set<Value: Equatable>(_ value: inout Value, _ new: Value) -> Bool {
        defer { value = new }
        return value != new
    }
}

extension ChatState {
    /// Gives consecutive events their numbers.
    package mutating func resolve(_ events: inout NumberedEvents) { numbering.resolve(&events) }

    /// Moves the state on by consecutive events, as ``resolvingEvolve(_:_:at:)`` does by one.
    ///
    /// ``numbering``, which gave them their first numbers, may be elsewhere meanwhile.
    package mutating func evolve(_ events: inout NumberedEvents) {
        while users.count < events.userCount { users.append(UserRow()) }
        while threads.count < events.threadCount { threads.append(ThreadRow()) }
        var numbers: [EventNumbers] = []
        swap(&numbers, &events.numbers)
        let rows = events.events.rows
        dependents.resolve(rows, &numbers)
        events.divide(numbers)
        // The new messages first, because the others may refer to them, and they refer to none of the others.
        let posted = events.messages
        messages.append(
            count: posted.count, position: { events.position(posted[$0]) }, place: { numbers[posted[$0]].threadEntry - 1 },
            author: { numbers[posted[$0]].userEntry - 1 }, isImported: { rows[posted[$0]].isImported })
        events.forEachOther(
            joins: { memberships.append(members: $0.count) },
            other: { index, content in evolve(rows[index], content, at: events.position(index), &numbers[index]) })
        // Then, again in the order of all, what the last event says.
        for row in rows { lastRecordedAt = max(lastRecordedAt, row.recordedAt) }
        threads.update(rows.count, at: { rows[$0].kind?.isNumbered == true ? numbers[$0].thread : -1 }) { thread, index in
            thread.eventCount = rows[index].number
        }
        if let last = rows.indices.last { head = events.position(last) }
        swap(&numbers, &events.numbers)
    }

    /// Makes room for so many things, before the first of them.
    package mutating func reserve(_ sizes: StateSizes) {
        numbering.reserve(sizes)
        dependents.reserve(sizes)
    }

    /// Exchanges the numbering for that of another state: gives it away, so that events can get their numbers elsewhere, and takes it back.
    package mutating func exchangeNumbering(with other: inout ChatState) { swap(&numbering, &other.numbering) }
}
