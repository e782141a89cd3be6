public import ChatDomain
public import ChatLive
import ChatValues
import EventJournal

extension ChatStore {
    /// Returns the chat as a user sees it.
    ///
    /// For code that also runs on a client of a server, such as a view model. Its errors are
    /// ``ChatError``s.
    public func chat(of user: UserID) -> some UserChat { StoreUserChat(store: self, user: user) }
}

/// The chat of a store as one user sees it.
private struct StoreUserChat: UserChat {
    let store: ChatStore
    let user: UserID

    func execute(_ request: CommandRequest) async throws -> Receipt {
        // As of a server: its clients act as their own user only.
        guard request.command.kind.form.sender == .client, request.command.actor == user else {
            throw ChatError.rejected(.notTheUser)
        }
        return try await store.execute(request.command, correlation: request.correlation)
    }

    func send(_ command: ChatCommand) async throws { _ = try await execute(CommandRequest(command)) }

    /// Runs a query outside the actor of the caller, because it may read the journal.
    private func read<Value: Sendable>(_ query: @Sendable (ChatReader) throws(ChatError) -> Value) async throws -> Value
    {
        try await store.onReadExecutor { () async throws(ChatError) in try await readInBackground(query) }
    }

    @concurrent private func readInBackground<Value: Sendable>(
        _ query: @Sendable (ChatReader) throws(ChatError) -> Value
    ) async throws(ChatError) -> Value { try query(store.reader(as: .user(user))) }

    func me() async throws -> UserDetails { try await read { reader throws(ChatError) in try reader.user(user) } }

    func person(_ user: UserID, threads page: PageRequest) async throws -> PersonDetails {
        try await read { reader throws(ChatError) in try reader.person(user, threads: page) }
    }

    func people(named prefix: String, page: PageRequest) async throws -> Page<PersonSummary> {
        try await read { reader throws(ChatError) in try reader.people(named: prefix, page: page) }
    }

    func threads(page: PageRequest) async throws -> Page<ThreadSummary> {
        try await read { reader throws(ChatError) in try reader.threads(page: page) }
    }

    func thread(_ id: ThreadID) async throws -> ThreadSummary {
        try await read { reader throws(ChatError) in try reader.thread(id) }
    }

    func directory(page: PageRequest) async throws -> Page<DirectoryEntry> {
        try await read { reader throws(ChatError) in try reader.directory(page: page) }
    }

    func members(of thread: ThreadID, page: PageRequest) async throws -> Page<ThreadMember> {
        try await read { reader throws(ChatError) in try reader.members(of: thread, page: page) }
    }

    func timeline(_ thread: ThreadID, page: PageRequest) async throws -> Page<Post> {
        try await read { reader throws(ChatError) in try reader.timeline(thread, page: page) }
    }

    func replies(to message: MessageID, page: PageRequest) async throws -> Page<Post> {
        try await read { reader throws(ChatError) in try reader.replies(to: message, page: page) }
    }

    func post(_ id: PostID) async throws -> Post {
        try await read { reader throws(ChatError) in
            switch id {
            case .message(let id): try reader.message(id)
            case .reply(let id): try reader.reply(id)
            }
        }
    }

    func inbox(page: PageRequest) async throws -> Page<InboxEntry> {
        try await read { reader throws(ChatError) in try reader.inbox(of: user, page: page) }
    }

    func liveTimeline(of thread: ThreadID, limit: Int) -> LiveTimeline {
        LiveTimeline(store, thread: thread, as: .user(user), limit: limit)
    }
    func liveReplies(to message: MessageID, limit: Int) -> LiveTimeline {
        LiveTimeline(store, repliesTo: message, as: .user(user), limit: limit)
    }
    func liveThreads(limit: Int) -> LiveThreads { LiveThreads(store, as: .user(user), limit: limit) }
    func liveUser() -> LiveUser { LiveUser(store, user: user) }
    func liveInbox(limit: Int) -> LiveInbox { LiveInbox(store, of: user, limit: limit) }
}

extension Rejection {
    fileprivate static let notTheUser = Rejection(.notAllowed, "The user of this chat cannot send this command.")
}
