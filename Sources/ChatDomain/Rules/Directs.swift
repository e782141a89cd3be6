import Columns

/// Direct threads: one for each set of people, whom it never gains and who may leave and come back.
///
/// A direct thread is `inviteOnly` without invitations and without roles, so that the rules of
/// private threads keep everybody else out, and operators have no rights in it
/// (``operates(_:_:)``).
extension RuleState {
    /// The maximum number of people of a direct thread, of whom one opens it.
    static var maximumPeopleCount: Int { 8 }

    func openDirect(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if command.id != nil, let thread = existingThread(ThreadID(bits: envelope.id), ids),
            isOpening(of: thread, command, ids)
        {
            return duplicateOpening(ofDirect: thread, ids)
        }
        let opener = try requireActor(command.actorID, ids)
        var people = [command.actorID]
        for user in command.mentions where !people.contains(user) {
            guard people.count < Self.maximumPeopleCount else { throw .invalidPeople }
            people.append(user)
        }
        guard people.count > 1 else { throw .invalidPeople }
        let registered = people.map { registeredUser($0, ids) }
        let indexes = registered.compactMap(\.self)
        let isComplete = indexes.count == people.count
        if isComplete, let thread = ids.directs.thread(of: indexes) {
            if isMember(opener, of: thread, ids) { return duplicateOpening(ofDirect: thread, ids) }
            // A user may always come back. A block stops what they write, not the join.
            appendJoin(command.actorID, opener, thread, ids, envelope, &batch)
            return .append
        }
        // One rejection for every reason, so that it does not tell whether a user exists or has
        // blocked the opener.
        for other in registered.dropFirst() where !mayMessage(opener, other, ids) { throw .cannotMessage }
        guard envelope.isAudit || !hasBlock(amongOf: indexes) else { throw .cannotMessage }
        let threadID = ThreadID(bits: envelope.id)
        guard threadID.outwardCode == nil, existingThread(threadID, ids) == nil else { throw .identifierTaken }
        batch.append(
            envelope.row(.directOpened, threadID, 1, command.actorID), .none, EventIndexes(user: opener),
            mentions: people)
        for (number, person) in people.enumerated() {
            batch.append(
                envelope.row(.threadJoined, threadID, UInt64(number) + 2, person), .none,
                EventIndexes(user: indexes[number]))
        }
        return .append
    }

    /// Whether a command, with the same id, opened a direct thread.
    private func isOpening(of thread: Int, _ command: borrowing ChatCommand, _ ids: Identities) -> Bool {
        guard threads[thread].isDirect, ids.users.id(threads[thread].openedBy) == command.actorID else { return false }
        return Set(ids.directs.people(of: thread).map { ids.users.id($0) }) == Set(command.mentions + [command.actorID])
    }

    /// Returns the positions of the opening of a direct thread and of the joins that follow it.
    private func duplicateOpening(ofDirect thread: Int, _ ids: Identities) -> BatchDecision {
        .duplicate(
            of: threads[thread].openedAt...threads[thread].openedAt + Position(ids.directs.people(of: thread).count))
    }

    /// Whether a user can open a direct thread with another one: both are members of some thread,
    /// the other is not erased, and neither has blocked the other.
    ///
    /// The time tells nothing else about the other one: all threads of the opener are looked at
    /// until one is shared, also for a user who does not exist, and the block only then.
    ///
    /// - Parameter other: The other user; nil for one who is not registered.
    /// - Complexity: O(*n*) in the number of threads that the opener ever joined.
    private func mayMessage(_ opener: Int, _ other: Int?, _ ids: Identities) -> Bool {
        // No user has this index.
        let index = other ?? ids.users.count
        var next = memberships.last(of: opener)
        while let membership = next, !isShared(membership, with: index, ids) {
            next = memberships.membership(before: membership)
        }
        guard next != nil, let other else { return false }
        return !users[other].isErased && !isBlocked(other, by: opener) && !isBlocked(opener, by: other)
    }

    /// Whether one of some users has blocked another of them.
    func hasBlock(amongOf users: [Int]) -> Bool {
        users.contains { user in users.contains { isBlocked($0, by: user) } }
    }

    /// Whether a membership holds, and another user is a member of its thread too.
    private func isShared(_ membership: Int, with user: Int, _ ids: Identities) -> Bool {
        memberships.standing(membership).isMember && isMember(user, of: ids.memberships.pair(membership).second, ids)
    }

    /// Throws if one of the two people of a direct thread has blocked the other.
    func requireNoBlock(in thread: Int, _ ids: Identities) throws(Rejection) {
        let people = ids.directs.people(of: thread)
        guard people.count == 2 else { return }
        if isBlocked(people[0], by: people[1]) || isBlocked(people[1], by: people[0]) { throw .cannotMessage }
    }

    /// Returns the other one of the two people of a direct thread; nil for any other thread or
    /// user.
    private func otherOfTwo(_ thread: Int, than user: Int, _ ids: Identities) -> Int? {
        guard threads[thread].isDirect, !threads[thread].isGroup else { return nil }
        let people = ids.directs.people(of: thread)
        return people.contains(user) ? people.first { $0 != user } : nil
    }

    /// Whether a user who writes in a direct thread of two is alone there: the other has left, or
    /// their content was erased.
    func isAlone(_ user: Int, in thread: Int, _ ids: Identities) -> Bool {
        guard let other = otherOfTwo(thread, than: user, ids) else { return false }
        return users[other].isErased || !isMember(other, of: thread, ids)
    }

    /// Returns the user whom a message or a reply brings back to a direct thread of two, which they
    /// have left; none in an audit, which sees their join by itself.
    ///
    /// - Throws: `cannotMessage` if the other one is gone, or the author could not open the thread
    ///   with them now.
    @inline(__always)
    func userBroughtBack(
        by author: Int, to thread: Int, _ ids: Identities, _ envelope: EventEnvelope
    ) throws(Rejection) -> Int? {
        guard threads[thread].isDirect, !envelope.isAudit, isAlone(author, in: thread, ids),
            let other = otherOfTwo(thread, than: author, ids)
        else { return nil }
        guard mayMessage(author, other, ids) else { throw .cannotMessage }
        return other
    }

    /// Whether a user decides the open reports of a post of a direct thread: as an operator who is
    /// no member.
    func decidesReports(of found: FoundPost, _ actor: Int, _ ids: Identities) -> Bool {
        threads[found.thread].isDirect && isOperator(actor) && !isMember(actor, of: found.thread, ids)
            && hasOpenReports(found.post)
    }

    /// Applies the opening of a direct thread.
    mutating func applyDirectOpening(_ indexes: EventIndexes, peopleCount: Int, at position: Position) {
        threads[indexes.thread].openedAt = position
        threads[indexes.thread].openedBy = indexes.user
        threads[indexes.thread].isDirect = true
        threads[indexes.thread].isGroup = peopleCount > 2
        // For all others it does not exist.
        threads[indexes.thread].policy = .inviteOnly
    }
}
