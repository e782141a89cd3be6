import Chat
import ChatDomain
import EventJournal

/// Writes the workload through the facade.
struct History {
    let workload: Workload
    private(set) var joins = 0
    /// The latest message of each author in each thread, the target of replies, edits and
    /// retractions.
    private var latest: [UInt64: MessageID] = [:]

    init(_ workload: Workload) { self.workload = workload }

    /// Registers the users, opens the threads, and joins each user to the threads of their posts.
    mutating func setUp(_ store: ChatStore) throws {
        var batch = Batch(store)
        for user in 0..<Workload.userCount {
            try batch.add(.registerUser(id: Workload.userID(user), username: "user\(user)"))
        }
        for thread in 0..<Workload.threadCount {
            try batch.add(
                .openThread(id: Workload.threadID(thread), name: "thread \(thread)", by: Workload.userID(0)))
        }
        var pairs: Set<UInt64> = []
        for index in 0..<workload.count {
            let post = workload.post(index)
            guard pairs.insert(UInt64(post.thread) << 32 | UInt64(post.user)).inserted, post.user != 0 else { continue }
            try batch.add(.joinThread(thread: Workload.threadID(post.thread), by: Workload.userID(post.user)))
        }
        try batch.flush()
        joins = pairs.count
    }

    /// Returns the command for the post at an index.
    mutating func command(_ index: Int) -> ChatCommand {
        let post = workload.post(index)
        let key = UInt64(post.thread) << 32 | UInt64(post.user)
        let author = Workload.userID(post.user)
        if post.kind != .message, let former = latest[key] {
            switch post.kind {
            case .reply:
                return .reply(id: ReplyID(bits: post.id), to: former, body: workload.body(of: post), by: author)
            case .edit: return .edit(.message(former), body: workload.body(of: post), by: author)
            case .retraction, .message:
                latest[key] = nil
                return .retract(.message(former), by: author)
            }
        }
        latest[key] = MessageID(bits: post.id)
        return .postMessage(
            id: MessageID(bits: post.id), thread: Workload.threadID(post.thread), body: workload.body(of: post),
            by: author)
    }

    /// Executes the commands of all posts, 1,000 in a commit.
    mutating func post(to store: ChatStore) throws {
        var batch = Batch(store)
        for index in 0..<workload.count { try batch.add(command(index)) }
        try batch.flush()
    }
}

/// Executes commands in batches of a thousand.
struct Batch {
    private let store: ChatStore
    private var requests: [CommandRequest] = []

    init(_ store: ChatStore) { self.store = store }

    mutating func add(_ command: ChatCommand) throws {
        requests.append(CommandRequest(command))
        if requests.count == 1_000 { try flush() }
    }

    mutating func flush() throws {
        for answer in try store.executeBlocking(requests) { _ = try answer.get() }
        requests.removeAll(keepingCapacity: true)
    }
}
