import Columns

/// Threads, membership and read markers.
extension ChatState {
    func openThread(
        _ id: ThreadID?, _ text: String, _ by: UserID, fresh: ThreadID, _ frame: EventFrame
    ) throws(Rejection) -> Decision {
        if let id {
            if let code = id.outwardCode { return try importThread(of: code, text, by, frame) }
            if let thread = startedThread(id) {
                guard threads[thread].openedAt > 0, numbering.users.id(threads[thread].openedBy) == by else { throw .identifierTaken }
                return firstReceipt(ofThread: thread)
            }
        }
        _ = try knownUser(by)
        guard let name = ThreadName(text) else { throw .invalidThreadName }
        return .append(opening(id ?? fresh, .threadName(name.text), by: by, frame))
    }

    /// The events that open a thread: whoever opens it joins it.
    func opening(_ thread: ThreadID, _ name: Content, by: UserID, _ frame: EventFrame) -> [Event] {
        [
            frame.event(.threadOpened(ThreadOpened(thread: thread, number: 1, by: by)), name),
            frame.event(.threadJoined(ThreadJoined(thread: thread, number: 2, user: by))),
        ]
    }

    /// Whoever opens a thread joins it in the next event.
    private func firstReceipt(ofThread thread: Int) -> Decision { .duplicate(of: threads[thread].openedAt...threads[thread].openedAt + 1) }

    /// The id of an outward code's thread is the code's own, whether that thread is open or not: nobody opens it but by living there, or an import
    /// that brings its history.
    private func importThread(of code: OutwardCode, _ text: String, _ by: UserID, _ frame: EventFrame) throws(Rejection) -> Decision {
        guard case .imported = frame.origin, OutwardCode(text) == code else { throw .identifierTaken }
        let thread = ThreadID(code)
        let known = startedThread(thread)
        if let known, threads[known].openedAt > 0, numbering.users.id(threads[known].openedBy) == by {
            return firstReceipt(ofThread: known)
        }
        _ = try knownUser(by)
        // Two writers that open one outward code open one thread, whoever came first.
        guard known == nil else { return .unchanged }
        return .append(opening(thread, .none, by: by, frame))
    }

    func joinThread(_ id: UserID, _ threadID: ThreadID, _ frame: EventFrame) throws(Rejection) -> Decision {
        let user = try knownUser(id)
        let thread = try knownThread(threadID)
        guard !isMember(user, of: thread) else { return .unchanged }
        if threadID.outwardCode != nil, users[user].residence != threadID, frame.origin == .native { throw .notResident }
        let fact = ThreadJoined(thread: threadID, number: nextNumber(in: thread), user: id)
        return .append([frame.event(.threadJoined(fact))])
    }

    func leaveThread(_ id: UserID, _ threadID: ThreadID, _ frame: EventFrame) throws(Rejection) -> Decision {
        let user = try knownUser(id)
        let thread = try knownThread(threadID)
        guard isMember(user, of: thread) else { return .unchanged }
        let fact = ThreadLeft(thread: threadID, number: nextNumber(in: thread), user: id)
        return .append([frame.event(.threadLeft(fact))])
    }

    func markRead(_ id: UserID, _ threadID: ThreadID, _ upTo: Position, _ frame: EventFrame) throws(Rejection) -> Decision {
        let user = try knownUser(id)
        let thread = try knownThread(threadID)
        guard let membership = membership(of: user, in: thread), membership.isMember else { throw .notAMember }
        guard upTo <= head else { throw .invalidPosition }
        guard upTo > membership.readUpTo else { return .unchanged }
        return .append([frame.event(.threadRead(ThreadRead(user: id, thread: threadID, upTo: upTo)))])
    }
}
