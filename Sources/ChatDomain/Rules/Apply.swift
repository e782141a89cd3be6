import Columns

/// How each kind of event changes the state of the rules.
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
        // The end of a repair follows a lost correction without being one.
        isAfterLoss = event.kind == .lost || isAfterLoss && event.kind == .historyRepaired
        guard let kind = event.kind else {
            hasUnknownEvents = true
            return
        }
        // Every index has a row, even if the event that registered the user or opened the thread
        // was lost.
        while users.count <= indexes.user { users.append(UserRow()) }
        while threads.count <= indexes.thread {
            threads.append(ThreadRow(isDistrict: ThreadID(bits: event.thread).outwardCode != nil))
        }
        if lostEventCount > 0 || kind == .lost { applyToLosses(event, indexes.thread, at: position) }
        // The post, the session or the user who is blocked.
        let (thread, second) = (indexes.thread, indexes.secondIndex)
        if kind.form.isNumbered { threads[thread].lastEventNumber = event.number }
        switch kind {
        case .userRegistered: register(indexes.user, batch.content(of: row), at: position)
        case .usernameChanged: setUsername(indexes.user, batch.content(of: row))
        case .postcodeSet:
            users[indexes.user].postcode = batch.content(of: row).content.postcode
            users[indexes.user].oneBasedResidence = EventIndexes.oneBased(indexes.thread)
        case .threadOpened: if threads[thread].openedAt == 0 { open(event, indexes, at: position) }
        case .directOpened:
            if threads[thread].openedAt == 0 {
                applyDirectOpening(indexes, peopleCount: batch.mentions(of: row).count, at: position)
            }
        case .threadJoined: join(indexes, at: position)
        case .threadLeft: changeRole(indexes, to: nil)
        case .threadRead, .threadMarkedUnread:
            changeMembership(indexes) {
                $0.setReadUpTo(event.number, $1, isForward: kind == .threadRead, at: position)
            }
        case .inboxRead: community.inboxMarkers[indexes.user] = event.number
        case .notificationsSet:
            changeMembership(indexes) { _, _ in }
            community.notifications[indexes.membership] = LimitedLevel(event.level, until: event.until).rawValue
        case .messagePosted, .replyPosted:
            if indexes.isNew {
                postMarks.change(isReply: kind == .replyPosted) { $0.appendZero() }
                let message = kind == .replyPosted ? indexes.message : second
                if indexes.membership >= 0 { memberships.addPost(of: message, indexes.membership) }
            }
        case .messageRetracted, .replyRetracted:
            if let post = indexes.post(of: event) { withdraw(post, .retracted, thread) }
        case .sessionStarted:
            if indexes.isNew {
                sessions.append(SessionRow(startedAt: position, user: UInt32(truncatingIfNeeded: indexes.user)))
            }
        case .sessionEnded: if second >= 0 { sessions[second].hasEnded = true }
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
        case .messageRemoved, .replyRemoved:
            if let post = indexes.post(of: event) { withdraw(post, .removed, thread) }
        case .messagePinned: changePin(second, true, thread)
        case .messageUnpinned: changePin(second, false, thread)
        case .threadLocked: threads[thread].isLocked = true
        case .threadUnlocked: threads[thread].isLocked = false
        case .threadClosed: threads[thread].isClosed = true
        case .messageReported, .replyReported:
            if let post = indexes.post(of: event) {
                community.reports.change(of: post) { $0.report(second, by: indexes.user) }
            }
        case .messageReportsResolved, .replyReportsResolved:
            if let post = indexes.post(of: event) { community.reports.change(of: post) { $0.resolve(second) } }
        case .userBlocked, .userUnblocked:
            community.setBlock(second, by: indexes.user, kind == .userBlocked)
        case .userErased:
            forget(indexes.user)
            community.erasures.append(position)
        case .contentErased: community.erasures.append(position)
        case .lost: lostEventCount += 1
        case .messageEdited, .replyEdited:
            if let post = indexes.post(of: event) { community.edits.change(of: post) { $0[second] = position } }
        // The identities keep the reactions, and the read models the names of threads.
        case .custom, .threadRenamed, .profileSet, .clockCorrected, .reactionAdded, .reactionRemoved,
            .historyRepaired:
            break
        }
        if kind != .messagePosted || event.hasMentions { applyActs(batch, row, kind) }
    }
}
