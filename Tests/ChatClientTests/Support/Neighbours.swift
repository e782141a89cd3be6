#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Ann and Bob, members of a thread of Bob's, at a server in this process.
    struct Neighbours {
        let directory: TemporaryDirectory
        let store: ChatStore
        let server: SimulatedServer
        let (ann, bob): (UserID, UserID)
        let thread: ThreadID

        init() throws {
            directory = try TemporaryDirectory()
            store = try ChatStore.inMemory()
            server = SimulatedServer(store)
            ann = try #require(try store.executeBlocking(.registerUser(username: "Ann")).user)
            bob = try #require(try store.executeBlocking(.registerUser(username: "Bob")).user)
            thread = try #require(try store.executeBlocking(.openThread(name: "Dogs", by: bob)).thread)
            _ = try store.executeBlocking(.joinThread(user: ann, thread: thread))
        }

        /// The client of a user, with waits that are a thousand times shorter.
        func client(_ user: UserID) throws -> ChatClient {
            let copy = try LocalCopy(path: directory.file("\(user)"), server: "https://chat.example", user: user)
            return ChatClient(copy, server.transport(of: user), credentials: "secret", .quick)
        }
    }

    /// Waits until a condition holds, at most 10 s.
    @MainActor func until(_ condition: @MainActor () throws -> Bool, _ location: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<2_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("nothing has happened in 10 s", sourceLocation: location)
    }

    extension SyncEnvironment {
        /// Waits that are a thousand times shorter.
        static var quick: SyncEnvironment {
            var environment = SyncEnvironment()
            environment.wait = { attempt, _ in .milliseconds(attempt) }
            return environment
        }
    }
#endif
