import Columns

/// The change of the rules by each kind of event.
extension RuleState {
    /// Applies the next events; this never fails.
    ///
    /// Reads the kept parts and the indexed content (usernames, subjects, postcodes); erased
    /// content is missing from the indexes.
    ///
    /// - Parameters:
    ///   - batch: A resolved batch.
    ///   - rows: The rows to apply, ascending.
    /// - Complexity: O(1) per event.
    package mutating func apply(_ batch: borrowing EventBatch, _ rows: Range<Int>) {
        for row in rows { apply(batch, row) }
    }

    @inline(__always)
    private mutating func apply(_ batch: borrowing EventBatch, _ row: Int) {
        let (event, indexes, position) = (batch.rows[row], batch.indexes[row], batch.position(row))
        head = position
        lastRecordedAt = mayBeginLower(event) ? event.recordedAt : max(lastRecordedAt, event.recordedAt)
        isAfterLoss = event.kind == .lost
        guard let kind = event.kind else {
            hasUnknownEvents = true
            return
        }
        // Every index has a row, even if the event that registered the user or opened the thread
        // was lost.
        while users.count <= indexes.user { users.append(UserRow()) }
        while threads.count <= indexes.thread { threads.append(ThreadRow()) }
        if kind.form.isNumbered { threads[indexes.thread].lastEventNumber = event.number }
        switch kind {
        case .userRegistered: register(indexes.user, batch.content(of: row), at: position)
        case .usernameChanged: setUsername(indexes.user, batch.content(of: row))
        case .postcodeSet:
            users[indexes.user].postcode = batch.content(of: row).content.postcode
            users[indexes.user].oneBasedResidence = EventIndexes.oneBased(indexes.thread)
        case .threadOpened: if threads[indexes.thread].openedAt == 0 { open(event, indexes, at: position) }
        case .threadJoined: join(indexes, at: position)
        case .threadLeft: changeRole(indexes, to: nil)
        case .threadRead: changeMembership(indexes) { $0.setReadUpTo(event.number, $1) }
        case .messagePosted: if indexes.isNew { messageMarks.appendZero() }
        case .replyPosted: if indexes.isNew { replyMarks.appendZero() }
        case .messageRetracted: if indexes.secondIndex >= 0 { withdraw(message: indexes.secondIndex, .retracted, indexes.thread) }
        case .replyRetracted: if indexes.secondIndex >= 0 { replyMarks[indexes.secondIndex] |= PostMarks.retracted.rawValue }
        case .messageEdited, .replyEdited: break
        case .sessionStarted:
            if indexes.isNew { sessions.append(SessionRow(startedAt: position, user: UInt32(truncatingIfNeeded: indexes.user))) }
        case .sessionEnded: if indexes.secondIndex >= 0 { sessions[indexes.secondIndex].hasEnded = true }
        case .lost: lostEventCount += 1
        default: applyCommunity(kind, event, indexes, at: position)
        }
    }

    private mutating func register(_ user: Int, _ content: borrowing EventBatch.IndexedContent, at position: Position) {
        guard users[user].registeredAt == 0 else { return }
        users[user].registeredAt = position
        users[user].oneBasedFoldKeyAtRegistration = content.oneBasedFoldKey
        setUsername(user, content)
        guard content.oneBasedSubject > 0 else { return }
        while subjectOwners.count < Int(content.oneBasedSubject) { subjectOwners.append(0) }
        let subject = Int(content.oneBasedSubject) - 1
        // Each owner knows their subject: no decider gives it to a second one.
        if subjectOwners[subject] > 0 { users[Int(subjectOwners[subject]) - 1].oneBasedSubject = 0 }
        subjectOwners[subject] = UInt32(truncatingIfNeeded: user + 1)
        users[user].oneBasedSubject = content.oneBasedSubject
    }

    /// Forgets what the rules know of a user's content, and frees their username and subject.
    private mutating func forget(_ user: Int) {
        let owner = UInt32(truncatingIfNeeded: user + 1)
        let (name, subject) = (Int(users[user].oneBasedFoldKey) - 1, Int(users[user].oneBasedSubject) - 1)
        if name >= 0, usernameOwners[name] == owner { usernameOwners[name] = 0 }
        if subject >= 0, subjectOwners[subject] == owner { subjectOwners[subject] = 0 }
        (users[user].username, users[user].postcode) = (nil, nil)
        (users[user].oneBasedFoldKey, users[user].oneBasedFoldKeyAtRegistration, users[user].oneBasedSubject) = (0, 0, 0)
        users[user].isErased = true
    }

    /// Sets a user's username, or none if it was erased, and frees the former one.
    private mutating func setUsername(_ user: Int, _ content: borrowing EventBatch.IndexedContent) {
        let owner = UInt32(truncatingIfNeeded: user + 1)
        let former = Int(users[user].oneBasedFoldKey) - 1
        if former >= 0, usernameOwners[former] == owner { usernameOwners[former] = 0 }
        users[user].oneBasedFoldKey = content.oneBasedFoldKey
        users[user].username = content.content.username?.text
        guard content.oneBasedFoldKey > 0 else { return }
        while usernameOwners.count < Int(content.oneBasedFoldKey) { usernameOwners.append(0) }
        // Under earlier rules several users could have names that are equal now: the first one holds
        // the key.
        if usernameOwners[Int(content.oneBasedFoldKey) - 1] == 0 { usernameOwners[Int(content.oneBasedFoldKey) - 1] = owner }
    }

    /// Changes the membership of an event, adding its row if it is new.
    private mutating func changeMembership(_ indexes: EventIndexes, _ change: (inout MembershipTable, Int) -> Void) {
        if indexes.membership == memberships.count { memberships.append() }
        change(&memberships, indexes.membership)
    }

    /// Opens a thread.
    private mutating func open(_ event: EventRow, _ indexes: EventIndexes, at position: Position) {
        threads[indexes.thread].openedAt = position
        threads[indexes.thread].openedBy = indexes.user
        guard !event.isImported, ThreadID(bits: event.thread).outwardCode == nil else { return }
        threads[indexes.thread].canHaveOwners = true
        threads[indexes.thread].awaitsOpener = true
    }

    /// Makes a user a member; the opener, whose join follows the opening, an owner.
    private mutating func join(_ indexes: EventIndexes, at position: Position) {
        let isOpener = threads[indexes.thread].awaitsOpener && threads[indexes.thread].openedBy == indexes.user
        if threads[indexes.thread].awaitsOpener { threads[indexes.thread].awaitsOpener = false }
        var wasMember = false
        changeStanding(indexes) { standing in
            standing.isInvited = false
            wasMember = standing.isMember
            if !wasMember { standing.role = isOpener ? .owner : .member }
        }
        guard !wasMember else { return }
        if isOpener { threads[indexes.thread].ownerCount &+= 1 }
        if threads[indexes.thread].history == .sinceJoining {
            community.joins[indexes.membership] = position
        } else if community.joins[indexes.membership] > 0 {
            community.joins[indexes.membership] = 0
        }
        countMember(indexes.user, of: indexes.thread)
    }

    /// Counts the users who were ever members of a thread, up to three; the opener is the first.
    private mutating func countMember(_ user: Int, of thread: Int) {
        let row = threads[thread]
        guard !row.hadThreeMembers, user != row.openedBy else { return }
        let member = UInt32(truncatingIfNeeded: user + 1)
        if row.oneBasedSecondMember == 0 {
            threads[thread].oneBasedSecondMember = member
        } else if row.oneBasedSecondMember != member {
            threads[thread].hadThreeMembers = true
        }
    }

    /// Sets the policy and the history of a thread.
    private mutating func setPolicy(_ thread: Int, _ policy: ThreadPolicy, _ history: ThreadHistory, at position: Position) {
        let row = threads[thread]
        if row.openedAt > 0, position == row.openedAt + 1 { threads[thread].wasOpenedWithPolicy = true }
        if row.policy == .inviteOnly, policy != .inviteOnly { threads[thread].disclosedAt = position }
        (threads[thread].policy, threads[thread].history) = (policy, history)
    }

    /// Changes a user's role in a thread; nil ends the membership.
    private mutating func changeRole(_ indexes: EventIndexes, to role: ThreadRole?) {
        var former: ThreadRole?
        changeStanding(indexes) {
            former = $0.role
            $0.role = role
        }
        // Wrapping: a checkpoint can contain any count, and nothing may trap.
        if former == .owner { threads[indexes.thread].ownerCount &-= 1 }
        if role == .owner { threads[indexes.thread].ownerCount &+= 1 }
    }

    private mutating func changeStanding(_ indexes: EventIndexes, _ change: (inout Standing) -> Void) {
        changeMembership(indexes) { table, membership in
            var standing = table.standing(membership)
            change(&standing)
            table.setStanding(standing, membership)
        }
    }

    /// Marks a message as retracted or removed, and unpins it.
    private mutating func withdraw(message: Int, _ mark: PostMarks, _ thread: Int) {
        var marks = marks(message: message).union(mark)
        if marks.remove(.pinned) != nil { threads[thread].pinCount &-= 1 }
        messageMarks[message] = marks.rawValue
    }

    /// Applies the events of roles, moderation and custom events.
    private mutating func applyCommunity(_ kind: EventKind, _ event: EventRow, _ indexes: EventIndexes, at position: Position) {
        let (thread, post) = (indexes.thread, indexes.secondIndex)
        switch kind {
        case .threadPolicySet:
            let (policy, history) = event.policyAndHistory
            setPolicy(thread, policy, history, at: position)
        case .userInvited: changeStanding(indexes) { $0.isInvited = true }
        case .invitationDeclined, .invitationRevoked: changeStanding(indexes) { $0.isInvited = false }
        case .roleSet:
            if indexes.membership < memberships.count, memberships.standing(indexes.membership).isMember {
                changeRole(indexes, to: ThreadRole(code: event.value) ?? .member)
            } else {
                // Adds the row of the membership: every interned pair has one.
                changeMembership(indexes) { _, _ in }
            }
        case .memberRemoved: changeRole(indexes, to: nil)
        case .userMuted:
            changeStanding(indexes) { $0.hasMute = true }
            community.mutes[indexes.membership] = event.value
        case .userUnmuted: changeStanding(indexes) { $0.hasMute = false }
        case .userBanned:
            changeStanding(indexes) { ($0.hasBan, $0.isInvited) = (true, false) }
            community.bans[indexes.membership] = event.value
        case .userUnbanned: changeStanding(indexes) { $0.hasBan = false }
        case .operatorGranted, .operatorRevoked:
            while community.operators.count <= indexes.user { community.operators.append(0) }
            community.operators[indexes.user] = kind == .operatorGranted ? 1 : 0
        case .messageRemoved: if post >= 0 { withdraw(message: post, .removed, thread) }
        case .replyRemoved: if post >= 0 { replyMarks[post] |= PostMarks.removed.rawValue }
        case .messagePinned, .messageUnpinned:
            guard post >= 0, marks(message: post).contains(.pinned) != (kind == .messagePinned) else { return }
            messageMarks[post] ^= PostMarks.pinned.rawValue
            if kind == .messagePinned { threads[thread].pinCount &+= 1 } else { threads[thread].pinCount &-= 1 }
        case .threadLocked: threads[thread].isLocked = true
        case .threadUnlocked: threads[thread].isLocked = false
        case .threadClosed: threads[thread].isClosed = true
        case .messageReported: if post >= 0 { community.messageReports.report(post, by: indexes.user) }
        case .replyReported: if post >= 0 { community.replyReports.report(post, by: indexes.user) }
        case .messageReportsResolved: if post >= 0 { community.messageReports.resolve(post) }
        case .replyReportsResolved: if post >= 0 { community.replyReports.resolve(post) }
        case .userBlocked, .userUnblocked:
            community.setBlock(post, by: indexes.user, kind == .userBlocked)
        case .userErased:
            forget(indexes.user)
            community.erasures.append(position)
        case .contentErased: community.erasures.append(position)
        // `apply` has the other kinds.
        case .userRegistered, .usernameChanged, .postcodeSet, .threadOpened, .threadJoined, .threadLeft, .threadRead, .messagePosted,
            .replyPosted, .messageEdited, .replyEdited, .messageRetracted, .replyRetracted, .sessionStarted, .sessionEnded, .custom,
            .clockCorrected, .lost:
            break
        }
    }
}
