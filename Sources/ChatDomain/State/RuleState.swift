package import Columns

/// What the rules need to know in order to decide, by the indexes of ``Identities``.
package struct RuleState: Equatable, Sendable {
    /// The position of the last applied event, 0 at the beginning.
    package internal(set) var head: Position = 0
    /// The time of that event; the next one is not recorded earlier.
    package internal(set) var lastRecordedAt = Timestamp(millisecondsSince1970: 0)
    /// Whether an event of unknown kind was applied: a newer version's rules may hold.
    package internal(set) var hasUnknownEvents = false
    /// The number of events that are known to be lost.
    package internal(set) var lostEvents = 0

    package internal(set) var users = Column<UserRow>()
    package internal(set) var threads = Column<ThreadRow>()
    package internal(set) var memberships = MembershipTable()
    /// By the fold key: the index + 1 of the user who bears the name now, 0 for none.
    package internal(set) var bearers = Column<UInt32>()
    /// By the subject: the index + 1 of the user who registered with it.
    package internal(set) var subjectOwners = Column<UInt32>()
    /// By the message: 1 if it is retracted; by the reply likewise.
    package internal(set) var retractedMessages = PackedColumn<UInt8>()
    package internal(set) var retractedReplies = PackedColumn<UInt8>()
    package internal(set) var sessions = Column<SessionRow>()

    /// Makes the state before the first event.
    package init() {}
}

/// A user; one whom only events after a loss have named has not been registered.
package struct UserRow: Sendable, Hashable {
    /// 0 for a user whose registration was never seen.
    package var registeredAt: Position = 0
    package var postcode: Postcode?
    /// The present username as written.
    package var username: String?
    /// The index + 1 of the fold key of the present username, 0 for none.
    package var name: UInt32 = 0
    /// The index + 1 of the fold key that the user registered with, 0 once erased: a registration that comes again is known by it.
    package var registeredAs: UInt32 = 0
    /// The index + 1 of the thread of the outward code where the user lives, 0 for none.
    package var residence: UInt32 = 0
}

/// A thread; one that only events after a loss have named has not been opened.
package struct ThreadRow: Sendable, Hashable {
    /// 0 for a thread whose opening was never seen.
    package var openedAt: Position = 0
    /// The number of the thread's last event.
    package var eventCount: UInt64 = 0
    /// The index of the user who opened it.
    package var openedBy = 0
}

package struct SessionRow: Sendable, Hashable, BitwiseCopyable {
    package var startedAt: Position
    package var user: UInt32
    package var hasEnded = false
}

extension RuleState {
    /// Applies the next events; events never fail to apply.
    ///
    /// Works on the kept part alone, but for usernames, subjects and postcodes, which simply lack what has been erased. A reply or a change of a message that no
    /// event has posted changes only ``head``.
    ///
    /// - Parameters:
    ///   - batch: A resolved batch.
    ///   - rows: Some of its rows.
    /// - Complexity: O(1) for each event.
    package mutating func apply(_ batch: borrowing EventBatch, _ rows: Range<Int>) {
        for row in rows { apply(batch, row) }
    }

    @inline(__always)
    private mutating func apply(_ batch: borrowing EventBatch, _ row: Int) {
        let (event, indexes, position) = (batch.rows[row], batch.indexes[row], batch.position(row))
        head = position
        lastRecordedAt = max(lastRecordedAt, event.recordedAt)
        guard let kind = event.kind else {
            hasUnknownEvents = true
            return
        }
        // What has an index has a row, also where the event that registered or opened it was lost.
        while users.count <= indexes.user { users.append(UserRow()) }
        while threads.count <= indexes.thread { threads.append(ThreadRow()) }
        if kind.isNumbered { threads[indexes.thread].eventCount = event.number }
        switch kind {
        case .userRegistered: register(indexes.user, batch.content(of: row), at: position)
        case .usernameChanged: name(indexes.user, batch.content(of: row))
        case .postcodeSet:
            users[indexes.user].postcode = batch.content(of: row).content.postcode
            users[indexes.user].residence = indexes.threadEntry
        case .threadOpened:
            if threads[indexes.thread].openedAt == 0 {
                threads[indexes.thread].openedAt = position
                threads[indexes.thread].openedBy = indexes.user
            }
        case .threadJoined: changeMembership(indexes) { $0.isMember = true }
        case .threadLeft: changeMembership(indexes) { $0.isMember = false }
        case .threadRead: changeMembership(indexes) { $0.readUpTo = event.number }
        case .messagePosted: if indexes.isNew { retractedMessages.append(0) }
        case .replyPosted: if indexes.isNew { retractedReplies.append(0) }
        case .messageRetracted: if indexes.post >= 0 { retractedMessages[indexes.post] = 1 }
        case .replyRetracted: if indexes.post >= 0 { retractedReplies[indexes.post] = 1 }
        case .messageEdited, .replyEdited: break
        case .sessionStarted:
            if indexes.isNew { sessions.append(SessionRow(startedAt: position, user: UInt32(truncatingIfNeeded: indexes.user))) }
        case .sessionEnded: if indexes.post >= 0 { sessions[indexes.post].hasEnded = true }
        case .lost: lostEvents += 1
        }
    }

    private mutating func register(_ user: Int, _ content: borrowing EventBatch.IndexedContent, at position: Position) {
        guard users[user].registeredAt == 0 else { return }
        users[user].registeredAt = position
        users[user].registeredAs = content.name
        name(user, content)
        guard content.subject > 0 else { return }
        while subjectOwners.count < Int(content.subject) { subjectOwners.append(0) }
        subjectOwners[Int(content.subject) - 1] = UInt32(truncatingIfNeeded: user + 1)
    }

    /// Gives a user a username (none where it has been erased) and frees the former one at once.
    private mutating func name(_ user: Int, _ content: borrowing EventBatch.IndexedContent) {
        let bearer = UInt32(truncatingIfNeeded: user + 1)
        let former = Int(users[user].name) - 1
        if former >= 0, bearers[former] == bearer { bearers[former] = 0 }
        users[user].name = content.name
        users[user].username = content.content.username?.text
        guard content.name > 0 else { return }
        while bearers.count < Int(content.name) { bearers.append(0) }
        bearers[Int(content.name) - 1] = bearer
    }

    private mutating func changeMembership(_ indexes: EventIndexes, _ change: (inout MembershipRow) -> Void) {
        if indexes.membership == memberships.count { memberships.append(MembershipRow()) }
        change(&memberships[indexes.membership])
    }
}

extension RuleState {
    /// The index of the user who bears a name, by the index of its fold key.
    func bearer(ofName name: Int?) -> Int? {
        guard let name, name < bearers.count, bearers[name] > 0 else { return nil }
        return Int(bearers[name]) - 1
    }

    /// The index of the user who registered with a subject, by the index of the subject.
    func owner(ofSubject subject: Int?) -> Int? {
        guard let subject, subject < subjectOwners.count, subjectOwners[subject] > 0 else { return nil }
        return Int(subjectOwners[subject]) - 1
    }

    /// Whether a message is retracted.
    package func isRetracted(message: Int) -> Bool { retractedMessages[message] != 0 }

    /// Whether a reply is retracted.
    package func isRetracted(reply: Int) -> Bool { retractedReplies[reply] != 0 }

    /// The number of the next event of a thread.
    func nextNumber(in thread: Int) -> UInt64 {
        // Wrapping, because a damaged journal can claim any number for its last event: an audit reports it, and nothing traps on it.
        threads[thread].eventCount &+ 1
    }
}
