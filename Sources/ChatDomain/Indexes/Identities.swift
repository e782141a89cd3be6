package import Columns
import Primitives

/// Interns every key that events name: ids, user-thread pairs, fold keys and subjects.
///
/// Indexes are assigned in the order in which events first name the keys, so the same events
/// produce the same indexes. The rules and the read models keep their rows by these indexes. The
/// constant facts about posts and custom events are stored here because both need them.
package struct Identities: Equatable, Sendable {
    /// The users.
    package internal(set) var users = TypedIDInterner<UserID>()
    /// The threads.
    package internal(set) var threads = TypedIDInterner<ThreadID>()
    /// The messages and the replies.
    package internal(set) var posts = PostTables(AuthoredTable())
    /// The edits that have an id.
    package internal(set) var edits = AuthoredTable()
    /// The sessions.
    package internal(set) var sessions = TypedIDInterner<SessionID>()
    /// The custom events.
    package internal(set) var customEvents = AuthoredTable()
    /// The pairs of user and thread that membership events have named.
    package internal(set) var memberships = PairInterner()
    /// The fold keys of usernames.
    package internal(set) var foldKeys = TextInterner()
    /// The subjects, compared byte by byte: an identity provider's name is opaque.
    package internal(set) var subjects = TextInterner()
    /// The reactions, and which of them are present.
    package internal(set) var reactions = ReactionIndex()
    /// The commands that take effect once by an id beside them.
    package internal(set) var onces = OnceTable()
    /// The direct threads and their people.
    package internal(set) var directs = DirectThreads()
    /// Keeps the compiler from copying the identities for a query: see `AddressOnly`.
    private var addressOnly = AddressOnly()

    /// Creates empty indexes.
    package init() {}

    /// Reserves capacity for keys in an empty table.
    package mutating func reserve(messages: Int, memberships: Int) {
        posts.messages.ids.reserve(messages)
        self.memberships.reserve(memberships)
    }
}

extension Identities {
    // Not generic: callers in other modules avoid the lookup of generic metadata.

    /// Returns the index of a user that an event has named.
    package func index(ofUser id: UserID) -> Int? { users.find(id) }

    /// Returns the index of a thread that an event has named.
    package func index(ofThread id: ThreadID) -> Int? { threads.find(id) }

    // Inlined: a call from another module would copy the identities, bit by bit.

    /// Returns the key of a post that an event has created.
    @inlinable @inline(__always)
    package func find(_ post: PostID) -> PostKey? {
        posts.read(isReply: post.isReply) { $0.find(post.bits) }.map { PostKey($0, isReply: post.isReply) }
    }

    /// Whether a post exists; a forged checkpoint can name others.
    package func contains(_ post: PostKey) -> Bool { post.index < posts.read(of: post) { $0.count } }

    /// The numbers of posts are below it.
    package var postNumberBound: Int { 2 * max(posts.messages.count, posts.replies.count) }

    /// Returns the id of a post.
    package func postID(_ post: PostKey) -> PostID {
        PostID(bits: posts.read(of: post) { $0.id(post.index) }, isReply: post.isReply)
    }

    /// Returns the index of the author of a post.
    @inlinable @inline(__always)
    package func author(of post: PostKey) -> Int { posts.read(of: post) { $0.author(post.index) } }

    /// Returns the position of the event that created a post.
    @inlinable @inline(__always)
    package func position(of post: PostKey) -> Position {
        posts.read(of: post) { $0.position(post.index) }
    }

    /// Returns the index of a message itself, or of the message that a reply answers.
    @inlinable @inline(__always)
    package func message(of post: PostKey) -> Int {
        post.isReply ? posts.replies.parent(post.index) : post.index
    }

    /// Returns the index of the thread of a post.
    @inlinable @inline(__always)
    package func thread(of post: PostKey) -> Int { posts.messages.parent(message(of: post)) }

    /// Returns the post that an edit changed.
    func post(ofEdit edit: Int) -> PostKey { PostKey(number: edits.parent(edit)) }

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
            let isLookedUpTogether = group.count >= Self.minimumGroupSize
            if isLookedUpTogether { findUsersAndThreads(batch, group, &indexes) }
            // By row with mentions: the number of users that events up to it name, so that a batch
            // finds the same mentioned users as single events do.
            var userCounts: [Int] = []
            for row in group {
                resolveUserAndThread(batch.rows[row], &indexes[row])
                if batch.rows[row].kind == .directOpened { insertDirect(batch.mentions(of: row), indexes[row].thread) }
                if batch.rows[row].hasMentions { userCounts.append(users.count) }
            }
            var nextCount = 0
            if isLookedUpTogether { findMembershipsAndPosts(batch, group, &indexes) }
            for row in group {
                resolveMembershipAndPost(batch.rows[row], at: batch.position(row), &indexes[row])
                // Most events are messages without mentions.
                if batch.rows[row].hasMentions {
                    addConcerned(by: row, indexes[row], userCount: userCounts[nextCount], to: &batch)
                    nextCount += 1
                } else if batch.rows[row].kind != .messagePosted {
                    addConcerned(by: row, indexes[row], userCount: 0, to: &batch)
                }
            }
        }
        swap(&indexes, &batch.indexes)
        var entry = batch.contents.indices.partitioningIndex { batch.contents[$0].row >= first }
        while entry < batch.contents.count, batch.contents[entry].row < end {
            resolve(&batch.contents[entry])
            let row = batch.contents[entry].row
            if batch.rows[row].kind?.form.content == .emoji {
                batch.contents[entry].reactions = reactions.resolve(
                    batch.rows[row], batch.contents[entry].content, batch.indexes[row], at: batch.position(row))
            }
            entry += 1
        }
        batch.resolvedCount = end
    }

    /// Events whose keys are looked up together: their data fits in the L1 cache
    /// (Benchmarks/README.md, R1b).
    private static var groupSize: Int { KeyGroup<UInt128>.capacity }
    /// The keys of smaller groups are looked up one by one.
    private static var minimumGroupSize: Int { 8 }

    /// Sets the indexes of the user, the thread and the other user.
    @inline(__always)
    private mutating func resolveUserAndThread(_ event: EventRow, _ indexes: inout EventIndexes) {
        guard let kind = event.kind, kind.form.namesUser else { return }
        if indexes.user < 0 { indexes.user = users.insert(UserID(bits: event.user)).index }
        if kind.form.namesThread, indexes.thread < 0 {
            indexes.thread = threads.insert(ThreadID(bits: event.thread)).index
        }
        // Here and not with the membership, so that a batch gives users the same indexes as single
        // events do, even if the event is the first to name this user.
        if kind.form.namesOtherUser { indexes.secondIndex = users.insert(UserID(bits: event.secondID)).index }
    }

    /// Sets the indexes of the membership and the post or session; needs those of the user and the
    /// thread.
    private mutating func resolveMembershipAndPost(
        _ event: EventRow, at position: Position, _ indexes: inout EventIndexes
    ) {
        guard let kind = event.kind else { return }
        switch kind {
        case .messagePosted, .replyPosted:
            let isReply = kind == .replyPosted
            if isReply, indexes.message < 0 { indexes.message = posts.messages.find(event.message) ?? -1 }
            let parent = isReply ? indexes.message : indexes.thread
            // A reply to an unknown message gets no index.
            guard parent >= 0 else { return }
            indexes.setSecond(
                posts.change(isReply: isReply) {
                    $0.insert(event.secondID, by: event, at: position, parent: parent, author: indexes.user)
                })
            guard indexes.isNew else {
                indexes.membership = -1
                return
            }
            if indexes.membership < 0 { indexes.membership = memberships.find(indexes.user, indexes.thread) ?? -1 }
        case .sessionStarted: indexes.setSecond(sessions.insert(SessionID(bits: event.secondID)))
        case .custom:
            indexes.setSecond(
                customEvents.insert(
                    event.secondID, by: event, at: position, parent: indexes.thread, author: indexes.user))
        default: findMembershipOrPost(event, kind, at: position, &indexes)
        }
    }

    /// Adds a direct thread and its people; outside `resolve`, which is hot.
    @inline(never)
    private mutating func insertDirect(_ people: [UserID], _ thread: Int) {
        directs.insert(thread, people: people.map { users.insert($0).index })
    }

    /// Adds the author of the post that an event is about, and the users whom its text mentions;
    /// needs its indexes.
    ///
    /// - Parameter userCount: The number of users who can be mentioned.
    private func addConcerned(by row: Int, _ indexes: EventIndexes, userCount: Int, to batch: inout EventBatch) {
        guard let post = indexes.post(of: batch.rows[row]) else { return }
        func add(_ user: Int, _ relation: EventBatch.Relation) {
            batch.concerned.append(
                EventBatch.ConcernedUser(
                    row: row, user: user, membership: memberships.find(user, indexes.thread) ?? -1, relation: relation))
        }
        switch batch.rows[row].kind {
        case .replyPosted where indexes.isNew: add(posts.messages.author(indexes.message), .author)
        case .reactionAdded, .messageRemoved, .replyRemoved: add(author(of: post), .author)
        default: break
        }
        for user in batch.mentions(of: row) {
            if let index = users.find(user), index < userCount { add(index, .mentioned) }
        }
    }

    /// Sets the indexes of an event that makes no post, session or custom event, by its layout.
    private mutating func findMembershipOrPost(
        _ event: EventRow, _ kind: EventKind, at position: Position, _ indexes: inout EventIndexes
    ) {
        let form = kind.form
        if let once = event.once { insert(once, of: event, kind, at: position, indexes) }
        if form.changesMembership, indexes.membership < 0 {
            indexes.setMembership(memberships.insert(indexes.user, indexes.thread))
        }
        switch form.layout(event.flags) {
        case .message, .messageEdit, .messageReport, .reply, .replyEdit, .replyReport:
            if indexes.secondIndex < 0 {
                indexes.secondIndex = posts.read(isReply: event.has(.reply)) { $0.find(event.secondID) } ?? -1
            }
            // An unknown post gets no index, and neither does an edit of it.
            guard let post = indexes.post(of: event) else { return }
            if let edit = event.edit {
                _ = edits.insert(edit, by: event, at: position, parent: post.number, author: indexes.user)
            }
            if post.isReply { indexes.message = message(of: post) }
            guard kind == .messageRetracted || kind == .messageRemoved else { return }
            indexes.membership = memberships.find(author(of: post), thread(of: post)) ?? -1
        case .session: indexes.secondIndex = sessions.find(SessionID(bits: event.secondID)) ?? -1
        default: break
        }
    }

    /// Adds the command that an event begins; outside of what most events need.
    @inline(never)
    private mutating func insert(
        _ once: CommandID, of event: EventRow, _ kind: EventKind, at position: Position, _ indexes: EventIndexes
    ) {
        guard let command = ChatCommand(causing: event, kind) else { return }
        let actor = kind.form.hasOtherActor ? indexes.secondIndex : indexes.user
        onces.insert(once, of: command.actor == nil ? nil : actor, command.subject, at: position)
    }

    private mutating func resolve(_ entry: inout EventBatch.IndexedContent) {
        if let username = entry.content.username {
            entry.oneBasedFoldKey = EventIndexes.oneBased(foldKeys.insert(username.currentFoldKey).index)
        }
        if let subject = entry.content.subject {
            entry.oneBasedSubject = EventIndexes.oneBased(subjects.insert(subject).index)
        }
    }

    /// Prefetches the table slots for a batch whose events are then resolved one by one.
    mutating func prefetch(_ batch: borrowing EventBatch) {
        var indexes = batch.indexes
        for start in stride(from: 0, to: batch.count, by: Self.groupSize) {
            let group = start..<min(start + Self.groupSize, batch.count)
            findUsersAndThreads(batch, group, &indexes)
            findMembershipsAndPosts(batch, group, &indexes)
        }
    }

    /// Sets the indexes of most users and threads of a group of events that exist.
    private mutating func findUsersAndThreads(
        _ batch: borrowing EventBatch, _ group: Range<Int>, _ indexes: inout [EventIndexes]
    ) {
        var (users, threads) = (KeyGroup<UInt128>(), KeyGroup<UInt128>())
        for row in group {
            // The first condition is redundant: most events are messages.
            guard let kind = batch.rows[row].kind, kind == .messagePosted || kind.form.namesUser else { continue }
            if indexes[row].user < 0 { users.append(batch.rows[row].user, for: row) }
            if indexes[row].thread < 0, kind == .messagePosted || kind.form.namesThread {
                threads.append(batch.rows[row].thread, for: row)
            }
        }
        self.users.find(&users)
        users.forEachFound { indexes[$0].user = $1 }
        self.threads.find(&threads)
        threads.forEachFound { indexes[$0].thread = $1 }
    }

    /// Sets the indexes of most memberships and posts of a group of events that exist; needs those
    /// of the users and the threads.
    ///
    /// The keys of new posts are looked up for their slots alone.
    private mutating func findMembershipsAndPosts(
        _ batch: borrowing EventBatch, _ group: Range<Int>, _ indexes: inout [EventIndexes]
    ) {
        var (messages, replies) = (KeyGroup<UInt128>(), KeyGroup<UInt128>())
        var memberships = KeyGroup<UInt64>()
        for row in group {
            guard let kind = batch.rows[row].kind else { continue }
            let found = indexes[row]
            if kind == .messagePosted || kind.form.changesMembership, found.membership < 0, found.user >= 0,
                found.thread >= 0
            {
                memberships.append(PairInterner.key(found.user, found.thread), for: row)
            }
            switch kind {
            case .messagePosted, .messageEdited, .messageRetracted, .messageRemoved:
                if found.secondIndex < 0 { messages.append(batch.rows[row].secondID, for: row) }
            case .replyPosted:
                if found.message < 0 { messages.append(batch.rows[row].message, for: row) }
                replies.append(batch.rows[row].secondID, for: row)
            case .replyEdited, .replyRetracted, .replyRemoved:
                if found.secondIndex < 0 { replies.append(batch.rows[row].secondID, for: row) }
            default: break
            }
        }
        self.memberships.find(&memberships)
        memberships.forEachFound { indexes[$0].membership = $1 }
        posts.messages.ids.find(&messages)
        messages.forEachFound { row, index in
            if batch.rows[row].kind == .replyPosted {
                indexes[row].message = index
            } else {
                indexes[row].secondIndex = index
            }
        }
        posts.replies.ids.find(&replies)
        replies.forEachFound { row, index in
            if batch.rows[row].kind != .replyPosted { indexes[row].secondIndex = index }
        }
    }
}

extension EventIndexes {
    @inline(__always)
    fileprivate mutating func setMembership(_ found: (index: Int, isNew: Bool)) {
        (membership, isNew) = found
    }

    /// Records the index of a message, a reply or a session.
    @inline(__always)
    fileprivate mutating func setSecond(_ found: (index: Int, isNew: Bool)) {
        (secondIndex, isNew) = found
    }
}

extension Identities {
    /// Prefetches the table slots for deciding some commands, at most
    /// ``Columns/KeyGroup/capacity``.
    ///
    /// The loads overlap instead of waiting for one another.
    package mutating func prefetch(_ requests: Span<CommandRequest>) {
        var (users, threads, messages) = (KeyGroup<UInt128>(), KeyGroup<UInt128>(), KeyGroup<UInt128>())
        for row in requests.indices {
            switch requests[row].command.kind {
            case .postMessage, .joinThread, .leaveThread, .markRead:
                users.append(requests[row].command.actorID.bits, for: row)
                threads.append(requests[row].command.threadID.bits, for: row)
                if let message = requests[row].command.id { messages.append(message, for: row) }
            case .reply, .edit, .retract:
                guard case .message(let message) = requests[row].command.postID else { continue }
                users.append(requests[row].command.actorID.bits, for: row)
                messages.append(message.bits, for: row)
            default: break
            }
        }
        self.users.find(&users)
        self.threads.find(&threads)
        posts.messages.ids.find(&messages)
        var found = InlineArray<64, Int>(repeating: -1)
        users.forEachFound { found[$0] = $1 }
        var memberships = KeyGroup<UInt64>()
        threads.forEachFound { if found[$0] >= 0 { memberships.append(PairInterner.key(found[$0], $1), for: $0) } }
        self.memberships.find(&memberships)
    }
}
