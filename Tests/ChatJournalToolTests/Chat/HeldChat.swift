#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatLive
    import ChatValues
    import Foundation

    /// A chat whose server is asked to wait by a test, or cannot be reached, while what is in the
    /// copy is read at once.
    final class HeldChat: UserChat {
        /// Why something was not done.
        struct Unreachable: ChatFailure {
            var rejection: Rejection? { nil }
            var description: String { "unreachable: The server cannot be reached." }
        }

        private let base: any UserChat
        /// Called before members, people and the directory are read.
        let beforeServer: @Sendable (_ thread: ThreadID?) async throws -> Void
        /// Called before a command is added.
        let beforeSend: @Sendable (ChatCommand) async throws -> Void

        init(
            _ base: any UserChat, beforeServer: @escaping @Sendable (ThreadID?) async throws -> Void = { _ in },
            beforeSend: @escaping @Sendable (ChatCommand) async throws -> Void = { _ in }
        ) {
            (self.base, self.beforeServer, self.beforeSend) = (base, beforeServer, beforeSend)
        }

        var user: UserID { base.user }
        func execute(_ request: CommandRequest) async throws -> Receipt { try await base.execute(request) }
        func send(_ command: ChatCommand) async throws {
            try await beforeSend(command)
            try await base.send(command)
        }
        func me() async throws -> UserDetails { try await base.me() }
        func person(_ user: UserID, threads page: PageRequest) async throws -> PersonDetails {
            try await base.person(user, threads: page)
        }
        func people(named prefix: String, page: PageRequest) async throws -> Page<PersonSummary> {
            try await beforeServer(nil)
            return try await base.people(named: prefix, page: page)
        }
        func threads(page: PageRequest) async throws -> Page<ThreadSummary> { try await base.threads(page: page) }
        func thread(_ id: ThreadID) async throws -> ThreadSummary { try await base.thread(id) }
        func directory(page: PageRequest) async throws -> Page<DirectoryEntry> {
            try await beforeServer(nil)
            return try await base.directory(page: page)
        }
        func members(of thread: ThreadID, page: PageRequest) async throws -> Page<ThreadMember> {
            try await beforeServer(thread)
            return try await base.members(of: thread, page: page)
        }
        func timeline(_ thread: ThreadID, page: PageRequest) async throws -> Page<Post> {
            try await base.timeline(thread, page: page)
        }
        func replies(to message: MessageID, page: PageRequest) async throws -> Page<Post> {
            try await base.replies(to: message, page: page)
        }
        func post(_ id: PostID) async throws -> Post { try await base.post(id) }
        func inbox(page: PageRequest) async throws -> Page<InboxEntry> { try await base.inbox(page: page) }
        func liveTimeline(of thread: ThreadID, limit: Int) -> LiveTimeline {
            base.liveTimeline(of: thread, limit: limit)
        }
        func liveReplies(to message: MessageID, limit: Int) -> LiveTimeline {
            base.liveReplies(to: message, limit: limit)
        }
        func liveThreads(limit: Int) -> LiveThreads { base.liveThreads(limit: limit) }
        func liveUser() -> LiveUser { base.liveUser() }
        func liveInbox(limit: Int) -> LiveInbox { base.liveInbox(limit: limit) }
    }
#endif
