#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// What a client reads before it is asked.
    @MainActor @Suite struct FirstScreensTests {
        let neighbours: Neighbours
        private let targets = Targets()

        init() throws { neighbours = try Neighbours() }

        /// The client of Ann, which reads ahead as one of an app does.
        private func client(
            _ answer: @escaping @Sendable (ClientRequest, ClientAnswer) -> ClientAnswer? = { $1 }
        ) throws -> ChatClient {
            let copy = try LocalCopy(
                path: neighbours.directory.file("ann"), server: "https://chat.example", user: neighbours.ann)
            var environment = SyncEnvironment.quick
            environment.firstThreads = SyncEnvironment().firstThreads
            let counted = CountingTransport(
                base: neighbours.server.transport(of: neighbours.ann), targets: targets, answer: answer)
            return ChatClient(copy, counted, credentials: "secret", environment)
        }

        private func openThread(_ number: Int, _ bodies: [String]) throws -> ThreadID {
            let store = neighbours.store
            let thread = try #require(
                try store.executeBlocking(.openThread(name: "Thread \(number)", by: neighbours.bob)).thread)
            try store.executeBlocking(.joinThread(thread: thread, by: neighbours.ann))
            for body in bodies {
                try store.executeBlocking(.postMessage(thread: thread, body: body, by: neighbours.bob))
            }
            return thread
        }

        private func run(_ client: ChatClient, until isDone: @MainActor () throws -> Bool) async throws {
            let running = Task { await client.run() }
            try await until(isDone)
            running.cancel()
            await running.value
        }

        private func isRead(_ client: ChatClient) -> Bool {
            client.connection == .connected && client.engine.state.withLock { $0.firstScreens == nil }
        }

        /// The first screens of an app that has shown nothing before, without a network.
        @Test(.timeLimit(.minutes(1))) func aStartWithoutANetworkShowsThem() async throws {
            let threads = try (0..<3).map { try openThread($0, ["first of \($0)", "last of \($0)"]) }
            let client = try client()
            try await run(client) { isRead(client) }
            client.close()
            neighbours.server.goAway()
            let again = try self.client()
            #expect(try await again.me().username == "Ann")
            #expect(try await again.threads().map(\.id) == [neighbours.thread] + threads)
            #expect(try await again.inbox().isEmpty)
            for (number, thread) in threads.enumerated() {
                let timeline = again.liveTimeline(of: thread)
                let following = Task { await timeline.follow() }
                try await until { timeline.messages.map(\.body) == ["first of \(number)", "last of \(number)"] }
                following.cancel()
                await following.value
            }
            again.close()
        }

        /// The ten threads with the latest events, the latest first, each once.
        @Test(.timeLimit(.minutes(1))) func theyHaveABudget() async throws {
            let threads = try (0..<14).map { try openThread($0, ["hello"]) }
            let client = try client()
            try await run(client) { isRead(client) }
            let read = targets.all.withLock { $0.filter { $0.contains("/timeline") } }
            #expect(read.count == 10)
            for (target, thread) in zip(read, threads.reversed()) { #expect(target.contains("\(thread)")) }
            // In the next connection nothing is missing but what was beyond the budget.
            targets.all.withLock { $0 = [] }
            try await run(client) { isRead(client) }
            #expect(targets.all.withLock { $0.filter { $0.contains("/timeline") } }.isEmpty)
            client.close()
        }

        @Test(.timeLimit(.minutes(1))) func longTextsEndThemEarly() async throws {
            let long = String(repeating: "x", count: 16_000)
            let threads = try (0..<6).map { try openThread($0, Array(repeating: long, count: 45)) }
            let client = try client()
            try await run(client) { isRead(client) }
            let sizes = try threads.reversed().map { thread in
                try client.copy.posts(in: .messages(thread)).posts.reduce(0) { $0 + ($1.body?.utf8.count ?? 0) }
            }
            // Beyond 1 MiB by one page at most.
            let read = sizes.prefix { $0 > 0 }
            #expect(read.count < sizes.count && sizes[read.count...].allSatisfy { $0 == 0 })
            let total = read.reduce(0, +)
            #expect(total >= 1 << 20 && total - (read.last ?? 0) < 1 << 20)
            client.close()
        }

        /// A thread that cannot be read, and an answer that is none, stop nothing else.
        @Test(.timeLimit(.minutes(1))) func whatCannotBeReadIsLeftOut() async throws {
            let threads = try (0..<3).map { try openThread($0, ["hello"]) }
            let client = try client { request, answer in
                if request.target.contains("\(threads[1])/timeline") || request.target.contains("/v1/inbox") {
                    return ClientAnswer(status: 200, headers: answer.headers, body: Data("{}".utf8))
                }
                return answer
            }
            try await run(client) { isRead(client) }
            #expect(try client.copy.follows(.messages(threads[0])) && client.copy.follows(.messages(threads[2])))
            #expect(try !client.copy.follows(.messages(threads[1])))
            #expect(try await client.me().username == "Ann")
            client.close()
        }
    }

    /// The targets of the requests so far.
    private final class Targets: Sendable { let all = Lock<[String]>([]) }

    private struct CountingTransport: ClientTransport {
        let base: SimulatedTransport
        let targets: Targets
        let answer: @Sendable (ClientRequest, ClientAnswer) -> ClientAnswer?

        func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer {
            targets.all.withLock { $0.append(request.target) }
            guard let answer = answer(request, try await base.send(request)) else { throw .unreachable("lost") }
            return answer
        }

        func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure)
            -> any ClientStream
        { try await base.openStream(after: token, credentials: credentials) }
    }
#endif
