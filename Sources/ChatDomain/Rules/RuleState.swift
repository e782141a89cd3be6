package import Columns

/// The part of ``ChatState`` that the rules keep, as columns by the indexes of ``Identities``.
package struct RuleState: Equatable, Sendable {
    /// The position of the last applied event, or 0 before the first.
    package internal(set) var head: Position = 0
    /// The recording time of the last applied event; the next event is never recorded earlier.
    package internal(set) var lastRecordedAt = Timestamp(millisecondsSince1970: 0)
    /// Whether an event of an unknown kind was applied; the rules of a newer version may hold.
    package internal(set) var hasUnknownEvents = false
    /// The number of lost events.
    package internal(set) var lostEventCount = 0

    /// The users, by index.
    package internal(set) var users = Column<UserRow>()
    /// The threads, by index.
    package internal(set) var threads = Column<ThreadRow>()
    /// The memberships, by index.
    package internal(set) var memberships = MembershipTable()
    /// By fold key: the index + 1 of the user with that username now, or 0.
    package internal(set) var usernameOwners = Column<UInt32>()
    /// By subject: the index + 1 of the user who registered with it, or 0.
    package internal(set) var subjectOwners = Column<UInt32>()
    /// By message: the raw value of its ``PostMarks``.
    package internal(set) var messageMarks = MostlyZeroColumn<UInt8>()
    /// By reply: the raw value of its ``PostMarks``.
    package internal(set) var replyMarks = MostlyZeroColumn<UInt8>()
    /// The sessions, by index.
    package internal(set) var sessions = Column<SessionRow>()
    /// Sanctions, operators, blocks and reports.
    package internal(set) var community: CommunityState {
        _read { yield communityStorage[0] }
        _modify { yield &communityStorage[0] }
    }
    /// One element, behind a reference: the rules are moved for each command, and few commands
    /// change this part.
    private var communityStorage = [CommunityState()]

    /// Creates the state before the first event.
    package init() {}
}

/// A user, who is unregistered if the registration was lost.
package struct UserRow: Sendable, Hashable {
    /// The position of the registration, or 0 if it was lost.
    package var registeredAt: Position = 0
    /// The current postcode, or nil if none is set or it was erased.
    package var postcode: Postcode?
    /// The current username as the user wrote it.
    package var username: String?
    /// The index + 1 of the current username's fold key, or 0.
    package var oneBasedFoldKey: UInt32 = 0
    /// The index + 1 of the fold key at registration, or 0 once erased.
    ///
    /// Identifies a repeated registration.
    package var oneBasedFoldKeyAtRegistration: UInt32 = 0
    /// The index + 1 of the thread of the user's current outward code, or 0.
    package var oneBasedResidence: UInt32 = 0
    /// The index + 1 of the subject that the user owns, or 0; not stored, because it follows from
    /// the owners of the subjects.
    package var oneBasedSubject: UInt32 = 0
    /// Whether the user's content was erased.
    package var isErased = false
}

/// A thread, which is not open if its opening was lost.
package struct ThreadRow: Sendable, Hashable {
    /// The position of the opening, or 0 if it was lost.
    package var openedAt: Position = 0
    /// The number of the thread's last event.
    package var lastEventNumber: UInt64 = 0
    /// The index of the opener.
    package var openedBy = 0
    /// The policy that was set at the opening; the thread of an outward code has another one.
    package var policy = ThreadPolicy.open
    /// The posts that members may read.
    package var history = ThreadHistory.all
    /// Whether the thread takes no posts and joins for now.
    package var isLocked = false
    /// Whether the thread takes no posts and joins for good.
    package var isClosed = false
    /// Whether the thread can have owners: a named thread that was not imported.
    package var canHaveOwners = false
    /// Whether the next join is the one of the opening, which makes the opener the owner.
    package var awaitsOpener = false
    /// The number of owners.
    package var ownerCount: UInt32 = 0
    /// The number of pinned messages.
    package var pinCount: UInt32 = 0
}

/// The marks of a message or a reply.
package struct PostMarks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Its author has retracted it.
    package static let retracted = PostMarks(rawValue: 1)
    /// A moderator has removed it.
    package static let removed = PostMarks(rawValue: 2)
    /// It is pinned; only messages are.
    package static let pinned = PostMarks(rawValue: 4)

    /// The marks of a post that has no text any more, and takes no edits and replies.
    static let gone: PostMarks = [.retracted, .removed]

    /// Whether the post has no text any more: it is retracted or removed.
    package var isGone: Bool { !isDisjoint(with: .gone) }
}

/// A session.
package struct SessionRow: Sendable, Hashable, BitwiseCopyable {
    /// The position of the event that started the session.
    package var startedAt: Position
    /// The index of the user.
    package var user: UInt32
    /// Whether the session has ended.
    package var hasEnded = false
}

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
        lastRecordedAt = max(lastRecordedAt, event.recordedAt)
        guard let kind = event.kind else {
            hasUnknownEvents = true
            return
        }
        // Every index has a row, even if the event that registered the user or opened the thread
        // was lost.
        while users.count <= indexes.user { users.append(UserRow()) }
        while threads.count <= indexes.thread { threads.append(ThreadRow()) }
        if kind.isNumbered { threads[indexes.thread].lastEventNumber = event.number }
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
        case .messageRetracted: if indexes.secondIndex >= 0 { markGone(message: indexes.secondIndex, .retracted, indexes.thread) }
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
    mutating func forget(_ user: Int) {
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
        usernameOwners[Int(content.oneBasedFoldKey) - 1] = owner
    }

    /// Changes the membership of an event, adding its row if it is new.
    mutating func changeMembership(_ indexes: EventIndexes, _ change: (inout MembershipTable, Int) -> Void) {
        if indexes.membership == memberships.count { memberships.append() }
        change(&memberships, indexes.membership)
    }
}

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
}
