#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import LocalStorage
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Updates that arrive together are applied together.
    @MainActor @Suite struct StreamBatchTests {
        let neighbours: Neighbours
        let (store, ann, bob, thread): (ChatStore, UserID, UserID, ThreadID)

        init() throws {
            neighbours = try Neighbours()
            (store, ann, bob, thread) = (neighbours.store, neighbours.ann, neighbours.bob, neighbours.thread)
        }

        private func post(_ body: String) throws -> PostID {
            .message(
                try #require(try store.executeBlocking(.postMessage(thread: thread, body: body, by: bob)).message))
        }

        /// A client that has read the thread, and follows nothing yet.
        private func client(_ transport: ReceivedTransport) async throws -> ChatClient {
            let copy = try LocalCopy(
                path: neighbours.directory.file("\(ann)"), server: "https://chat.example", user: ann)
            try copy.begin(at: store.resumeToken(after: store.head.position))
            _ = try copy.keep(
                store.reader(as: .user(ann)).timeline(thread), of: .messages(thread), in: thread, PageRequest.latest(),
                asOf: store.head.position)
            var environment = SyncEnvironment()
            // One stream is enough.
            environment.wait = { _, _ in .seconds(60) }
            return ChatClient(copy, transport, credentials: "secret", environment)
        }

        private func bodies(_ client: ChatClient) throws -> [String?] {
            try client.copy.posts(in: .messages(thread), limit: 1_000).posts.map(\.body)
        }

        /// Runs a client until its stream has ended.
        private func run(_ client: ChatClient) async throws -> ConnectionState {
            let states = client.connections
            let running = Task { await client.run() }
            var last = ConnectionState.idle
            for await state in states {
                last = state
                switch state {
                case .waiting, .stopped: running.cancel()
                case .idle, .connecting, .connected: continue
                }
                break
            }
            await running.value
            return last
        }

        /// The stream of Ann after a position, and an event that ends it.
        private func received(after position: Position) async throws -> [ServerSentEvent] {
            let stream = try await neighbours.server.transport(of: ann)
                .openStream(after: store.resumeToken(after: position), credentials: "")
            defer { stream.cancel() }
            var events: [ServerSentEvent] = []
            while events.last?.id != "\(try store.resumeToken(after: store.head.position))" {
                events.append(try #require(try await stream.next()))
            }
            return events
        }

        /// The numbers of updates of the batches that some updates arrive in.
        private func sizes(of transport: ReceivedTransport, count: Int) async throws -> [Int] {
            var reader = StreamReader(try await transport.openStream(after: nil, credentials: ""), after: nil)
            var sizes: [Int] = []
            while sizes.reduce(0, +) < count, let batch = try await reader.next() { sizes.append(batch.updates.count) }
            return sizes
        }

        @Test(.timeLimit(.minutes(1))) func aThousandMessagesAreCaughtUpInFewTransactions() async throws {
            let start = store.head.position
            let transport = ReceivedTransport(base: neighbours.server.transport(of: ann))
            let client = try await client(transport)
            for number in 1...1_000 { _ = try post("\(number)") }
            transport.events.withLock { [events = try await received(after: start)] in $0 = events }
            let before = client.copy.file.withLock { $0.transactionCount }
            _ = try await run(client)
            let count = client.copy.file.withLock { $0.transactionCount } - before
            print("1,000 messages in \(count) transactions")
            #expect(try bodies(client) == (1...1_000).map { "\($0)" })
            #expect(try client.copy.token?.position == store.head.position)
            // One for each batch; the others look at the outbox, as often as the time allows.
            #expect((4..<50).contains(count))
            #expect(try await sizes(of: transport, count: 1_000) == [256, 256, 256, 232])
            client.close()
        }

        /// A batch has at most so many bytes too.
        @Test func longMessagesAreAppliedInParts() async throws {
            let start = store.head.position
            let text = String(repeating: "x", count: MessageBody.maximumByteCount)
            let count = 3 * StreamReader.mostBytes / text.utf8.count
            for _ in 0..<count { _ = try post(text) }
            let transport = ReceivedTransport(base: neighbours.server.transport(of: ann))
            transport.events.withLock { [events = try await received(after: start)] in $0 = events }
            let sizes = try await sizes(of: transport, count: count)
            #expect(
                sizes.count >= 3
                    && sizes.allSatisfy { $0 * text.utf8.count < StreamReader.mostBytes + 2 * text.utf8.count })
            #expect(sizes.reduce(0, +) == count)
        }

        /// The rest of a batch is not lost with the update that fails.
        @Test(.timeLimit(.minutes(1))) func whatPrecedesAFailureIsKept() async throws {
            let damaged = try post("damaged")
            let start = store.head.position
            let transport = ReceivedTransport(base: neighbours.server.transport(of: ann))
            let client = try await client(transport)
            try client.copy.file.withLock { file in
                _ = try file.run("UPDATE posts SET value = x'00' WHERE id = ?", damaged.value)
            }
            for number in 1...5 { _ = try post("\(number)") }
            let last = store.head.position
            try store.executeBlocking(.edit(damaged, body: "edited", by: bob))
            _ = try post("after it")
            transport.events.withLock { [events = try await received(after: start)] in $0 = events }
            let shown = client.engine.changes.elements()
            #expect(try await run(client) == .stopped(.storage(.damaged, file: client.copy.path)))
            #expect(try client.copy.token?.position == last)
            try client.copy.file.withLock { file in
                _ = try file.run("DELETE FROM posts WHERE id = ?", damaged.value)
            }
            #expect(try bodies(client) == (1...5).map { "\($0)" })
            client.engine.changes.finish()
            var posts: Set<PostID> = []
            for await change in shown { posts.formUnion(change.posts[.messages(thread)] ?? []) }
            #expect(posts.count == 5)
            client.close()
        }

        /// What the server says wrongly has its position, and what came before it is kept.
        @Test(.timeLimit(.minutes(1))) func aWrongEventHasItsPosition() async throws {
            let start = store.head.position
            let transport = ReceivedTransport(base: neighbours.server.transport(of: ann))
            let client = try await client(transport)
            for number in 1...3 { _ = try post("\(number)") }
            var events = try await received(after: start)
            events[events.count - 1].data = "[]"
            transport.events.withLock { [events] in $0 = events }
            let position = store.head.position
            guard case .waiting(let error, _) = try await run(client) else { return _ = Issue.record("no error") }
            #expect(error == .answerInvalid("The event at position \(position) is not a JSON object."))
            #expect(try bodies(client) == ["1", "2"])
            #expect(try client.copy.token?.position == position - 1)
            client.close()
        }

        /// When an update of a batch is shown, everything that the batch takes away is gone.
        @Test(.timeLimit(.minutes(1))) func whatABatchTakesIsGoneWhenItIsShown() async throws {
            let secret = try post("secret-text")
            let start = store.head.position
            let transport = ReceivedTransport(base: neighbours.server.transport(of: ann))
            let client = try await client(transport)
            #expect(try isFound("secret-text"))
            _ = try post("before")
            try store.executeBlocking(.retract(secret, by: bob))
            _ = try post("after")
            transport.events.withLock { [events = try await received(after: start)] in $0 = events }
            let shown = client.engine.changes.elements()
            let running = Task { await client.run() }
            for await change in shown where change.posts[.messages(thread)] != nil { break }
            #expect(try !isFound("secret-text"))
            running.cancel()
            await running.value
            #expect(try bodies(client) == [nil, "before", "after"])
            client.close()
        }

        private func isFound(_ text: String) throws -> Bool {
            try neighbours.directory.contents().contains { Data($0.value).range(of: Data(text.utf8)) != nil }
        }
    }

    /// A transport with a stream whose events have all arrived.
    private final class ReceivedTransport: ClientTransport {
        let events = Lock<[ServerSentEvent]>([])
        private let base: SimulatedTransport

        init(base: SimulatedTransport) { self.base = base }

        func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer {
            try await base.send(request)
        }

        func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure)
            -> any ClientStream
        {
            ReceivedStream(events.withLock { $0 })
        }
    }

    /// A stream that ends after its events.
    private final class ReceivedStream: ClientStream {
        private let events: Lock<ArraySlice<ServerSentEvent>>

        init(_ events: [ServerSentEvent]) { self.events = Lock(events[...]) }

        func next() async throws(TransportFailure) -> ServerSentEvent? { nextReceived() }
        func nextReceived() -> ServerSentEvent? { events.withLock { $0.popFirst() } }
        func cancel() {}
    }
#endif
