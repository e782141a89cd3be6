import Columns

/// Whom a user may act on: a person whom they know from the chat, and nobody whose id they merely
/// have.
///
/// What the rules keep for it follows from the kept parts of events: who has acted on whom
/// (``CommunityState/acts``), who was a member (``Standing/hasBeenMember``), and the newest message of a
/// member (``MembershipTable/newestMessage(_:)``).
extension RuleState {
    /// Returns the index of a user on whom another user acts: every command that names one uses
    /// this function.
    ///
    /// All others are unknown, so that an id does not tell whether it exists.
    ///
    /// - Parameter isBlock: Whether the command sets or ends a block, which is also for users whom
    ///   the acting user has blocked.
    /// - Complexity: O(*n*) in the number of threads that the acting user ever joined, and for an
    ///   operator also those of the other one.
    func requirePerson(
        _ userID: UserID, for actor: Int, isBlock: Bool = false, _ ids: Identities, _ envelope: EventEnvelope
    ) throws(Rejection) -> Int {
        let found = registeredUser(userID, ids)
        // No user has this index, and the time does not tell whether one exists.
        let user = found ?? ids.users.count
        let knowsAll = envelope.isAudit || envelope.origin != .native
        guard knowsAll || isPerson(user, to: actor, isBlock: isBlock, ids), let found else { throw .unknownUser }
        return found
    }

    /// Whether a user may act on another one: themself, a member of a thread in common, one who is
    /// or was in a thread that they moderate or is invited, muted or banned there, the author of a
    /// post that they may read, or one who has acted on them; for a block also one whom they have
    /// blocked.
    func isPerson(_ user: Int, to actor: Int, isBlock: Bool, _ ids: Identities) -> Bool {
        if user == actor || community.acts.find(actor, user) != nil { return true }
        if isBlock, community.blockPairs.find(actor, user) != nil { return true }
        var next = memberships.last(of: actor)
        while let membership = next {
            if isPerson(user, toMember: membership, ids) { return true }
            next = memberships.membership(before: membership)
        }
        return isOperator(actor) && isModerated(user, ids)
    }

    private func isPerson(_ user: Int, toMember membership: Int, _ ids: Identities) -> Bool {
        let own = memberships.standing(membership)
        guard own.isMember, let other = ids.memberships.find(user, ids.memberships.pair(membership).second) else {
            return false
        }
        let standing = memberships.standing(other)
        if standing.isMember { return true }
        if let role = own.role, role >= .moderator, standing.isShownToModerators { return true }
        return memberships.newestMessage(other).map { isVisible(message: $0, to: membership, ids) } ?? false
    }

    /// Whether an operator moderates a thread that shows the user to them.
    private func isModerated(_ user: Int, _ ids: Identities) -> Bool {
        var next = memberships.last(of: user)
        while let membership = next {
            let thread = ids.memberships.pair(membership).second
            if !threads[thread].isDirect, memberships.standing(membership).isShownToModerators { return true }
            next = memberships.membership(before: membership)
        }
        return false
    }

    /// Records on whom the user of an event acts: the user concerned, those whom the text mentions,
    /// and the author of a post that gets a reaction or is removed.
    ///
    /// The opening of a direct thread acts on its people, whose joins follow (``join(_:at:)``).
    mutating func applyActs(_ batch: borrowing EventBatch, _ row: Int, _ kind: EventKind) {
        let indexes = batch.indexes[row]
        if kind.form.hasOtherActor { return community.addAct(on: indexes.user, by: indexes.secondIndex) }
        let isActOnAuthor = kind == .reactionAdded || kind == .messageRemoved || kind == .replyRemoved
        guard isActOnAuthor || batch.rows[row].hasMentions else { return }
        for concerned in batch.concerned(by: row) where isActOnAuthor || concerned.relation == .mentioned {
            community.addAct(on: concerned.user, by: indexes.user)
        }
    }
}

extension CommunityState {
    /// Records that a user has acted on another one.
    mutating func addAct(on user: Int, by actor: Int) { if user != actor { _ = acts.insert(user, actor) } }
}

extension Standing {
    /// Whether lists of the thread's moderators have the user, or had them as a member.
    fileprivate var isShownToModerators: Bool { isSanctionable || hasMute || hasBan }
}
