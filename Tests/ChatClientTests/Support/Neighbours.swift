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
            _ = try store.executeBlocking(.joinThread(thread: thread, by: ann))
        }

        /// The client of a user, with waits that are a thousand times shorter.
        ///
        /// - Parameters:
        ///   - user: The user.
        ///   - postLimit: The most posts of the copy.
        ///   - opening: Returns what a stream is refused with; nil to open it.
        ///   - events: Changes the events of streams.
        ///   - answers: Changes answers; nil loses one.
        func client(
            _ user: UserID, postLimit: Int = 200_000, environment: SyncEnvironment = .quick,
            opening: @escaping @Sendable () -> ClientAnswer? = { nil },
            events: @escaping @Sendable (ServerSentEvent) -> ServerSentEvent = { $0 },
            answers: @escaping @Sendable (ClientRequest, ClientAnswer) -> ClientAnswer? = { $1 }
        ) throws -> ChatClient {
            let copy = try LocalCopy(
                path: directory.file("\(user)"), server: "https://chat.example", user: user, postLimit: postLimit)
            let transport = ChangingTransport(
                base: server.transport(of: user), opening: opening, events: events, answers: answers)
            return ChatClient(copy, transport, credentials: "secret", environment)
        }
    }

    /// A transport that changes what a server sends.
    private struct ChangingTransport: ClientTransport {
        let base: SimulatedTransport
        let opening: @Sendable () -> ClientAnswer?
        let events: @Sendable (ServerSentEvent) -> ServerSentEvent
        let answers: @Sendable (ClientRequest, ClientAnswer) -> ClientAnswer?

        func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer {
            guard let answer = answers(request, try await base.send(request)) else {
                throw .unreachable("the answer is lost")
            }
            return answer
        }

        func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure)
            -> any ClientStream
        {
            if let refusal = opening() { throw .refused(refusal) }
            return ChangedStream(
                base: try await base.openStream(after: token, credentials: credentials), change: events)
        }
    }

    private struct ChangedStream: ClientStream {
        let base: any ClientStream
        let change: @Sendable (ServerSentEvent) -> ServerSentEvent

        func next() async throws(TransportFailure) -> ServerSentEvent? { try await base.next().map(change) }
        func nextReceived() throws(TransportFailure) -> ServerSentEvent? { try base.nextReceived().map(change) }

        func cancel() { base.cancel() }
    }

    /// Waits until a condition holds, at most 10 s.
    @MainActor func until(_ condition: @MainActor () throws -> Bool, _ location: SourceLocation = #_sourceLocation)
        async throws
    {
        for _ in 0..<2_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("nothing has happened in 10 s", sourceLocation: location)
    }

    extension SyncEnvironment {
        /// Waits that are a thousand times shorter, and no threads that are read ahead.
        static var quick: SyncEnvironment {
            var environment = SyncEnvironment()
            environment.firstThreads = 0
            environment.wait = { attempt, _ in .milliseconds(attempt) }
            return environment
        }
    }
#endif
