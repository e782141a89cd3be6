import Columns

/// A rule of an earlier version that permitted more than the decider does now.
///
/// The list of these rules is complete: an event that no decider of this version appends, and that
/// none of them covers, is a fault. ``ChatState/faults(of:)`` and the importer of events accept
/// what an earlier rule covers, and a verification notes it.
///
/// A rule that becomes stricter gets a case here, with its kinds and its condition, and the decider
/// applies the stricter rule only to a command (`EventEnvelope.isAudit`).
public enum EarlierRule: String, CaseIterable, Hashable, Sendable, Codable {
    /// A user whose content was erased could be invited, muted, banned and blocked.
    case actsOnErasedUser
    /// A user could block any number of others.
    case anyNumberOfBlocks
    /// An operator who was neither owner nor moderator could invite everyone into every thread.
    case operatorInvites
    /// A name could differ from that of another user in white space or ignorable scalars alone.
    case namesThatLookAlike
    /// A user could open a direct thread of people of whom one has blocked another.
    case groupsWithBlocks
    /// A user could write in a direct thread of two whose other account is gone or has left.
    case postsToNobody
    /// A user could invite and block everyone whose id they had.
    case actsOnStranger
    /// A user who never was in a thread and was not invited to it could be muted and banned in it.
    case sanctionsOutsider

    /// A sentence for people; it may change between versions.
    public var message: String {
        switch self {
        case .actsOnErasedUser: "A user whose content was erased could be invited, muted, banned and blocked."
        case .anyNumberOfBlocks: "A user could block more than \(RuleState.maximumBlockCount) others."
        case .operatorInvites:
            "An operator who was neither owner nor moderator could invite everyone into every thread."
        case .namesThatLookAlike:
            "A name could differ from that of another user in white space or invisible characters alone."
        case .groupsWithBlocks: "A user could open a direct thread of people of whom one has blocked another."
        case .postsToNobody:
            "A user could write in a direct thread of two people whose other account is gone or has left."
        case .actsOnStranger: "A user could invite and block everyone whose id they had."
        case .sanctionsOutsider:
            "A user who never was in a thread and was not invited to it could be muted and banned in it."
        }
    }

    /// Whether the rule covers an event that is the next of a history.
    ///
    /// - Parameters:
    ///   - content: The event's content; read only if the kind is indexed.
    ///   - listed: The users whom the event lists.
    /// - Complexity: O(1) on average; for an invitation and a block O(*n*) in the number of threads
    ///   that the acting user ever joined.
    func covers(
        _ row: EventRow, _ content: borrowing EventContent, _ listed: [UserID], _ rules: borrowing RuleState,
        _ ids: Identities
    ) -> Bool {
        switch (self, row.kind) {
        case (.actsOnErasedUser, .userInvited), (.actsOnErasedUser, .userMuted), (.actsOnErasedUser, .userBanned):
            rules.isErased(UserID(bits: row.user), ids)
        case (.actsOnErasedUser, .userBlocked): rules.isErased(UserID(bits: row.secondID), ids)
        case (.anyNumberOfBlocks, .userBlocked): rules.hasMaximumBlocks(UserID(bits: row.user), ids)
        case (.operatorInvites, .userInvited): rules.isInvitedByOperator(row, ids)
        case (.namesThatLookAlike, .userRegistered), (.namesThatLookAlike, .usernameChanged):
            rules.looksLikeNameOfOther(content.username, than: ids.users.find(UserID(bits: row.user)), ids)
        case (.groupsWithBlocks, .directOpened):
            rules.hasBlock(amongOf: listed.compactMap { rules.registeredUser($0, ids) })
        case (.postsToNobody, .messagePosted), (.postsToNobody, .replyPosted): rules.isWrittenToNobody(row, ids)
        case (.actsOnStranger, .userInvited):
            rules.isStranger(UserID(bits: row.user), to: UserID(bits: row.secondID), isBlock: false, ids)
        case (.actsOnStranger, .userBlocked):
            rules.isStranger(UserID(bits: row.secondID), to: UserID(bits: row.user), isBlock: true, ids)
        case (.sanctionsOutsider, .userMuted), (.sanctionsOutsider, .userBanned): rules.isOutsider(row, ids)
        case (.actsOnErasedUser, _), (.anyNumberOfBlocks, _), (.operatorInvites, _), (.namesThatLookAlike, _),
            (.groupsWithBlocks, _),
            (.postsToNobody, _), (.actsOnStranger, _), (.sanctionsOutsider, _):
            false
        }
    }
}

extension ChatState {
    /// Returns the earlier rules that an event follows as the next event of this history.
    ///
    /// The result is empty if the event has a fault (``faults(of:)``), or if the decider of this
    /// version could have appended it.
    ///
    /// - Complexity: O(1) on average.
    public func earlierRules(of event: ChatEvent) -> [EarlierRule] {
        faults(of: event).isEmpty ? rules.earlierRules(of: event.row, event.content, event.mentions, identities) : []
    }
}

extension RuleState {
    /// Returns the earlier rules that cover an event.
    func earlierRules(
        of row: EventRow, _ content: borrowing EventContent, _ listed: [UserID], _ ids: Identities
    ) -> [EarlierRule] {
        var found: [EarlierRule] = []
        for rule in EarlierRule.allCases where rule.covers(row, content, listed, self, ids) { found.append(rule) }
        return found
    }

    /// Whether the author of a post is alone in a direct thread of two.
    fileprivate func isWrittenToNobody(_ row: EventRow, _ ids: Identities) -> Bool {
        guard let thread = existingThread(ThreadID(bits: row.thread), ids), threads[thread].isDirect,
            let author = registeredUser(UserID(bits: row.user), ids)
        else { return false }
        return isAlone(author, in: thread, ids)
    }

    fileprivate func hasMaximumBlocks(_ userID: UserID, _ ids: Identities) -> Bool {
        registeredUser(userID, ids).map { hasMaximumBlocks($0) } ?? false
    }

    /// Whether a user may not act on another one now.
    fileprivate func isStranger(_ userID: UserID, to actorID: UserID, isBlock: Bool, _ ids: Identities)
        -> Bool
    {
        guard let user = registeredUser(userID, ids), let actor = registeredUser(actorID, ids) else { return false }
        return !isPerson(user, to: actor, isBlock: isBlock, ids)
    }

    /// Whether a sanction is of a user who may not be muted and banned in the thread now.
    fileprivate func isOutsider(_ row: EventRow, _ ids: Identities) -> Bool {
        guard let user = registeredUser(UserID(bits: row.user), ids),
            let thread = existingThread(ThreadID(bits: row.thread), ids)
        else { return false }
        return !standing(of: user, in: thread, ids).isSanctionable
    }

    /// Whether an invitation is by an operator who may not invite the user now.
    fileprivate func isInvitedByOperator(_ row: EventRow, _ ids: Identities) -> Bool {
        guard let actor = registeredUser(UserID(bits: row.secondID), ids),
            let user = registeredUser(UserID(bits: row.user), ids),
            let thread = existingThread(ThreadID(bits: row.thread), ids)
        else { return false }
        return isOperator(actor) && !mayInvite(actor, user, thread, ids)
    }

    /// Whether another user has a name that is equal to this one now, and was not under the rules
    /// of versions before 0.1.0, which recorded this one.
    func looksLikeNameOfOther(_ name: Username?, than user: Int?, _ ids: Identities) -> Bool {
        guard let name, let owner = owner(ofName: ids.foldKeys.find(name.currentFoldKey)), owner != user,
            let other = users[owner].username
        else { return false }
        return name.foldKey == Username.formerFoldKey(name.text) && name.foldKey != Username.formerFoldKey(other)
    }

    fileprivate func isErased(_ userID: UserID, _ ids: Identities) -> Bool {
        registeredUser(userID, ids).map { users[$0].isErased } ?? false
    }
}
