import Columns

/// Threads, membership and read markers.
extension RuleState {
    func openThread(
        _ id: ThreadID?, _ text: String, _ by: UserID, fresh: UInt128, _ ids: borrowing Identities, _ frame: EventFrame,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id {
            if let code = id.outwardCode { return try importThread(of: code, text, by, ids, frame, &batch) }
            if let thread = startedThread(id, ids) {
                guard threads[thread].openedAt > 0, ids.users.id(threads[thread].openedBy) == by else { throw .identifierTaken }
                return firstReceipt(ofThread: thread)
            }
        }
        let user = try knownUser(by, ids)
        guard let name = ThreadName(text) else { throw .invalidThreadName }
        appendOpening(id ?? ThreadID(bits: fresh), .threadName(name.text), by, user, frame, &batch)
        return .append
    }

    /// Adds the events that open a thread: its opener joins it.
    func appendOpening(
        _ thread: ThreadID, _ name: EventContent, _ by: UserID, _ user: Int, _ frame: EventFrame, _ batch: inout EventBatch
    ) {
        batch.append(frame.row(.threadOpened, thread, 1, by), name, EventIndexes(user: user))
        batch.append(frame.row(.threadJoined, thread, 2, by), .none, EventIndexes(user: user))
    }

    /// The opener of a thread joins it in the next event.
    private func firstReceipt(ofThread thread: Int) -> BatchDecision {
        .duplicate(of: threads[thread].openedAt...threads[thread].openedAt + 1)
    }

    /// The id of an outward code's thread is the code's own, whether that thread is open or not: it is opened by a resident, or by an import
    /// that brings its history.
    private func importThread(
        of code: OutwardCode, _ text: String, _ by: UserID, _ ids: borrowing Identities, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard case .imported = frame.origin, OutwardCode(text) == code else { throw .identifierTaken }
        let thread = ThreadID(code)
        let known = startedThread(thread, ids)
        if let known, threads[known].openedAt > 0, ids.users.id(threads[known].openedBy) == by {
            return firstReceipt(ofThread: known)
        }
        let user = try knownUser(by, ids)
        // Two writers that open one outward code open one thread.
        guard known == nil else { return .unchanged }
        appendOpening(thread, .none, by, user, frame, &batch)
        return .append
    }

    func joinThread(
        _ id: UserID, _ threadID: ThreadID, _ ids: borrowing Identities, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try knownUser(id, ids)
        let thread = try knownThread(threadID, ids)
        guard !isMember(user, of: thread, ids) else { return .unchanged }
        if threadID.outwardCode != nil, users[user].residence != EventIndexes.entry(thread), frame.origin == .native { throw .notResident }
        batch.append(
            frame.row(.threadJoined, threadID, nextNumber(in: thread), id), .none, EventIndexes(user: user, thread: thread))
        return .append
    }

    func leaveThread(
        _ id: UserID, _ threadID: ThreadID, _ ids: borrowing Identities, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try knownUser(id, ids)
        let thread = try knownThread(threadID, ids)
        guard isMember(user, of: thread, ids) else { return .unchanged }
        batch.append(frame.row(.threadLeft, threadID, nextNumber(in: thread), id), .none, EventIndexes(user: user, thread: thread))
        return .append
    }

    func markRead(
        _ id: UserID, _ threadID: ThreadID, _ upTo: Position, _ ids: borrowing Identities, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try knownUser(id, ids)
        let thread = try knownThread(threadID, ids)
        guard let membership = membership(of: user, in: thread, ids), membership.isMember else { throw .notAMember }
        guard upTo <= head else { throw .invalidPosition }
        guard upTo > membership.readUpTo else { return .unchanged }
        batch.append(frame.row(.threadRead, threadID, upTo, id), .none, EventIndexes(user: user, thread: thread))
        return .append
    }
}
