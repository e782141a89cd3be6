package import ChatDomain
package import ChatValues
import Columns
import Primitives

/// A message or a reply as of a position, without its text.
package struct PostRecord: Hashable, Sendable {
    /// The id.
    package var id: PostID
    /// The message itself, or the message that a reply answers.
    package var message: MessageID
    /// The position of the event that posted it.
    package var position: Position
    /// The position of the latest edit; nil if never edited.
    package var editPosition: Position?
    /// The author.
    package var author: UserID
    /// The author's index.
    package var authorIndex: Int
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
    /// Whether anybody ever reacted to it.
    package var mayHaveReactions: Bool
    /// The present reactions, which only ``ReadModels/reactions(to:of:asOf:)`` knows; nil if there
    /// are none, because a copy of a row retains an empty array (Benchmarks/README.md, R2).
    package var reactions: [PostReaction]?
    /// Whether its text is withheld from the viewer.
    package var isWithheld = false
    /// Whether the viewer has blocked its author.
    package var isBlocked = false

    /// Whether it is withdrawn: retracted or removed.
    package var isWithdrawn: Bool { isRetracted || isRemoved }

    /// The post without what others said to it.
    package var alone: PostRecord {
        var row = self
        (row.replyCount, row.mayHaveReactions) = (0, false)
        return row
    }
}

extension ReadModels {
    /// Returns the author of a post; nil if it is unknown.
    package func authorID(of post: PostID) -> UserID? {
        identities.find(post).map { identities.userID(identities.author(of: $0)) }
    }

    /// Returns a page of a thread's messages.
    ///
    /// - Complexity: O(log *n* + *m*), where *n* is the number of the thread's messages and *m* the
    ///   size of the page.
    ///
    /// - Parameter start: Only later messages are listed.
    /// - Returns: The messages, oldest first, and whether older ones precede them.
    package func messages(
        of thread: ThreadID, _ page: PageRequest, asOf position: Position, after start: Position = 0
    ) -> (posts: [PostRecord], hasOlder: Bool) {
        guard let thread = index(ofThread: thread, asOf: position) else { return ([], false) }
        let messageIndexes = views.timelines.threads[thread].messages
        let hidden = hiddenCount(ofThread: thread, through: start, asOf: position)
        let indices = page.indices(count: messageCount(ofThread: thread, asOf: position) - hidden) {
            identities.posts.messages.position(Int(messageIndexes[hidden + $0]))
        }
        var posts: [Int] = []
        posts.reserveCapacity(indices.count)
        for index in indices { posts.append(Int(messageIndexes[hidden + index])) }
        return (records(posts, asOf: position), indices.lowerBound > 0)
    }

    /// Returns a page of the replies to a message.
    ///
    /// - Complexity: O(log *n* + *m*), where *n* is the number of replies and *m* the size of the
    ///   page; O(log² *n* + *m*) with bounds.
    ///
    /// - Returns: The replies, oldest first, and whether older ones precede them.
    package func replies(to id: MessageID, _ page: PageRequest, asOf position: Position) -> (
        posts: [PostRecord], hasOlder: Bool
    ) {
        guard let message = key(of: .message(id), asOf: position)?.index else { return ([], false) }
        let histories = views.timelines.histories.messages
        let ranks = page.indices(count: histories.count(.reply, of: message, asOf: position)) {
            histories.position(.reply, of: message, rank: $0 + 1)
        }
        let replies = histories.values(.reply, of: message, ranks: ranks.lowerBound + 1..<ranks.upperBound + 1).map {
            Int($0)
        }
        return (records(replies, to: id, asOf: position), ranks.lowerBound > 0)
    }

    /// Returns one post; nil if it did not exist.
    package func post(_ id: PostID, asOf position: Position) -> PostRecord? {
        key(of: id, asOf: position).map {
            records([$0.index], to: id.isReply ? messageID(of: $0) : nil, asOf: position)[0]
        }
    }

    /// Returns the position of the event that wrote a post's text; nil if unknown or retracted.
    ///
    /// - Parameter includesRemoved: Whether a removed post has its text.
    package func textPosition(of post: PostID, includesRemoved: Bool, asOf position: Position) -> Position? {
        withHistory(of: post, asOf: position) { post, histories in
            guard let history = histories.find(post.index) else { return identities.position(of: post) }
            if histories.latest(.retraction, in: history, asOf: position) != nil { return nil }
            if !includesRemoved, histories.latest(.removal, in: history, asOf: position) != nil { return nil }
            return histories.latest(.edit, in: history, asOf: position) ?? identities.position(of: post)
        }
    }

    /// Returns the positions of a post's latest edits, at most `limit`, oldest first.
    package func editPositions(of post: PostID, limit: Int, asOf position: Position) -> [Position] {
        withHistory(of: post, asOf: position) { $1.latest(.edit, of: $0.index, limit: limit, asOf: position) } ?? []
    }

    /// Returns the position of a post's retraction; nil if not retracted.
    package func retractionPosition(of post: PostID, asOf position: Position) -> Position? {
        withHistory(of: post, asOf: position) { $1.latest(.retraction, of: $0.index, asOf: position) }
    }

    /// Returns the position of a post's removal; nil if not removed.
    package func removalPosition(of post: PostID, asOf position: Position) -> Position? {
        withHistory(of: post, asOf: position) { $1.latest(.removal, of: $0.index, asOf: position) }
    }

    /// Returns the position of a message itself, or of the message that a reply answers; nil if the
    /// post did not exist.
    package func messagePosition(of post: PostID, asOf position: Position) -> Position? {
        key(of: post, asOf: position).map { identities.posts.messages.position(identities.message(of: $0)) }
    }

    /// Returns the thread of a post; nil if it did not exist.
    package func thread(of post: PostID, asOf position: Position) -> ThreadID? {
        key(of: post, asOf: position).map { identities.threadID(identities.thread(of: $0)) }
    }

    /// Returns a message itself, or the message that a reply answers; nil if the post did not exist.
    package func messageID(of post: PostID, asOf position: Position) -> MessageID? {
        key(of: post, asOf: position).map(messageID(of:))
    }

    /// Returns the latest message of a thread, including withdrawn ones.
    ///
    /// - Parameter start: Only later messages count.
    package func lastMessage(of thread: ThreadID, asOf position: Position, after start: Position = 0) -> PostRecord? {
        guard let thread = index(ofThread: thread, asOf: position) else { return nil }
        let count = messageCount(ofThread: thread, asOf: position)
        guard count > 0 else { return nil }
        let message = Int(views.timelines.threads[thread].messages[count - 1])
        return identities.posts.messages.position(message) > start ? records([message], asOf: position)[0] : nil
    }

    /// Returns the number of messages, including withdrawn ones.
    package func messageCount(asOf position: Position) -> Int { identities.posts.messages.count(through: position) }

    /// Returns the number of replies, including withdrawn ones.
    package func replyCount(asOf position: Position) -> Int { identities.posts.replies.count(through: position) }
}

extension ReadModels {
    private func key(of post: PostID, asOf position: Position) -> PostKey? {
        identities.find(post).flatMap { identities.position(of: $0) <= position ? $0 : nil }
    }

    private func messageID(of post: PostKey) -> MessageID {
        MessageID(bits: identities.posts.messages.id(identities.message(of: post)))
    }

    /// Calls the body with a post and the histories of its kind; nil if the post did not exist.
    private func withHistory<Value>(
        of post: PostID, asOf position: Position, _ body: (PostKey, borrowing PostHistories) -> Value?
    ) -> Value? {
        key(of: post, asOf: position).flatMap { post in
            views.timelines.histories.read(of: post) { body(post, $0) }
        }
    }

    /// Returns the records of messages, or of replies to one message.
    ///
    /// - Parameter answered: The message that the replies answer; nil for messages.
    private func records(_ posts: [Int], to answered: MessageID? = nil, asOf position: Position) -> [PostRecord] {
        answered == nil
            ? records(posts, nil, identities.posts.messages, views.timelines.histories.messages, asOf: position)
            : records(posts, answered, identities.posts.replies, views.timelines.histories.replies, asOf: position)
    }

    /// The table and the histories are borrowed, because a copy retains every column.
    private func records(
        _ posts: [Int], _ answered: MessageID?, _ table: borrowing AuthoredTable, _ histories: borrowing PostHistories,
        asOf position: Position
    ) -> [PostRecord] {
        let columns = PostColumns(posts, table, histories, views.users, asOf: position)
        var records: [PostRecord] = []
        records.reserveCapacity(posts.count)
        for index in posts.indices {
            let history = columns.histories[index]
            let bits = columns.ids[index]
            records.append(
                PostRecord(
                    id: PostID(bits: bits, isReply: answered != nil),
                    message: answered ?? MessageID(bits: bits), position: columns.positions[index],
                    editPosition: history.flatMap { histories.latest(.edit, in: $0, asOf: position) },
                    author: identities.userID(columns.authors[index]), authorIndex: columns.authors[index],
                    authorName: columns.authorNames[index],
                    isRetracted: history.flatMap { histories.latest(.retraction, in: $0, asOf: position) } != nil,
                    isRemoved: history.flatMap { histories.latest(.removal, in: $0, asOf: position) } != nil,
                    // A reply has no replies, so its counts are 0.
                    replyCount: history.map {
                        histories.count(.reply, in: $0, asOf: position)
                            - histories.count(.replyWithdrawal, in: $0, asOf: position)
                    } ?? 0,
                    isImported: columns.areImported[index], mayHaveReactions: histories.hasReactions(posts[index])))
        }
        return records
    }
}

/// The column values of some posts.
///
/// Read column by column, because the cache misses of one column overlap and those of one row do
/// not (Benchmarks/README.md, R2).
private struct PostColumns {
    var authors: [Int] = []
    var areImported: [Bool] = []
    var positions: [Position] = []
    var ids: [UInt128] = []
    /// The index of each post's history; nil if it has none.
    var histories: [Int?] = []
    let authorNames: [String?]

    init(
        _ posts: [Int], _ table: borrowing AuthoredTable, _ histories: borrowing PostHistories,
        _ users: borrowing UserViews, asOf position: Position
    ) {
        authors.reserveCapacity(posts.count)
        areImported.reserveCapacity(posts.count)
        positions.reserveCapacity(posts.count)
        ids.reserveCapacity(posts.count)
        self.histories.reserveCapacity(posts.count)
        for post in posts {
            let origin = table.authorship(post)
            authors.append(origin.author)
            areImported.append(origin.isImported)
        }
        for post in posts { positions.append(table.position(post)) }
        for post in posts { ids.append(table.ids.id(post)) }
        for post in posts { self.histories.append(histories.find(post)) }
        authorNames = users.names(of: authors, asOf: position)
    }
}
