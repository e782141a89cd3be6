package import ChatDomain
import Columns
import Primitives

/// A thread as of a position.
package struct ThreadRecord: Hashable, Sendable {
    /// The id.
    package var id: ThreadID
    /// The name; nil if erased.
    package var name: String?
    /// The display time of creation.
    package var createdAt: Timestamp
    /// The number of messages in its timeline, including retracted ones and excluding replies.
    package var messageCount: Int
    /// The number of members.
    package var memberCount: Int
    /// The position of the thread's latest event other than a read marker.
    package var lastPosition: Position
    /// Whether an import opened it.
    package var isImported: Bool
    /// Who may join it.
    package var policy: ThreadPolicy
    /// The posts that its members may read.
    package var history: ThreadHistory
    /// Whether it is locked.
    package var isLocked: Bool
    /// Whether it is closed.
    package var isClosed: Bool
}

/// A thread's index and the position of its latest event, the sort key of thread lists.
package struct ThreadSortKey: Sendable {
    let thread: Int
    /// The position of the thread's latest event.
    package let lastPosition: Position
}

/// A thread and the position of its opening.
package struct ThreadOpening: Sendable {
    package let id: ThreadID
    package let position: Position
}

/// The ways to compare thread names; a later case applies only if the earlier ones find no thread.
package enum ThreadNameMatch: CaseIterable, Sendable {
    /// Equal spelling.
    case exact
    /// Equal under canonical caseless matching.
    case caseless

    /// Whether two names match.
    package func matches(_ name: String, _ other: String) -> Bool {
        switch self {
        case .exact: name == other
        case .caseless: Username.foldKey(name) == Username.foldKey(other)
        }
    }
}

extension PageRequest {
    /// Returns the page of a list of threads ordered by latest event.
    package func slice(of places: [ThreadSortKey]) -> ArraySlice<ThreadSortKey> {
        places[indices(count: places.count) { places[$0].lastPosition }]
    }
}

// Queries of one row each, so that a caller can release the models' lock between rows.
extension ReadModels {
    /// Returns the id of a thread.
    package func threadID(ofThread thread: Int) -> ThreadID { identities.threadID(thread) }

    /// Returns the index of a membership's thread.
    package func thread(ofMembership row: Int) -> Int { identities.memberships.pair(row).second }

    /// Returns a thread's sort key; nil if the thread did not exist as of the position.
    package func sortKey(ofThread thread: Int, asOf position: Position) -> ThreadSortKey? {
        guard thread < views.timelines.threads.count, threadExists(thread, asOf: position) else { return nil }
        return ThreadSortKey(thread: thread, lastPosition: lastPosition(ofThread: thread, asOf: position))
    }

    /// Returns the thread with a sort key.
    ///
    /// - Parameter start: Only later messages are counted.
    package func record(_ place: ThreadSortKey, asOf position: Position, after start: Position = 0) -> ThreadRecord {
        record(ofThread: place.thread, asOf: position, after: start)
    }

    /// Returns the id of the thread with a sort key.
    package func threadID(_ place: ThreadSortKey) -> ThreadID { identities.threadID(place.thread) }

    /// Returns a thread's opening; nil if it was opened later or its name does not match.
    ///
    /// Also nil if the opening was lost or the name erased.
    package func opening(_ thread: Int, asOf position: Position, where isNamed: (String) -> Bool) -> ThreadOpening? {
        guard thread < views.timelines.threads.count else { return nil }
        let openedAt = views.timelines.threads[thread].openedAt
        guard openedAt > 0, openedAt <= position, let name = views.timelines.threads[thread].name, isNamed(name) else { return nil }
        return ThreadOpening(id: identities.threadID(thread), position: openedAt)
    }
}

/// A message or a reply as of a position, without its text.
package struct PostRecord<ID: EntityID>: Hashable, Sendable {
    /// The id.
    package var id: ID
    /// The position of the event that posted it.
    package var position: Position
    /// The position of the latest edit; nil if never edited.
    package var editPosition: Position?
    /// The author.
    package var author: UserID
    /// The author's name; nil if erased.
    package var authorName: String?
    /// Whether its author retracted it.
    package var isRetracted: Bool
    /// Whether a moderator removed it.
    package var isRemoved: Bool
    /// The number of replies that are neither retracted nor removed; 0 for a reply.
    package var replyCount: Int
    /// Whether an import posted it.
    package var isImported: Bool
    /// Whether its text is withheld from the viewer.
    package var isWithheld = false
    /// Whether the viewer has blocked its author.
    package var isBlocked = false

    /// Whether it is retracted or removed.
    package var isGone: Bool { isRetracted || isRemoved }
}

extension ReadModels {
    /// Returns the threads with a name, in opening order.
    ///
    /// If no thread has the exact spelling, names are compared by canonical caseless matching.
    ///
    /// - Complexity: O(*n*) in the number of threads.
    package func threads(named name: String, asOf position: Position, where isShown: (ThreadID) -> Bool = { _ in true }) -> [ThreadID] {
        for match in ThreadNameMatch.allCases {
            let found = compactMap(threadScan()) { thread in
                opening(thread, asOf: position) { match.matches($0, name) }.flatMap { isShown($0.id) ? $0 : nil }
            }
            if !found.isEmpty { return found.sorted { $0.position < $1.position }.map(\.id) }
        }
        return []
    }

    /// Returns one thread; nil if it did not exist.
    ///
    /// - Parameter start: Only later messages are counted.
    package func thread(_ id: ThreadID, asOf position: Position, after start: Position = 0) -> ThreadRecord? {
        index(ofThread: id, asOf: position).map { record(ofThread: $0, asOf: position, after: start) }
    }

    /// Whether a thread existed; cheaper than ``thread(_:asOf:)``.
    package func hasThread(_ id: ThreadID, asOf position: Position) -> Bool { index(ofThread: id, asOf: position) != nil }

    /// Returns a page of the threads, ordered by latest event.
    ///
    /// - Complexity: O(*n* log *n*) in the number of threads.
    package func threads(_ page: PageRequest, asOf position: Position, where isShown: (ThreadID) -> Bool = { _ in true }) -> [ThreadRecord]
    {
        let places = compactMap(threadScan()) { thread in
            isShown(identities.threadID(thread)) ? sortKey(ofThread: thread, asOf: position) : nil
        }
        return page.slice(of: places.sorted { $0.lastPosition < $1.lastPosition }).map { record($0, asOf: position) }
    }

    /// Returns a page of a thread's messages.
    ///
    /// - Complexity: O(log *n* + *m*), where *n* is the number of the thread's messages and *m* the
    ///   size of the page.
    ///
    /// - Parameter start: Only later messages are listed.
    package func messages(
        of thread: ThreadID, _ page: PageRequest, asOf position: Position, after start: Position = 0
    ) -> [PostRecord<MessageID>] {
        guard let thread = index(ofThread: thread, asOf: position) else { return [] }
        let numbers = views.timelines.threads[thread].messages
        let hidden = messageCount(ofThread: thread, asOf: min(start, position))
        let indices = page.indices(count: messageCount(ofThread: thread, asOf: position) - hidden) {
            identities.messageFacts.position(Int(numbers[hidden + $0]))
        }
        var posts: [Int] = []
        posts.reserveCapacity(indices.count)
        for index in indices { posts.append(Int(numbers[hidden + index])) }
        return records(ofMessages: posts, asOf: position)
    }

    /// Returns a page of the replies to a message.
    ///
    /// - Complexity: O(log *n* + *m*), where *n* is the number of replies and *m* the size of the
    ///   page; O(log² *n* + *m*) with bounds.
    package func replies(to message: MessageID, _ page: PageRequest, asOf position: Position) -> [PostRecord<ReplyID>] {
        guard let message = index(ofMessage: message, asOf: position) else { return [] }
        let histories = views.timelines.messageHistories
        let ranks = page.indices(count: histories.count(.reply, of: message, asOf: position)) {
            histories.position(.reply, of: message, rank: $0 + 1)
        }
        let replies = histories.values(.reply, of: message, ranks: ranks.lowerBound + 1..<ranks.upperBound + 1).map { Int($0) }
        return records(ofReplies: replies, asOf: position)
    }

    /// Returns one message; nil if it did not exist.
    package func message(_ id: MessageID, asOf position: Position) -> PostRecord<MessageID>? {
        index(ofMessage: id, asOf: position).map { records(ofMessages: [$0], asOf: position)[0] }
    }

    /// Returns one reply; nil if it did not exist.
    package func reply(_ id: ReplyID, asOf position: Position) -> PostRecord<ReplyID>? {
        index(ofReply: id, asOf: position).map { records(ofReplies: [$0], asOf: position)[0] }
    }

    /// Returns the position of the event that wrote a post's text; nil if unknown or retracted.
    ///
    /// - Parameter includesRemoved: Whether a removed post has its text.
    package func textPosition(of post: PostID, includesRemoved: Bool, asOf position: Position) -> Position? {
        withHistory(of: post, asOf: position) { number, table, histories in
            guard let history = histories.find(number) else { return table.position(number) }
            if histories.latest(.retraction, in: history, asOf: position) != nil { return nil }
            if !includesRemoved, histories.latest(.removal, in: history, asOf: position) != nil { return nil }
            return histories.latest(.edit, in: history, asOf: position) ?? table.position(number)
        }
    }

    /// Returns the positions of a post's latest edits, at most `limit`, oldest first.
    package func editPositions(of post: PostID, limit: Int, asOf position: Position) -> [Position] {
        withHistory(of: post, asOf: position) { $2.latest(.edit, of: $0, limit: limit, asOf: position) } ?? []
    }

    /// Returns the position of a post's retraction; nil if not retracted.
    package func retractionPosition(of post: PostID, asOf position: Position) -> Position? {
        withHistory(of: post, asOf: position) { $2.latest(.retraction, of: $0, asOf: position) }
    }

    /// Returns the position of a post's removal; nil if not removed.
    package func removalPosition(of post: PostID, asOf position: Position) -> Position? {
        withHistory(of: post, asOf: position) { $2.latest(.removal, of: $0, asOf: position) }
    }

    /// Returns the position of the event that posted a message; nil if the message did not exist.
    package func postingPosition(of message: MessageID, asOf position: Position) -> Position? {
        index(ofMessage: message, asOf: position).map { identities.messageFacts.position($0) }
    }

    /// Returns the thread of a message; nil if the message did not exist.
    package func thread(of message: MessageID, asOf position: Position) -> ThreadID? {
        index(ofMessage: message, asOf: position).map { identities.threadID(identities.messageFacts.parent($0)) }
    }

    /// Returns the message that a reply answers; nil if the reply did not exist.
    package func message(answeredBy reply: ReplyID, asOf position: Position) -> MessageID? {
        index(ofReply: reply, asOf: position).map { MessageID(bits: identities.messages.id(identities.replyFacts.parent($0))) }
    }

    /// Returns the latest message of a thread, including retracted ones.
    ///
    /// - Parameter start: Only later messages count.
    package func lastMessage(of thread: ThreadID, asOf position: Position, after start: Position = 0) -> PostRecord<MessageID>? {
        guard let thread = index(ofThread: thread, asOf: position) else { return nil }
        let count = messageCount(ofThread: thread, asOf: position)
        guard count > 0, identities.messageFacts.position(Int(views.timelines.threads[thread].messages[count - 1])) > start else {
            return nil
        }
        return records(ofMessages: [Int(views.timelines.threads[thread].messages[count - 1])], asOf: position)[0]
    }

    /// Returns the number of a thread's messages that a member had not read; 0 for other users.
    ///
    /// A message is unread if it is after both the read marker and the last join, written by
    /// another user, and not retracted.
    ///
    /// - Complexity: O(log *n*) in the number of the thread's messages and retractions.
    package func unreadCount(of user: UserID, in thread: ThreadID, asOf position: Position) -> Int {
        guard let user = identities.index(ofUser: user), let thread = index(ofThread: thread, asOf: position),
            let membership = identities.memberships.find(user, thread),
            let since = views.membership.joinPosition(membership, asOf: position)
        else { return 0 }
        let seen = max(since, views.membership.readMarker(membership, asOf: position))
        let count = messageCount(ofThread: thread, asOf: position)
        let numbers = views.timelines.threads[thread].messages
        let first = (0..<count).partitioningIndex { identities.messageFacts.position(Int(numbers[$0])) > seen }
        return views.unread.count(first..<count, of: thread, membership, views.timelines, asOf: position)
    }

    /// Returns the number of threads.
    package func threadCount(asOf position: Position) -> Int { views.timelines.threads.indices.count { threadExists($0, asOf: position) } }

    /// Returns the number of messages, including retracted ones.
    package func messageCount(asOf position: Position) -> Int { identities.messageFacts.count(through: position) }

    /// Returns the number of replies, including retracted ones.
    package func replyCount(asOf position: Position) -> Int { identities.replyFacts.count(through: position) }
}

extension ReadModels {
    /// Returns the index of a thread that existed as of a position.
    ///
    /// A thread exists from its first event, even if the record of its opening was lost.
    func index(ofThread id: ThreadID, asOf position: Position) -> Int? {
        guard let thread = identities.index(ofThread: id), thread < views.timelines.threads.count, threadExists(thread, asOf: position)
        else {
            return nil
        }
        return thread
    }

    private func threadExists(_ thread: Int, asOf position: Position) -> Bool {
        let openedAt = views.timelines.threads[thread].openedAt
        return openedAt > 0 && openedAt <= position || lastPosition(ofThread: thread, asOf: position) > 0
    }

    private func index(ofMessage id: MessageID, asOf position: Position) -> Int? {
        guard let message = identities.messages.find(id.bits), identities.messageFacts.position(message) <= position else { return nil }
        return message
    }

    private func index(ofReply id: ReplyID, asOf position: Position) -> Int? {
        guard let reply = identities.replies.find(id.bits), identities.replyFacts.position(reply) <= position else { return nil }
        return reply
    }

    private func messageCount(ofThread thread: Int, asOf position: Position) -> Int {
        let numbers = views.timelines.threads[thread].messages
        guard let last = numbers.last else { return 0 }
        if identities.messageFacts.position(Int(last)) <= position { return numbers.count }
        return firstIndex(of: numbers.count, from: position + 1) { identities.messageFacts.position(Int(numbers[$0])) }
    }

    private func lastPosition(ofThread thread: Int, asOf position: Position) -> Position {
        let count = messageCount(ofThread: thread, asOf: position)
        let message = count == 0 ? 0 : identities.messageFacts.position(Int(views.timelines.threads[thread].messages[count - 1]))
        return max(message, views.timelines.threads[thread].latest(asOf: position).position)
    }

    /// Returns the position of the first event of a thread, which is its opening unless that was
    /// lost.
    func firstPosition(ofThread thread: Int) -> Position {
        let row = views.timelines.threads[thread]
        if row.openedAt > 0 { return row.openedAt }
        let message = row.messages.isEmpty ? nil : identities.messageFacts.position(Int(row.messages[0]))
        let other = row.nonMessagePositions.isEmpty ? nil : row.nonMessagePositions[0]
        return min(message ?? .max, other ?? .max)
    }

    private func record(ofThread thread: Int, asOf position: Position, after start: Position = 0) -> ThreadRecord {
        let row = views.timelines.threads[thread]
        let hidden = start == 0 ? 0 : messageCount(ofThread: thread, asOf: min(start, position))
        let (policy, history) = policyAndHistory(ofThread: thread, asOf: position)
        let lock = views.community.locks.value(of: thread, asOf: position)
        return ThreadRecord(
            id: identities.threadID(thread), name: row.openedAt <= position ? row.name : nil, createdAt: row.createdAt,
            messageCount: messageCount(ofThread: thread, asOf: position) - hidden, memberCount: row.latest(asOf: position).members,
            lastPosition: lastPosition(ofThread: thread, asOf: position), isImported: row.isImported, policy: policy, history: history,
            isLocked: lock & CommunityHistory.Lock.locked != 0, isClosed: lock & CommunityHistory.Lock.closed != 0)
    }

    /// Calls the body with a post's index, facts and histories; nil if the post did not exist.
    private func withHistory<Value>(
        of post: PostID, asOf position: Position, _ body: (Int, borrowing PostFacts, borrowing PostHistories) -> Value?
    ) -> Value? {
        switch post {
        case .message(let id):
            index(ofMessage: id, asOf: position).flatMap { body($0, identities.messageFacts, views.timelines.messageHistories) }
        case .reply(let id): index(ofReply: id, asOf: position).flatMap { body($0, identities.replyFacts, views.timelines.replyHistories) }
        }
    }

    private func records(ofMessages messages: [Int], asOf position: Position) -> [PostRecord<MessageID>] {
        records(messages, identities.messageFacts, identities.messages, views.timelines.messageHistories, asOf: position)
    }

    private func records(ofReplies replies: [Int], asOf position: Position) -> [PostRecord<ReplyID>] {
        records(replies, identities.replyFacts, identities.replies, views.timelines.replyHistories, asOf: position)
    }

    /// Returns the records of posts.
    ///
    /// The histories are borrowed, because a copy retains every column.
    private func records<ID>(
        _ posts: [Int], _ table: borrowing PostFacts, _ ids: borrowing IDTable, _ histories: borrowing PostHistories,
        asOf position: Position
    ) -> [PostRecord<ID>] {
        let columns = PostColumns(posts, table, ids, histories, views.users, asOf: position)
        var records: [PostRecord<ID>] = []
        records.reserveCapacity(posts.count)
        for index in posts.indices {
            let history = columns.histories[index]
            records.append(
                PostRecord(
                    id: ID(bits: columns.ids[index]), position: columns.positions[index],
                    editPosition: history.flatMap { histories.latest(.edit, in: $0, asOf: position) },
                    author: identities.userID(columns.authors[index]), authorName: columns.authorNames[index],
                    isRetracted: history.flatMap { histories.latest(.retraction, in: $0, asOf: position) } != nil,
                    isRemoved: history.flatMap { histories.latest(.removal, in: $0, asOf: position) } != nil,
                    // A reply has no replies, so its counts are 0.
                    replyCount: history.map {
                        histories.count(.reply, in: $0, asOf: position) - histories.count(.replyWithdrawal, in: $0, asOf: position)
                    } ?? 0,
                    isImported: columns.areImported[index]))
        }
        return records
    }
}

/// The column values of some posts.
///
/// Read column by column, because the cache misses of one column overlap and those of one row do
/// not.
private struct PostColumns {
    var authors: [Int] = []
    var areImported: [Bool] = []
    var positions: [Position] = []
    var ids: [UInt128] = []
    /// The index of each post's history; nil if it has none.
    var histories: [Int?] = []
    let authorNames: [String?]

    init(
        _ posts: [Int], _ table: borrowing PostFacts, _ ids: borrowing IDTable, _ histories: borrowing PostHistories,
        _ users: borrowing UserViews, asOf position: Position
    ) {
        authors.reserveCapacity(posts.count)
        areImported.reserveCapacity(posts.count)
        positions.reserveCapacity(posts.count)
        self.ids.reserveCapacity(posts.count)
        self.histories.reserveCapacity(posts.count)
        for post in posts {
            let origin = table.authorship(post)
            authors.append(origin.author)
            areImported.append(origin.isImported)
        }
        for post in posts { positions.append(table.position(post)) }
        for post in posts { self.ids.append(ids.id(post)) }
        for post in posts { self.histories.append(histories.find(post)) }
        authorNames = users.names(of: authors, asOf: position)
    }
}
