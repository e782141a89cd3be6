import Columns

extension ChatState {
    /// Decides a command: which events follow from it, if any.
    ///
    /// Pure: the same state and arguments give the same answer. Refusals are checked in the order in which the rules of ``ChatDomain`` list them; an id that comes
    /// again from the same author for the same place is a duplicate before every other check.
    ///
    /// - Parameters:
    ///   - request: The command, its correlation id and its origin.
    ///   - now: The time of the clock; events are recorded at it, within the range of ``Event/recordedAt``, or at the time of the last event if that is later.
    ///   - freshID: An id that the events may use if the command bears none.
    /// - Returns: The events to append, or why there are none.
    /// - Throws: ``Rejection`` if the command breaks a rule.
    /// - Complexity: O(1) on average, and O(*n*) in the length of the command's text.
    public func decide(_ request: CommandRequest, at now: Timestamp, freshID: UInt128) throws(Rejection) -> Decision {
        let decision = try decideCommand(request, at: now, freshID: freshID)
        // Last, so that the command's own rules are answered first and a duplicate is one whatever came with it.
        if case .duplicate = decision { return decision }
        if let correlation = request.correlation, !(1...256).contains(correlation.utf8.count) { throw .invalidCorrelation }
        return decision
    }

    private func decideCommand(_ request: CommandRequest, at now: Timestamp, freshID: UInt128) throws(Rejection) -> Decision {
        let time = max(min(max(now, Event.recordable.lowerBound), Event.recordable.upperBound), lastRecordedAt)
        let frame = EventFrame(recordedAt: time, origin: request.origin, correlation: request.correlation)
        switch request.command {
        case .registerUser(let user, let username, let subject):
            return try registerUser(user, username, subject, fresh: UserID(bits: freshID), frame)
        case .changeUsername(let user, let username): return try changeUsername(user, username, frame)
        case .setPostcode(let user, let postcode): return try setPostcode(user, postcode, frame)
        case .openThread(let thread, let name, let by): return try openThread(thread, name, by, fresh: ThreadID(bits: freshID), frame)
        case .joinThread(let user, let thread): return try joinThread(user, thread, frame)
        case .leaveThread(let user, let thread): return try leaveThread(user, thread, frame)
        case .postMessage(let message, let thread, let author, let body):
            return try postMessage(message, thread, author, body, fresh: MessageID(bits: freshID), frame)
        case .reply(let reply, let message, let author, let body):
            return try postReply(reply, message, author, body, fresh: ReplyID(bits: freshID), frame)
        case .edit(let post, let by, let body): return try edit(post, by, body, frame)
        case .retract(let post, let by): return try retract(post, by, frame)
        case .markRead(let user, let thread, let upTo): return try markRead(user, thread, upTo, frame)
        case .startSession(let user, let session, let device):
            return try startSession(user, session, device, fresh: SessionID(bits: freshID), frame)
        case .endSession(let session): return try endSession(session, frame)
        }
    }
}

/// What every event of a decision shares: the time, the origin and the correlation id.
struct EventFrame {
    var recordedAt: Timestamp
    var origin: Origin
    var correlation: String?

    func event(_ fact: Fact, _ content: Content = .none) -> Event {
        Event(recordedAt: recordedAt, origin: origin, fact: fact, content: content, correlation: correlation)
    }
}

extension ChatState {
    func knownUser(_ id: UserID) throws(Rejection) -> Int {
        guard let user = registeredUser(id) else { throw .unknownUser }
        return user
    }

    func knownThread(_ id: ThreadID) throws(Rejection) -> Int {
        guard let thread = startedThread(id) else { throw .unknownThread }
        return thread
    }

    /// The number of the next event of a thread.
    func nextNumber(in thread: Int) -> UInt64 {
        // Wrapping, because a damaged journal can claim any number for its last event: an audit reports it, and nobody traps on it.
        threads[thread].eventCount &+ 1
    }

    func isMember(_ user: Int, of thread: Int) -> Bool { membership(of: user, in: thread)?.isMember ?? false }

    /// What is known of a user and a thread, nil if they never had to do with one another.
    package func membership(of user: Int, in thread: Int) -> MembershipRow? {
        dependents.memberships.find(user, thread).map { memberships[$0] }
    }

    /// The number of a user who has registered.
    package func registeredUser(_ id: UserID) -> Int? {
        guard let user = numbering.users.find(id), users[user].registeredAt > 0 else { return nil }
        return user
    }

    /// The number of a thread in which anything has happened: its opening or, where that was lost, anything else.
    package func startedThread(_ id: ThreadID) -> Int? {
        guard let thread = numbering.threads.find(id), threads[thread].eventCount > 0 else { return nil }
        return thread
    }
}
