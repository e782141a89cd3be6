import Columns

/// The end of the roles of a user whose content is erased, and their successors.
///
/// The store chooses the successors by its read models, which know who joined when. The events are
/// those of a change of role, in the name of the erased user.
extension RuleState {
    /// The maximum number of threads in which the roles of erased users end in one commit.
    package static var maximumSuccessionCount: Int { 1_000 }

    /// Appends the events that end a user's role in a thread: first the successor becomes an owner,
    /// if there is one, then the user a plain member.
    ///
    /// - Parameters:
    ///   - user: A user who is erased, or is by an event that the batch contains.
    ///   - successor: The member who becomes an owner; nil if the user was not the only owner, or
    ///     if no other member is left.
    ///   - thread: A thread that no other event of the batch belongs to, in which the user has a
    ///     role.
    package func endRole(
        of user: Int, in thread: Int, successor: Int?, _ ids: Identities, at now: Timestamp,
        into batch: inout EventBatch
    ) {
        let envelope = EventEnvelope(recordedAt: recordingTime(at: now), origin: .native, hasCorrelation: false)
        let (userID, threadID) = (ids.userID(user), ids.threads.id(thread))
        var number = nextNumber(in: thread)
        func append(_ concerned: Int, _ role: ThreadRole) {
            let row = envelope.row(
                .roleSet, threadID, number, ids.userID(concerned), otherActor: userID, value: role.code)
            batch.append(row, .none, EventIndexes(user: concerned, thread: thread))
            number &+= 1
        }
        if let successor { append(successor, .owner) }
        append(user, .member)
    }

    /// Appends the event that an operator whose content is erased is no operator any more.
    package func endOperator(_ user: Int, _ ids: Identities, at now: Timestamp, into batch: inout EventBatch) {
        var row = EventEnvelope(recordedAt: recordingTime(at: now), origin: .native, hasCorrelation: false).row(
            .operatorRevoked)
        row.user = ids.userID(user).bits
        batch.append(row, .none, EventIndexes(user: user))
    }

    /// Throws unless a change of role by an erased user is one of
    /// ``endRole(of:in:successor:_:at:into:)``.
    func requireSuccession(_ action: UserAction, to role: ThreadRole) throws(Rejection) {
        let isEnd = action.actor == action.user && role == .member
        let isHandover =
            role == .owner && isLastOwner(action.actorStanding, of: action.thread, evenIfClosed: true)
            && !users[action.user].isErased
        guard isEnd || isHandover else { throw .userErased }
    }
}
