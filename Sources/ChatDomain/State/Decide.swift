import Columns

extension RuleState {
    /// Decides a command, and adds the events that follow from it to a batch: see ``ChatState/decide(_:at:freshID:)``.
    ///
    /// - Parameters:
    ///   - ids: The identities, to which the events of the batch so far have been added.
    ///   - batch: Is left as it was if the command is refused.
    package func decide(
        _ request: borrowing CommandRequest, _ ids: borrowing Identities, at now: Timestamp, freshID: UInt128, into batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let time = max(min(max(now, ChatEvent.recordable.lowerBound), ChatEvent.recordable.upperBound), lastRecordedAt)
        let frame = EventFrame(recordedAt: time, origin: request.origin, hasCorrelation: request.correlation != nil)
        let count = batch.count
        let decision = try decide(request.command, ids, freshID, frame, &batch)
        // Last, so that the command's own rules are answered first and a duplicate is one whatever came with it.
        if case .duplicate = decision { return decision }
        if let correlation = request.correlation, !(1...256).contains(correlation.utf8.count) {
            batch.truncate(to: count)
            throw .invalidCorrelation
        }
        return decision
    }

    private func decide(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ freshID: UInt128, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        switch command {
        case .registerUser(let user, let username, let subject):
            return try registerUser(user, username, subject, fresh: freshID, ids, frame, &batch)
        case .changeUsername(let user, let username): return try changeUsername(user, username, ids, frame, &batch)
        case .setPostcode(let user, let postcode): return try setPostcode(user, postcode, ids, frame, &batch)
        case .openThread(let thread, let name, let by): return try openThread(thread, name, by, fresh: freshID, ids, frame, &batch)
        case .joinThread(let user, let thread): return try joinThread(user, thread, ids, frame, &batch)
        case .leaveThread(let user, let thread): return try leaveThread(user, thread, ids, frame, &batch)
        case .postMessage(let message, let thread, let author, let body):
            return try postMessage(message, thread, author, body, fresh: freshID, ids, frame, &batch)
        case .reply(let reply, let message, let author, let body):
            return try postReply(reply, message, author, body, fresh: freshID, ids, frame, &batch)
        case .edit(let post, let by, let body): return try edit(post, by, body, ids, frame, &batch)
        case .retract(let post, let by): return try retract(post, by, ids, frame, &batch)
        case .markRead(let user, let thread, let upTo): return try markRead(user, thread, upTo, ids, frame, &batch)
        case .startSession(let user, let session, let device):
            return try startSession(user, session, device, fresh: freshID, ids, frame, &batch)
        case .endSession(let session): return try endSession(session, ids, frame, &batch)
        }
    }
}

/// What every event of a decision shares: the time, the origin and whether there is a correlation id.
struct EventFrame {
    let recordedAt: Timestamp
    let origin: EventOrigin
    let hasCorrelation: Bool

    /// Makes the row of an event, without its ids.
    func row(_ kind: EventKind) -> EventRow {
        EventRow(
            kind: kind, flags: EventFlags(origin, hasCorrelation: hasCorrelation), recordedAt: recordedAt,
            createdAt: origin.sentAt ?? recordedAt)
    }

    /// Makes the row of an event of a thread.
    func row(_ kind: EventKind, _ thread: ThreadID, _ number: UInt64, _ user: UserID, post: UInt128 = 0, message: UInt128 = 0) -> EventRow {
        var row = row(kind)
        (row.user, row.thread, row.post, row.message, row.number) = (user.bits, thread.bits, post, message, number)
        return row
    }
}

extension RuleState {
    /// The index of a user who has registered.
    package func registeredUser(_ id: UserID, _ ids: borrowing Identities) -> Int? {
        guard let user = ids.users.find(id), user < users.count, users[user].registeredAt > 0 else { return nil }
        return user
    }

    /// The index of a thread in which anything has happened: its opening or, where that was lost, anything else.
    package func startedThread(_ id: ThreadID, _ ids: borrowing Identities) -> Int? {
        guard let thread = ids.threads.find(id), thread < threads.count, threads[thread].eventCount > 0 else { return nil }
        return thread
    }

    func knownUser(_ id: UserID, _ ids: borrowing Identities) throws(Rejection) -> Int {
        guard let user = registeredUser(id, ids) else { throw .unknownUser }
        return user
    }

    func knownThread(_ id: ThreadID, _ ids: borrowing Identities) throws(Rejection) -> Int {
        guard let thread = startedThread(id, ids) else { throw .unknownThread }
        return thread
    }

    /// What is known of a user in a thread, nil if no event has named the two together.
    package func membership(of user: Int, in thread: Int, _ ids: borrowing Identities) -> MembershipRow? {
        ids.memberships.find(user, thread).map { memberships[$0] }
    }

    func isMember(_ user: Int, of thread: Int, _ ids: borrowing Identities) -> Bool {
        membership(of: user, in: thread, ids)?.isMember ?? false
    }
}
