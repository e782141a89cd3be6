#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import ChatWire
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Servers that answer with what no server may answer with.
    @MainActor @Suite struct HostileAnswerTests {
        let neighbours: Neighbours

        init() throws { neighbours = try Neighbours() }

        private func client(_ change: @escaping @Sendable (ClientAnswer) -> ClientAnswer, events: [ServerSentEvent] = []) throws
            -> ChatClient
        {
            let copy = try LocalCopy(path: neighbours.directory.file("copy"), server: "https://chat.example", user: neighbours.ann)
            let transport = ChangingTransport(base: neighbours.server.transport(of: neighbours.ann), change: change, events: events)
            return ChatClient(copy, transport, credentials: "secret", .quick)
        }

        private func post(_ body: String) -> CommandRequest {
            CommandRequest(.postMessage(thread: neighbours.thread, author: neighbours.ann, body: body))
        }

        @Test func aReceiptOfAnotherMessageConfirmsNothing() async throws {
            let other = try #require(try neighbours.store.executeBlocking(post("another").command).message)
            let client = try client { answer in
                guard let text = String(bytes: answer.body, encoding: .utf8), text.contains("messagePosted") else { return answer }
                var answer = answer
                answer.body = Data(text.replacing(/"message":"[0-9a-f-]{36}"/, with: "\"message\":\"\(other)\"").utf8)
                return answer
            }
            let changes = client.outboxChanges
            let running = Task { await client.run() }
            let item = try client.enqueue(post("hello"))
            try await until { try client.outbox().isEmpty }
            running.cancel()
            await running.value
            client.close()
            // The stream tells of the true message: that confirms it, and the receipt does not.
            for await change in changes {
                if case .confirmed(let confirmed, let receipt) = change {
                    #expect(confirmed.id == item.id)
                    #expect(receipt.message.map(PostID.message) == item.request.command.createdPost)
                }
            }
            #expect(try neighbours.store.timeline(neighbours.thread, as: .host).entries.map(\.body) == ["another", "hello"])
        }

        @Test(arguments: ["9223372036854775808", "18446744073709551615", "-1", "1e30", "null"])
        func positionsThatNoJournalHasAreRefused(_ position: String) async throws {
            _ = try neighbours.store.executeBlocking(post("hello").command)
            let client = try client { answer in
                var answer = answer
                let text = String(decoding: answer.body, as: UTF8.self)
                answer.body = Data(text.replacing(/"(position|older|newer|editPosition)":[0-9]+/) { "\"\($0.output.1)\":\(position)" }.utf8)
                return answer
            }
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            await #expect(throws: ClientError.self) { try await client.timeline(neighbours.thread) }
            #expect(try client.copy.knownRanges(of: .messages(neighbours.thread)).isEmpty)
            running.cancel()
            await running.value
            client.close()
        }

        @Test(.serialized, arguments: Seeds.seeds(Repetitions.few(20, of: 1_000), from: Repetitions.seed))
        func changedEventsDoNoHarm(_ seed: UInt64) async throws {
            var random = SeededRandom(seed: seed)
            let start = try neighbours.store.resumeToken(after: neighbours.store.head.position)
            for number in 0..<5 { _ = try neighbours.store.executeBlocking(post("message \(number)").command) }
            _ = try neighbours.store.eraseContent(of: PositionSet([6...6]), reason: "a-test")
            var events = [ServerSentEvent(id: "\(start)")]
            let filter = EventFilter(as: .user(neighbours.ann))
            for try await update in neighbours.store.events(after: start, upTo: neighbours.store.head.position, matching: filter).updates {
                var text: [UInt8] = []
                try update.appendJSON(to: &text)
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let index = Int.random(in: text.indices, using: &random)
                    text[index] = [UInt8](#"0123456789"{}[]:,-eabtfn\"#.utf8)[Int.random(in: 0..<24, using: &random)]
                }
                events.append(
                    ServerSentEvent(
                        name: update.noticeName ?? "message", id: "\(update.resumeToken)", data: String(decoding: text, as: UTF8.self)))
            }
            if random.oneIn(2) { events.shuffle(using: &random) }
            let client = try client({ $0 }, events: events)
            let running = Task { await client.run() }
            try await until {
                if case .waiting = client.connection { return true }
                return false
            }
            running.cancel()
            await running.value
            #expect(try client.outbox().isEmpty)
            client.close()
        }
    }

    /// A transport that changes answers, and streams given events once.
    private struct ChangingTransport: ClientTransport {
        let base: SimulatedTransport
        let change: @Sendable (ClientAnswer) -> ClientAnswer
        let events: [ServerSentEvent]

        func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer { change(try await base.send(request)) }

        func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure) -> any ClientStream {
            if events.isEmpty { return try await base.openStream(after: token, credentials: credentials) }
            return GivenStream(events)
        }
    }

    private final class GivenStream: ClientStream {
        private let events: Lock<[ServerSentEvent]>

        init(_ events: [ServerSentEvent]) { self.events = Lock(events) }

        func next() async throws(TransportFailure) -> ServerSentEvent? {
            events.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }

        func cancel() {}
    }
#endif
