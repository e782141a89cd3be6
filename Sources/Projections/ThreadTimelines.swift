public import ChatDomain

/// The messages of each thread and the replies to each message, in order, as positions: bodies stay in the journal.
///
/// A message takes one row of fixed size, its id and a slot of the id table; nothing is allocated for it alone.
public struct ThreadTimelines: Projection, Equatable {
    /// The name of the projection.
    public static let name = "timelines"
    /// Names, postcodes and subjects; no bodies.
    public static let contents = ContentSelection.indexed

    private(set) var threadNumbers = DenseIndex<ThreadID>()
    private(set) var threads: [ThreadRow] = []
    private(set) var messageNumbers = DenseIndex<MessageID>()
    private(set) var messages: [PostRow] = []
    private(set) var replyNumbers = DenseIndex<ReplyID>()
    private(set) var replies: [PostRow] = []
    private(set) var authors = DenseIndex<UserID>()
    /// The replies to the messages that have any.
    private(set) var repliesOfMessage: [UInt32: [UInt32]] = [:]
    /// Where the latest edit stands, for the messages and replies that were edited.
    private(set) var messageEdits: [UInt32: Position] = [:]
    private(set) var replyEdits: [UInt32: Position] = [:]

    /// Makes the timelines before the first event.
    public init() {}

    struct ThreadRow: Equatable, Sendable {
        var openedAt: Position
        var createdAt: Timestamp
        var name: String?
        var lastPosition: Position
        var isImported: Bool
        /// The numbers of the thread's messages, ascending.
        var messages: [UInt32] = []
    }

    struct PostRow: Equatable, Sendable {
        var position: Position
        /// The thread of a message, the message of a reply.
        var place: UInt32
        var author: UInt32
        /// How many replies there are that are not retracted.
        var replyCount: UInt32 = 0
        var isRetracted = false
        var isImported: Bool
    }

    /// Takes in the next event.
    public mutating func apply(_ event: Event, at position: Position) {
        switch event.fact {
        case .threadOpened(let fact):
            if threadNumbers.insert(fact.thread).isNew {
                threads.append(
                    ThreadRow(
                        openedAt: position, createdAt: event.createdAt, name: event.threadName, lastPosition: position,
                        isImported: event.origin != .native))
            }
        case .messagePosted(let fact):
            guard let thread = threadNumbers.find(fact.thread), messageNumbers.insert(fact.message).isNew else { return }
            threads[thread].messages.append(UInt32(messages.count))
            messages.append(
                PostRow(position: position, place: UInt32(thread), author: author(fact.author), isImported: event.origin != .native))
        case .replyPosted(let fact):
            guard let message = messageNumbers.find(fact.message), replyNumbers.insert(fact.reply).isNew else { return }
            repliesOfMessage[UInt32(message), default: []].append(UInt32(replies.count))
            messages[message].replyCount += 1
            replies.append(
                PostRow(position: position, place: UInt32(message), author: author(fact.author), isImported: event.origin != .native))
        case .messageEdited(let fact):
            if let message = messageNumbers.find(fact.message) { messageEdits[UInt32(message)] = position }
        case .replyEdited(let fact):
            if let reply = replyNumbers.find(fact.reply) { replyEdits[UInt32(reply)] = position }
        case .messageRetracted(let fact):
            if let message = messageNumbers.find(fact.message) { messages[message].isRetracted = true }
        case .replyRetracted(let fact):
            guard let reply = replyNumbers.find(fact.reply), !replies[reply].isRetracted else { return }
            replies[reply].isRetracted = true
            messages[Int(replies[reply].place)].replyCount -= 1
        default: break
        }
        if event.fact.threadNumber != nil, let id = event.fact.thread, let thread = threadNumbers.find(id) {
            threads[thread].lastPosition = position
        }
    }

    private mutating func author(_ id: UserID) -> UInt32 { UInt32(authors.insert(id).number) }
}
