public import ChatDomain

/// A thread as the timelines know it.
public struct ThreadRecord: Hashable, Sendable {
    /// The id.
    public var id: ThreadID
    /// nil if the name has been erased.
    public var name: String?
    /// When it was created, as shown.
    public var createdAt: Timestamp
    /// How many messages its timeline shows, retracted ones included, replies not.
    public var messageCount: Int
    /// The position of the thread's latest event, read markers aside.
    public var lastPosition: Position
    /// Whether an import opened it.
    public var isImported: Bool
}

/// A message or a reply as the timelines know it: where its text stands, and what became of it.
public struct PostRecord<ID: EntityID>: Hashable, Sendable {
    /// The id.
    public var id: ID
    /// The position of the event that posted it.
    public var position: Position
    /// The position of the latest edit.
    public var editPosition: Position?
    /// Who wrote it.
    public var author: UserID
    /// Whether it was retracted.
    public var isRetracted: Bool
    /// How many replies there are that are not retracted; 0 for a reply.
    public var replyCount: Int
    /// Whether an import posted it.
    public var isImported: Bool
}

extension ThreadTimelines {
    /// Every thread with this name, in the order in which they were opened.
    ///
    /// - Complexity: O(*n*) in the threads.
    public func threads(named name: String) -> [ThreadID] {
        threads.indices.filter { threads[$0].name == name }.map { threadNumbers.id($0) }
    }

    /// One thread, nil if there is none of this id.
    public func thread(_ id: ThreadID) -> ThreadRecord? { threadNumbers.find(id).map(record(ofThread:)) }

    /// A page of the threads, ordered by their latest events.
    ///
    /// - Complexity: O(*n* log *n*) in the threads.
    public func threads(_ page: Page, where isShown: (ThreadID) -> Bool = { _ in true }) -> [ThreadRecord] {
        let ordered = threads.indices.filter { isShown(threadNumbers.id($0)) }.sorted {
            threads[$0].lastPosition < threads[$1].lastPosition
        }
        return page.indices(count: ordered.count) { threads[ordered[$0]].lastPosition }.map { record(ofThread: ordered[$0]) }
    }

    /// A page of a thread's messages.
    ///
    /// - Complexity: O(log *n* + *m*) in the thread's messages and the page's.
    public func messages(of thread: ThreadID, _ page: Page) -> [PostRecord<MessageID>] {
        guard let thread = threadNumbers.find(thread) else { return [] }
        let numbers = threads[thread].messages
        return page.indices(count: numbers.count) { messages[Int(numbers[$0])].position }.map { record(ofMessage: Int(numbers[$0])) }
    }

    /// A page of the replies to a message.
    ///
    /// - Complexity: O(log *n* + *m*) in the message's replies and the page's.
    public func replies(to message: MessageID, _ page: Page) -> [PostRecord<ReplyID>] {
        guard let message = messageNumbers.find(message), let numbers = repliesOfMessage[UInt32(message)] else { return [] }
        return page.indices(count: numbers.count) { replies[Int(numbers[$0])].position }.map { record(ofReply: Int(numbers[$0])) }
    }

    /// One message, nil if there is none of this id.
    public func message(_ id: MessageID) -> PostRecord<MessageID>? { messageNumbers.find(id).map(record(ofMessage:)) }

    /// One reply, nil if there is none of this id.
    public func reply(_ id: ReplyID) -> PostRecord<ReplyID>? { replyNumbers.find(id).map(record(ofReply:)) }

    /// The thread that a message stands in.
    public func thread(of message: MessageID) -> ThreadID? {
        messageNumbers.find(message).map { threadNumbers.id(Int(messages[$0].place)) }
    }

    /// The message that a reply answers.
    public func message(answeredBy reply: ReplyID) -> MessageID? {
        replyNumbers.find(reply).map { messageNumbers.id(Int(replies[$0].place)) }
    }

    /// The latest message of a thread, retracted or not.
    public func lastMessage(of thread: ThreadID) -> PostRecord<MessageID>? {
        guard let thread = threadNumbers.find(thread), let number = threads[thread].messages.last else { return nil }
        return record(ofMessage: Int(number))
    }

    /// How many messages of a thread stand after a position, are by others and are not retracted.
    ///
    /// - Complexity: O(log *n* + *m*) in the thread's messages and those after the position.
    public func unreadCount(in thread: ThreadID, after position: Position, by reader: UserID) -> Int {
        guard let thread = threadNumbers.find(thread) else { return 0 }
        let numbers = threads[thread].messages
        let own = authors.find(reader).map(UInt32.init)
        let first = partition(numbers.count) { messages[Int(numbers[$0])].position > position }
        return numbers[first...].count { messages[Int($0)].author != own && !messages[Int($0)].isRetracted }
    }

    private func record(ofThread thread: Int) -> ThreadRecord {
        let row = threads[thread]
        return ThreadRecord(
            id: threadNumbers.id(thread), name: row.name, createdAt: row.createdAt, messageCount: row.messages.count,
            lastPosition: row.lastPosition, isImported: row.isImported)
    }

    private func record(ofMessage message: Int) -> PostRecord<MessageID> {
        record(messageNumbers.id(message), messages[message], editPosition: messageEdits[UInt32(message)])
    }

    private func record(ofReply reply: Int) -> PostRecord<ReplyID> {
        record(replyNumbers.id(reply), replies[reply], editPosition: replyEdits[UInt32(reply)])
    }

    private func record<ID>(_ id: ID, _ row: PostRow, editPosition: Position?) -> PostRecord<ID> {
        PostRecord(
            id: id, position: row.position, editPosition: editPosition, author: authors.id(Int(row.author)), isRetracted: row.isRetracted,
            replyCount: Int(row.replyCount), isImported: row.isImported)
    }
}
