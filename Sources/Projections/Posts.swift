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
        switch post {
        case .message(let id):
            identities.messages.find(id.bits).map { identities.userID(identities.messageFacts.author($0)) }
        case .reply(let id):
            identities.replies.find(id.bits).map { identities.userID(identities.replyFacts.author($0)) }
        }
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
            identities.messageFacts.position(Int(messageIndexes[hidden + $0]))
        }
        var posts: [Int] = []
        posts.reserveCapacity(indices.count)
        for index in indices { posts.append(Int(messageIndexes[hidden + index])) }
        return (records(ofMessages: posts, asOf: position), indices.lowerBound > 0)
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
        guard let message = index(ofMessage: id, asOf: position) else { return ([], false) }
        let histories = views.timelines.messageHistories
        let ranks = page.indices(count: histories.count(.reply, of: message, asOf: position)) {
            histories.position(.reply, of: message, rank: $0 + 1)
        }
        let replies = histories.values(.reply, of: message, ranks: ranks.lowerBound + 1..<ranks.upperBound + 1).map {
            Int($0)
        }
        return (records(ofReplies: replies, to: id, asOf: position), ranks.lowerBound > 0)
    }

    /// Returns one message; nil if it did not exist.
    package func message(_ id: MessageID, asOf position: Position) -> PostRecord? {
        index(ofMessage: id, asOf: position).map { records(ofMessages: [$0], asOf: position)[0] }
    }

    /// Returns one reply; nil if it did not exist.
    package func reply(_ id: ReplyID, asOf position: Position) -> PostRecord? {
        guard let message = messageID(answeredBy: id, asOf: position) else { return nil }
        return index(ofReply: id, asOf: position).map { records(ofReplies: [$0], to: message, asOf: position)[0] }
    }

    /// Returns the position of the event that wrote a post's text; nil if unknown or retracted.
    ///
    /// - Parameter includesRemoved: Whether a removed post has its text.
    package func textPosition(of post: PostID, includesRemoved: Bool, asOf position: Position) -> Position? {
        withHistory(of: post, asOf: position) { index, table, histories in
            guard let history = histories.find(index) else { return table.position(index) }
            if histories.latest(.retraction, in: history, asOf: position) != nil { return nil }
            if !includesRemoved, histories.latest(.removal, in: history, asOf: position) != nil { return nil }
            return histories.latest(.edit, in: history, asOf: position) ?? table.position(index)
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
    package func messageID(answeredBy reply: ReplyID, asOf position: Position) -> MessageID? {
        index(ofReply: reply, asOf: position).map {
            MessageID(bits: identities.messages.id(identities.replyFacts.parent($0)))
        }
    }

    /// Returns the latest message of a thread, including withdrawn ones.
    ///
    /// - Parameter start: Only later messages count.
    package func lastMessage(of thread: ThreadID, asOf position: Position, after start: Position = 0) -> PostRecord? {
        guard let thread = index(ofThread: thread, asOf: position) else { return nil }
        let count = messageCount(ofThread: thread, asOf: position)
        guard count > 0,
            identities.messageFacts.position(Int(views.timelines.threads[thread].messages[count - 1])) > start
        else {
            return nil
        }
        return records(ofMessages: [Int(views.timelines.threads[thread].messages[count - 1])], asOf: position)[0]
    }

    /// Returns the number of messages, including withdrawn ones.
    package func messageCount(asOf position: Position) -> Int { identities.messageFacts.count(through: position) }

    /// Returns the number of replies, including withdrawn ones.
    package func replyCount(asOf position: Position) -> Int { identities.replyFacts.count(through: position) }
}

extension ReadModels {
    private func index(ofMessage id: MessageID, asOf position: Position) -> Int? {
        guard let message = identities.messages.find(id.bits), identities.messageFacts.position(message) <= position
        else { return nil }
        return message
    }

    private func index(ofReply id: ReplyID, asOf position: Position) -> Int? {
        guard let reply = identities.replies.find(id.bits), identities.replyFacts.position(reply) <= position else {
            return nil
        }
        return reply
    }

    /// Calls the body with a post's index, facts and histories; nil if the post did not exist.
    private func withHistory<Value>(
        of post: PostID, asOf position: Position,
        _ body: (Int, borrowing AuthoredFacts, borrowing PostHistories) -> Value?
    ) -> Value? {
        switch post {
        case .message(let id):
            index(ofMessage: id, asOf: position).flatMap {
                body($0, identities.messageFacts, views.timelines.messageHistories)
            }
        case .reply(let id):
            index(ofReply: id, asOf: position).flatMap {
                body($0, identities.replyFacts, views.timelines.replyHistories)
            }
        }
    }

    private func records(ofMessages messages: [Int], asOf position: Position) -> [PostRecord] {
        records(
            messages, nil, identities.messageFacts, identities.messages, views.timelines.messageHistories,
            asOf: position)
    }

    private func records(ofReplies replies: [Int], to message: MessageID, asOf position: Position) -> [PostRecord] {
        records(
            replies, message, identities.replyFacts, identities.replies, views.timelines.replyHistories, asOf: position)
    }

    /// Returns the records of messages, or of replies to one message.
    ///
    /// The histories are borrowed, because a copy retains every column.
    private func records(
        _ posts: [Int], _ answered: MessageID?, _ table: borrowing AuthoredFacts, _ ids: borrowing IDInterner,
        _ histories: borrowing PostHistories,
        asOf position: Position
    ) -> [PostRecord] {
        let columns = PostColumns(posts, table, ids, histories, views.users, asOf: position)
        var records: [PostRecord] = []
        records.reserveCapacity(posts.count)
        for index in posts.indices {
            let history = columns.histories[index]
            let bits = columns.ids[index]
            records.append(
                PostRecord(
                    id: answered == nil ? .message(MessageID(bits: bits)) : .reply(ReplyID(bits: bits)),
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
        _ posts: [Int], _ table: borrowing AuthoredFacts, _ ids: borrowing IDInterner,
        _ histories: borrowing PostHistories,
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
