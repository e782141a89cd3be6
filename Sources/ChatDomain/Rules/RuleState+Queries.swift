import Columns

/// Look-ups of single values.
extension RuleState {
    /// Returns the index of the user who has a username now, by the index of the name's fold key.
    func owner(ofName name: Int?) -> Int? {
        guard let name, name < usernameOwners.count, usernameOwners[name] > 0 else { return nil }
        return Int(usernameOwners[name]) - 1
    }

    /// Returns the index of the user who registered with a subject, by the index of the subject.
    func owner(ofSubject subject: Int?) -> Int? {
        guard let subject, subject < subjectOwners.count, subjectOwners[subject] > 0 else { return nil }
        return Int(subjectOwners[subject]) - 1
    }

    /// Returns the marks of a message.
    package func marks(message: Int) -> PostMarks { PostMarks(rawValue: messageMarks[message]) }

    /// Returns the marks of a reply.
    package func marks(reply: Int) -> PostMarks { PostMarks(rawValue: replyMarks[reply]) }

    /// Returns the number of a thread's next event.
    func nextNumber(in thread: Int) -> UInt64 {
        // Wrapping addition: a damaged journal can contain any number. The audit reports it;
        // nothing may trap.
        threads[thread].lastEventNumber &+ 1
    }

    /// Whether a user is an operator of the community.
    package func isOperator(_ user: Int) -> Bool { user < community.operators.count && community.operators[user] != 0 }

    /// Whether a sanction of a user in a thread holds at a time.
    package func isSanctioned(_ kind: SanctionKind, _ membership: Int, at time: Timestamp) -> Bool {
        guard memberships.standing(membership).has(kind) else { return false }
        return sanctionEnd(kind, membership).map { time < $0 } ?? true
    }

    /// Returns the end of the latest sanction of a user in a thread; nil if it has none.
    func sanctionEnd(_ kind: SanctionKind, _ membership: Int) -> Timestamp? {
        SanctionEnd.time(kind == .mute ? community.mutes[membership] : community.bans[membership])
    }

    /// Whether a message exists for a member: it was posted after the start of what they may read,
    /// or they are an operator, and it was posted after the thread last ceased to be `inviteOnly`.
    func isVisible(message: Int, to membership: Int, _ ids: borrowing Identities) -> Bool {
        let (thread, position) = (ids.messageFacts.parent(message), ids.messageFacts.position(message))
        return position > community.joins[membership]
            || threads[thread].policy != .inviteOnly && position > threads[thread].disclosedAt
                && isOperator(ids.memberships.pair(membership).first)
    }

    /// Whether a thread is a named one that an import opened.
    package func isImportedNamedThread(_ thread: Int, _ ids: borrowing Identities) -> Bool {
        threads[thread].openedAt > 0 && !threads[thread].canHaveOwners && ids.threads.id(thread).outwardCode == nil
    }

    /// Whether a thread was imported, and at most two users were ever members of it.
    func isImportedPair(_ thread: Int, _ ids: borrowing Identities) -> Bool {
        !threads[thread].hadThreeMembers && isImportedNamedThread(thread, ids)
    }

    /// Whether a thread takes only users with an invitation now.
    func isInviteOnly(_ thread: Int, _ ids: borrowing Identities) -> Bool {
        // The common case needs no id.
        threads[thread].policy == .inviteOnly && policy(of: thread, ids) == .inviteOnly
    }

    /// Returns the policy of a thread: that of an outward code's thread is `residents`.
    func policy(of thread: Int, _ ids: borrowing Identities) -> ThreadPolicy {
        ids.threads.id(thread).outwardCode == nil ? threads[thread].policy : .residents
    }
}
