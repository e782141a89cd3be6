package import Columns
import Primitives

/// Interns every key that events name: ids, user-thread pairs, fold keys and subjects.
///
/// Indexes are assigned in the order in which events first name the keys, so the same events
/// produce the same indexes. The rules and the read models keep their rows by these indexes. The
/// constant facts about posts are stored here because both need them.
package struct Identities: Equatable, Sendable {
    /// The users.
    package internal(set) var users = DenseIndex<UserID>()
    /// The threads.
    package internal(set) var threads = DenseIndex<ThreadID>()
    /// The messages.
    package internal(set) var messages = IDTable()
    /// The replies.
    package internal(set) var replies = IDTable()
    /// The sessions.
    package internal(set) var sessions = DenseIndex<SessionID>()
    /// The custom events.
    package internal(set) var customEvents = DenseIndex<CustomEventID>()
    /// The pairs of user and thread that membership events have named.
    package internal(set) var memberships = PairIndex()
    /// The fold keys of usernames.
    package internal(set) var foldKeys = TextIndex()
    /// The subjects, compared byte by byte: an identity provider's name is opaque.
    package internal(set) var subjects = TextIndex()
    /// The constant facts about messages.
    package internal(set) var messageFacts = PostFacts()
    /// The constant facts about replies.
    package internal(set) var replyFacts = PostFacts()
    /// The constant facts about custom events.
    package internal(set) var customFacts = PostFacts()

    /// Creates empty indexes.
    package init() {}

    /// Reserves capacity for keys in an empty table.
    package mutating func reserve(messages: Int, memberships: Int) {
        self.messages.reserve(messages)
        self.memberships.reserve(memberships)
    }

    /// Returns a copy without hash slots, for writing.
    ///
    /// A later insertion into the original then copies no slots.
    package func withoutSlots() -> Identities {
        var copy = self
        copy.users.removeSlots()
        copy.threads.removeSlots()
        copy.messages.removeSlots()
        copy.replies.removeSlots()
        copy.sessions.removeSlots()
        copy.customEvents.removeSlots()
        copy.memberships.removeSlots()
        copy.foldKeys.removeSlots()
        copy.subjects.removeSlots()
        return copy
    }
}

extension Identities {
    // Not generic: callers in other modules avoid the lookup of generic metadata.

    /// Returns the index of a user that an event has named.
    package func index(ofUser id: UserID) -> Int? { users.find(id) }

    /// Returns the index of a thread that an event has named.
    package func index(ofThread id: ThreadID) -> Int? { threads.find(id) }

    /// Returns the id of the user with an index.
    package func userID(_ index: Int) -> UserID { users.id(index) }

    /// Returns the id of the thread with an index.
    package func threadID(_ index: Int) -> ThreadID { threads.id(index) }

    /// Sets the indexes of all events in a batch, interning new keys.
    ///
    /// - Complexity: O(1) on average per event.
    package mutating func resolve(_ batch: inout EventBatch) { resolve(&batch, upTo: batch.count) }

    /// Sets the indexes of a batch's next events, up to the row `end` (exclusive).
    mutating func resolve(_ batch: inout EventBatch, upTo end: Int) {
        let first = batch.resolvedCount
        // Held in a local while they change; the swap keeps the array unique and copies nothing.
        var indexes: [EventIndexes] = []
        swap(&indexes, &batch.indexes)
        for start in stride(from: first, to: end, by: Self.groupSize) {
            let group = start..<min(start + Self.groupSize, end)
            let isPrefetched = group.count >= Self.minimumPrefetchSize
            if isPrefetched { prefetchUsers(batch.rows[group]) }
            for row in group { resolveUserAndThread(batch.rows[row], &indexes[row]) }
            if isPrefetched { prefetchPosts(batch.rows[group], indexes[group]) }
            for row in group { resolveMembershipAndPost(batch.rows[row], at: batch.position(row), &indexes[row]) }
        }
        swap(&indexes, &batch.indexes)
        var entry = batch.contents.indices.partitioningIndex { batch.contents[$0].row >= first }
        while entry < batch.contents.count, batch.contents[entry].row < end {
            resolve(&batch.contents[entry])
            entry += 1
        }
        batch.resolvedCount = end
    }

    /// Events per prefetch group: their data fits in the L1 cache (Benchmarks/README.md, R1b).
    private static var groupSize: Int { 64 }
    /// Smaller groups are resolved without a prefetch.
    private static var minimumPrefetchSize: Int { 8 }

    /// Sets the indexes of the user, the thread and the other user.
    @inline(__always)
    private mutating func resolveUserAndThread(_ event: EventRow, _ indexes: inout EventIndexes) {
        guard let kind = event.kind, kind.namesUser else { return }
        if indexes.oneBasedUser == 0 { indexes.oneBasedUser = EventIndexes.oneBased(users.insert(UserID(bits: event.user)).index) }
        if kind.namesThread, indexes.oneBasedThread == 0 {
            indexes.oneBasedThread = EventIndexes.oneBased(threads.insert(ThreadID(bits: event.thread)).index)
        }
        // Here and not with the membership, so that a batch gives users the same indexes as single
        // events do, even if the event is the first to name this user.
        if kind.namesOtherUser {
            indexes.oneBasedPostOrSession = EventIndexes.oneBased(users.insert(UserID(bits: event.postOrSession)).index)
        }
    }

    /// Sets the indexes of the membership and the post or session; needs those of the user and the
    /// thread.
    private mutating func resolveMembershipAndPost(_ event: EventRow, at position: Position, _ indexes: inout EventIndexes) {
        switch event.kind {
        case .threadJoined, .threadLeft, .threadRead: indexes.setPost(membership: memberships.insert(indexes.user, indexes.thread))
        case .userInvited, .invitationDeclined, .invitationRevoked, .roleSet, .userMuted, .userUnmuted, .userBanned, .userUnbanned,
            .memberRemoved:
            indexes.setPost(membership: memberships.insert(indexes.user, indexes.thread))
        case .messagePosted:
            indexes.setPost(post: messages.insert(event.postOrSession))
            guard indexes.isNew else { return }
            messageFacts.append(at: position, place: indexes.thread, author: indexes.user, isImported: event.isImported)
            if indexes.oneBasedMembership == 0 {
                indexes.oneBasedMembership = EventIndexes.oneBased(memberships.find(indexes.user, indexes.thread))
            }
        case .replyPosted:
            // A reply to an unknown message gets no index.
            if indexes.oneBasedMessage == 0 { indexes.oneBasedMessage = EventIndexes.oneBased(messages.find(event.message)) }
            guard indexes.oneBasedMessage > 0 else { return }
            indexes.setPost(post: replies.insert(event.postOrSession))
            guard indexes.isNew else { return }
            replyFacts.append(at: position, place: indexes.message, author: indexes.user, isImported: event.isImported)
        case .messageEdited, .messageRetracted, .messageRemoved, .messagePinned, .messageUnpinned, .messageReported,
            .messageReportsResolved:
            if indexes.oneBasedPostOrSession == 0 {
                indexes.oneBasedPostOrSession = EventIndexes.oneBased(messages.find(event.postOrSession))
            }
            guard event.kind == .messageRetracted || event.kind == .messageRemoved, indexes.oneBasedPostOrSession > 0 else { return }
            let (author, thread) = (messageFacts.author(indexes.postOrSession), messageFacts.parent(indexes.postOrSession))
            indexes.oneBasedMembership = EventIndexes.oneBased(memberships.find(author, thread))
        case .replyEdited, .replyRetracted, .replyRemoved, .replyReported, .replyReportsResolved:
            if indexes.oneBasedPostOrSession == 0 {
                indexes.oneBasedPostOrSession = EventIndexes.oneBased(replies.find(event.postOrSession))
            }
            if indexes.oneBasedPostOrSession > 0 {
                indexes.oneBasedMessage = EventIndexes.oneBased(replyFacts.parent(indexes.postOrSession))
            }
        case .sessionStarted: indexes.setPost(post: sessions.insert(SessionID(bits: event.postOrSession)))
        case .sessionEnded: indexes.oneBasedPostOrSession = EventIndexes.oneBased(sessions.find(SessionID(bits: event.postOrSession)))
        case .custom:
            indexes.setPost(post: customEvents.insert(CustomEventID(bits: event.postOrSession)))
            guard indexes.isNew else { return }
            customFacts.append(at: position, place: indexes.thread, author: indexes.user, isImported: event.isImported)
        case .userRegistered, .usernameChanged, .postcodeSet, .threadOpened, .threadPolicySet, .operatorGranted, .operatorRevoked,
            .threadLocked, .threadUnlocked, .threadClosed, .userBlocked, .userUnblocked, .userErased, .contentErased, .lost, nil:
            break
        }
    }

    private mutating func resolve(_ entry: inout EventBatch.IndexedContent) {
        if let username = entry.content.username { entry.oneBasedFoldKey = EventIndexes.oneBased(foldKeys.insert(username.foldKey).index) }
        if let subject = entry.content.subject { entry.oneBasedSubject = EventIndexes.oneBased(subjects.insert(subject).index) }
    }

    /// Prefetches the table slots for the users of a group of events.
    ///
    /// The loads overlap instead of waiting for one another.
    func prefetchUsers(_ rows: ArraySlice<EventRow>) {
        let ids = rows.map(\.user)
        users.prefetch(ids.span)
    }

    /// Prefetches the table slots for the posts and the memberships of a group of events.
    ///
    /// Memberships are prefetched only for events whose user and thread are resolved.
    func prefetchPosts(_ rows: ArraySlice<EventRow>, _ indexes: ArraySlice<EventIndexes>) {
        var (messages, replies): ([UInt128], [UInt128]) = ([], [])
        var memberships: [(first: Int, second: Int)] = []
        messages.reserveCapacity(rows.count)
        memberships.reserveCapacity(rows.count)
        for index in rows.indices {
            let row = rows[index]
            if row.kind?.namesMembership == true, indexes[index].oneBasedUser > 0, indexes[index].oneBasedThread > 0 {
                memberships.append((indexes[index].user, indexes[index].thread))
            }
            switch row.kind {
            case .messagePosted, .messageEdited, .messageRetracted, .messageRemoved: messages.append(row.postOrSession)
            case .replyPosted:
                messages.append(row.message)
                replies.append(row.postOrSession)
            case .replyEdited, .replyRetracted, .replyRemoved: replies.append(row.postOrSession)
            default: break
            }
        }
        self.messages.prefetch(messages.span)
        self.replies.prefetch(replies.span)
        self.memberships.prefetch(memberships)
    }
}

extension EventIndexes {
    @inline(__always)
    fileprivate mutating func setPost(membership found: (index: Int, isNew: Bool)) {
        (oneBasedMembership, isNew) = (Self.oneBased(found.index), found.isNew)
    }

    /// Records the index of a message, a reply or a session.
    @inline(__always)
    fileprivate mutating func setPost(post found: (index: Int, isNew: Bool)) {
        (oneBasedPostOrSession, isNew) = (Self.oneBased(found.index), found.isNew)
    }
}

/// Interns ids of one type: a typed wrapper of ``IDTable``.
package struct DenseIndex<ID: EntityID>: Equatable, Sendable {
    private var table = IDTable()

    /// Creates an empty index.
    package init() {}

    /// The number of ids.
    package var count: Int { table.count }

    /// Returns the id with an index.
    package func id(_ index: Int) -> ID { ID(bits: table.id(index)) }

    /// Returns the index of an id, or nil.
    package func find(_ id: ID) -> Int? { table.find(id.bits) }

    /// Prefetches the table slots for some ids.
    package func prefetch(_ ids: Span<UInt128>) { table.prefetch(ids) }

    /// Returns the index of an id, assigning the next one if the id is new.
    package mutating func insert(_ id: ID) -> (index: Int, isNew: Bool) { table.insert(id.bits) }

    /// Removes the hash slots of a copy that is only written.
    ///
    /// A later insertion into the original then copies no slots.
    package mutating func removeSlots() { table.removeSlots() }
}

extension DenseIndex: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try IDTable(from: &reader) }
}

extension Identities {
    /// Prefetches the table slots for deciding some commands.
    ///
    /// The loads overlap instead of waiting for one another.
    package func prefetch(_ requests: Span<CommandRequest>) {
        var (users, messages): ([UInt128], [UInt128]) = ([], [])
        var members: [(user: UserID, thread: ThreadID)] = []
        members.reserveCapacity(requests.count)
        messages.reserveCapacity(requests.count)
        for index in requests.indices {
            switch requests[index].command {
            case .postMessage(let message, let thread, let author, _):
                members.append((author, thread))
                if let message { messages.append(message.bits) }
            case .joinThread(let user, let thread), .leaveThread(let user, let thread), .markRead(let user, let thread, _):
                members.append((user, thread))
            case .reply(_, let message, let author, _):
                users.append(author.bits)
                messages.append(message.bits)
            case .edit(.message(let message), let author, _), .retract(.message(let message), let author):
                users.append(author.bits)
                messages.append(message.bits)
            default: break
            }
        }
        users += members.map(\.user.bits)
        let threads = members.map(\.thread.bits)
        self.users.prefetch(users.span)
        self.threads.prefetch(threads.span)
        memberships.prefetch(
            members.compactMap { member in
                guard let user = self.users.find(member.user), let thread = self.threads.find(member.thread) else { return nil }
                return (user, thread)
            })
        self.messages.prefetch(messages.span)
    }
}
