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
        func enqueue(_ command: ChatCommand) async throws {
            try await beforeSend(command)
            try await base.enqueue(command)
        }
        func answer<Query: ChatQuery>(_ query: Query) async throws -> Query.Answer {
            if query is PeopleQuery || query is DirectoryQuery { try await beforeServer(nil) }
            if let members = query as? MembersQuery { try await beforeServer(members.thread) }
            return try await base.answer(query)
        }
        func liveTimeline(of thread: ThreadID, limit: Int) -> LiveTimeline {
            base.liveTimeline(of: thread, limit: limit)
        }
        func liveReplies(to message: MessageID, limit: Int) -> LiveTimeline {
            base.liveReplies(to: message, limit: limit)
        }
        func customEvents(of thread: ThreadID, kind: CustomKind?, after position: Position) -> CustomEvents {
            base.customEvents(of: thread, kind: kind, after: position)
        }
        func liveCustomEvents(of thread: ThreadID, kind: CustomKind?, limit: Int) -> LiveCustomEvents {
            base.liveCustomEvents(of: thread, kind: kind, limit: limit)
        }
        func liveThreads(limit: Int) -> LiveThreads { base.liveThreads(limit: limit) }
        func liveUser() -> LiveUser { base.liveUser() }
        func liveInbox(limit: Int) -> LiveInbox { base.liveInbox(limit: limit) }
    }
#endif
