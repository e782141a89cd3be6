package import ChatDomain
import Columns

/// A thread as of a position.
package struct ThreadRecord: Hashable, Sendable {
    /// The id.
    package var id: ThreadID
    /// nil if the name has been erased.
    package var name: String?
    /// When it was created, as shown.
    package var createdAt: Timestamp
    /// How many messages its timeline shows, retracted ones included, replies not.
    package var messageCount: Int
    /// How many members it has.
    package var memberCount: Int
    /// The position of the thread's latest event, read markers aside.
    package var lastPosition: Position
    /// Whether an import opened it.
    package var isImported: Bool
}

/// A thread, by its index, in the order of the latest events.
package struct ThreadPlace: Sendable {
    let thread: Int
    /// The position of the thread's latest event.
    package let last: Position
}

/// A thread and where it was opened.
package struct ThreadOpening: Sendable {
    package let id: ThreadID
    package let position: Position
}

/// How a thread's name is compared with one that is looked for, the first way that finds any counting.
package enum ThreadNameMatch: CaseIterable, Sendable {
    /// The same spelling.
    case exact
    /// The same under canonical caseless matching.
    case caseless

    /// Whether two names are the same.
    package func isMatch(_ name: String, _ other: String) -> Bool {
        switch self {
        case .exact: name == other
        case .caseless: Username.foldKey(name) == Username.foldKey(other)
        }
    }
}

extension PageRequest {
    /// The page of threads in the order of their latest events.
    package func slice(of places: [ThreadPlace]) -> ArraySlice<ThreadPlace> { places[indices(count: places.count) { places[$0].last }] }
}

// Row by row, for questions that are asked in several sections.
extension ReadModels {
    /// The id of a thread.
    package func threadID(ofThread thread: Int) -> ThreadID { identities.threadID(thread) }

    /// The index of the thread of a membership.
    package func thread(ofMembership row: Int) -> Int { identities.memberships.pair(row).second }

    /// Where a thread stands among the others, nil if it was not there as of a position.
    package func place(ofThread thread: Int, asOf position: Position) -> ThreadPlace? {
        guard thread < views.timelines.threads.count, isThere(thread, asOf: position) else { return nil }
        return ThreadPlace(thread: thread, last: lastPosition(ofThread: thread, asOf: position))
    }

    /// A thread at its place.
    package func record(_ place: ThreadPlace, asOf position: Position) -> ThreadRecord { record(ofThread: place.thread, asOf: position) }

    /// Where a thread was opened, nil if it was not as of a position or its name is another.
    package func opening(_ thread: Int, asOf position: Position, where isNamed: (String) -> Bool) -> ThreadOpening? {
        guard thread < views.timelines.threads.count else { return nil }
        let openedAt = views.timelines.threads[thread].openedAt
        guard openedAt > 0, openedAt <= position, let name = views.timelines.threads[thread].name, isNamed(name) else { return nil }
        return ThreadOpening(id: identities.threadID(thread), position: openedAt)
    }
}

/// A message or a reply as of a position: where its text stands, and what became of it.
package struct PostRecord<ID: EntityID>: Hashable, Sendable {
    /// The id.
    package var id: ID
    /// The position of the event that posted it.
    package var position: Position
    /// The position of the latest edit.
    package var editPosition: Position?
    /// Who wrote it.
    package var author: UserID
    /// The author's name, nil if it has been erased.
    package var authorName: String?
    /// Whether it was retracted.
    package var isRetracted: Bool
    /// How many replies there are that are not retracted; 0 for a reply.
    package var replyCount: Int
    /// Whether an import posted it.
    package var isImported: Bool
    /// Whether its text is kept from the viewer who asks.
    package var isWithheld = false
}

extension ReadModels {
    /// Every thread with this name, in the order in which they were opened; where there is none, those whose names are the same under caseless matching.
    ///
    /// - Complexity: O(*n*) in the threads.
    package func threads(named name: String, asOf position: Position, where isShown: (ThreadID) -> Bool = { _ in true }) -> [ThreadID] {
        for match in ThreadNameMatch.allCases {
            let found = compactMap(scanOfThreads()) { thread in
                opening(thread, asOf: position) { match.isMatch($0, name) }.flatMap { isShown($0.id) ? $0 : nil }
            }
            if !found.isEmpty { return found.sorted { $0.position < $1.position }.map(\.id) }
        }
        return []
    }

    /// One thread, nil if there was none of this id.
    package func thread(_ id: ThreadID, asOf position: Position) -> ThreadRecord? {
        number(ofThread: id, asOf: position).map { record(ofThread: $0, asOf: position) }
    }

    /// Whether there was a thread of this id: less work than ``thread(_:asOf:)``.
    package func hasThread(_ id: ThreadID, asOf position: Position) -> Bool { number(ofThread: id, asOf: position) != nil }

    /// A page of the threads, ordered by their latest events.
    ///
    /// - Complexity: O(*n* log *n*) in the threads.
    package func threads(_ page: PageRequest, asOf position: Position, where isShown: (ThreadID) -> Bool = { _ in true }) -> [ThreadRecord]
    {
        let places = compactMap(scanOfThreads()) { thread in
            isShown(identities.threadID(thread)) ? place(ofThread: thread, asOf: position) : nil
        }
        return page.slice(of: places.sorted { $0.last < $1.last }).map { record($0, asOf: position) }
    }

    /// A page of a thread's messages.
    ///
    /// - Complexity: O(log *n* + *m*) in the thread's messages and the page's.
    package func messages(of thread: ThreadID, _ page: PageRequest, asOf position: Position) -> [PostRecord<MessageID>] {
        guard let thread = number(ofThread: thread, asOf: position) else { return [] }
        let numbers = views.timelines.threads[thread].messages
        let indices = page.indices(count: messageCount(ofThread: thread, asOf: position)) {
            identities.messageFacts.position(Int(numbers[$0]))
        }
        var posts: [Int] = []
        posts.reserveCapacity(indices.count)
        for index in indices { posts.append(Int(numbers[index])) }
        return records(ofMessages: posts, asOf: position)
    }

    /// A page of the replies to a message.
    ///
    /// - Complexity: O(log *n* + *m*) in the message's replies and the page's; O(log² *n*) for a page with bounds.
    package func replies(to message: MessageID, _ page: PageRequest, asOf position: Position) -> [PostRecord<ReplyID>] {
        guard let message = number(ofMessage: message, asOf: position) else { return [] }
        let histories = views.timelines.messageHistories
        let ranks = page.indices(count: histories.count(.reply, of: message, asOf: position)) {
            histories.position(.reply, of: message, rank: $0 + 1)
        }
        let replies = histories.values(.reply, of: message, ranks: ranks.lowerBound + 1..<ranks.upperBound + 1).map { Int($0) }
        return records(ofReplies: replies, asOf: position)
    }

    /// One message, nil if there was none of this id.
    package func message(_ id: MessageID, asOf position: Position) -> PostRecord<MessageID>? {
        number(ofMessage: id, asOf: position).map { records(ofMessages: [$0], asOf: position)[0] }
    }

    /// One reply, nil if there was none of this id.
    package func reply(_ id: ReplyID, asOf position: Position) -> PostRecord<ReplyID>? {
        number(ofReply: id, asOf: position).map { records(ofReplies: [$0], asOf: position)[0] }
    }

    /// The position of the event that wrote the text that a message or a reply had; nil if there was no such post, or if it had been retracted.
    package func textPosition(of post: PostID, asOf position: Position) -> Position? {
        withHistory(of: post, asOf: position) { number, table, histories in
            guard let history = histories.find(number) else { return table.position(number) }
            if histories.latest(.retraction, in: history, asOf: position) != nil { return nil }
            return histories.latest(.edit, in: history, asOf: position) ?? table.position(number)
        }
    }

    /// The positions of the latest edits of a message or a reply, at most `limit` of them, oldest first.
    package func edits(of post: PostID, limit: Int, asOf position: Position) -> [Position] {
        withHistory(of: post, asOf: position) { $2.latest(.edit, of: $0, limit: limit, asOf: position) } ?? []
    }

    /// The position at which a message or a reply was retracted, nil if it was not.
    package func retraction(of post: PostID, asOf position: Position) -> Position? {
        withHistory(of: post, asOf: position) { $2.latest(.retraction, of: $0, asOf: position) }
    }

    /// The thread that a message stands in.
    package func thread(of message: MessageID, asOf position: Position) -> ThreadID? {
        number(ofMessage: message, asOf: position).map { identities.threadID(identities.messageFacts.place($0)) }
    }

    /// The message that a reply answers.
    package func message(answeredBy reply: ReplyID, asOf position: Position) -> MessageID? {
        number(ofReply: reply, asOf: position).map { MessageID(bits: identities.messages.id(identities.replyFacts.place($0))) }
    }

    /// The latest message of a thread, retracted or not.
    package func lastMessage(of thread: ThreadID, asOf position: Position) -> PostRecord<MessageID>? {
        guard let thread = number(ofThread: thread, asOf: position) else { return nil }
        let count = messageCount(ofThread: thread, asOf: position)
        return count == 0 ? nil : records(ofMessages: [Int(views.timelines.threads[thread].messages[count - 1])], asOf: position)[0]
    }

    /// How many messages of a thread a member had not read: those after the later of read marker and last join, by others, not retracted; 0 for who was no member.
    ///
    /// - Complexity: O(log *n*) in the thread's messages and their retractions, and some hundred reads.
    package func unreadCount(of user: UserID, in thread: ThreadID, asOf position: Position) -> Int {
        guard let user = identities.index(ofUser: user), let thread = number(ofThread: thread, asOf: position),
            let membership = identities.memberships.find(user, thread), let since = views.membership.since(membership, asOf: position)
        else { return 0 }
        let seen = max(since, views.membership.readUpTo(membership, asOf: position))
        let count = messageCount(ofThread: thread, asOf: position)
        let numbers = views.timelines.threads[thread].messages
        let first = partition(count) { identities.messageFacts.position(Int(numbers[$0])) > seen }
        return views.unread.count(first..<count, of: thread, membership, views.timelines, asOf: position)
    }

    /// How many threads there were.
    package func threadCount(asOf position: Position) -> Int { views.timelines.threads.indices.count { isThere($0, asOf: position) } }

    /// How many messages there were, the retracted ones too.
    package func messageCount(asOf position: Position) -> Int { identities.messageFacts.count(through: position) }

    /// How many replies there were, the retracted ones too.
    package func replyCount(asOf position: Position) -> Int { identities.replyFacts.count(through: position) }
}

extension ReadModels {
    /// The number of a thread that was there as of a position: something had happened in it, its opening or, where that was lost, anything else.
    func number(ofThread id: ThreadID, asOf position: Position) -> Int? {
        guard let thread = identities.index(ofThread: id), thread < views.timelines.threads.count, isThere(thread, asOf: position) else {
            return nil
        }
        return thread
    }

    private func isThere(_ thread: Int, asOf position: Position) -> Bool {
        let openedAt = views.timelines.threads[thread].openedAt
        return openedAt > 0 && openedAt <= position || lastPosition(ofThread: thread, asOf: position) > 0
    }

    private func number(ofMessage id: MessageID, asOf position: Position) -> Int? {
        guard let message = identities.messages.find(id.bits), identities.messageFacts.position(message) <= position else { return nil }
        return message
    }

    private func number(ofReply id: ReplyID, asOf position: Position) -> Int? {
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

    private func record(ofThread thread: Int, asOf position: Position) -> ThreadRecord {
        let row = views.timelines.threads[thread]
        return ThreadRecord(
            id: identities.threadID(thread), name: row.openedAt <= position ? row.name : nil, createdAt: row.createdAt,
            messageCount: messageCount(ofThread: thread, asOf: position), memberCount: row.latest(asOf: position).members,
            lastPosition: lastPosition(ofThread: thread, asOf: position), isImported: row.isImported)
    }

    /// Lends the number, the table and the histories of a post that existed as of a position; nil if there was none.
    private func withHistory<Value>(
        of post: PostID, asOf position: Position, _ body: (Int, borrowing PostFacts, borrowing PostHistories) -> Value?
    ) -> Value? {
        switch post {
        case .message(let id):
            number(ofMessage: id, asOf: position).flatMap { body($0, identities.messageFacts, views.timelines.messageHistories) }
        case .reply(let id): number(ofReply: id, asOf: position).flatMap { body($0, identities.replyFacts, views.timelines.replyHistories) }
        }
    }

    private func records(ofMessages messages: [Int], asOf position: Position) -> [PostRecord<MessageID>] {
        records(messages, identities.messageFacts, identities.messages, views.timelines.messageHistories, asOf: position)
    }

    private func records(ofReplies replies: [Int], asOf position: Position) -> [PostRecord<ReplyID>] {
        records(replies, identities.replyFacts, identities.replies, views.timelines.replyHistories, asOf: position)
    }

    /// The records of some posts of a table; the histories are lent, because a copy of them counts a reference for each of their columns.
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
                    // Nobody replies to a reply, so that it has none.
                    replyCount: history.map {
                        histories.count(.reply, in: $0, asOf: position) - histories.count(.replyRetraction, in: $0, asOf: position)
                    } ?? 0,
                    isImported: columns.areImported[index]))
        }
        return records
    }
}

/// What the tables hold of some posts.
///
/// Read column by column: most of these reads wait for memory, and those of a column do not wait for one another as those of a row do.
private struct PostColumns {
    var authors: [Int] = []
    var areImported: [Bool] = []
    var positions: [Position] = []
    var ids: [UInt128] = []
    /// The numbers of the histories of those that have one.
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
            let origin = table.origin(post)
            authors.append(origin.author)
            areImported.append(origin.isImported)
        }
        for post in posts { positions.append(table.position(post)) }
        for post in posts { self.ids.append(ids.id(post)) }
        for post in posts { self.histories.append(histories.find(post)) }
        authorNames = users.names(of: authors, asOf: position)
    }
}
