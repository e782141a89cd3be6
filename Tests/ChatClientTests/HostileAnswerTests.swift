#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Servers that answer with what no server may answer with.
    @MainActor @Suite struct HostileAnswerTests {
        let neighbours: Neighbours

        init() throws { neighbours = try Neighbours() }

        private func post(_ body: String) -> CommandRequest {
            CommandRequest(.postMessage(thread: neighbours.thread, body: body, by: neighbours.ann))
        }

        @Test func aReceiptOfAnotherMessageConfirmsNothing() async throws {
            let other = try #require(try neighbours.store.executeBlocking(post("another").command).message)
            let answers = { @Sendable (_: ClientRequest, answer: ClientAnswer) -> ClientAnswer in
                guard let text = String(bytes: answer.body, encoding: .utf8), text.contains("messagePosted") else {
                    return answer
                }
                var answer = answer
                answer.body = Data(text.replacing(/"message":"[0-9a-f-]{36}"/, with: "\"message\":\"\(other)\"").utf8)
                return answer
            }
            let client = try neighbours.client(neighbours.ann, answers: answers)
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
            #expect(
                try neighbours.store.reader(as: .host).timeline(neighbours.thread).entries.map(\.body) == [
                    "another", "hello",
                ])
        }

        @Test(arguments: ["9223372036854775808", "18446744073709551615", "-1", "1e30", "null"])
        func positionsThatNoJournalHasAreRefused(_ position: String) async throws {
            _ = try neighbours.store.executeBlocking(post("hello").command)
            let answers = { @Sendable (_: ClientRequest, answer: ClientAnswer) -> ClientAnswer in
                var answer = answer
                let text = String(decoding: answer.body, as: UTF8.self)
                answer.body = Data(
                    text.replacing(/"(position|older|newer|editPosition)":[0-9]+/) { "\"\($0.output.1)\":\(position)" }
                        .utf8)
                return answer
            }
            let client = try neighbours.client(neighbours.ann, answers: answers)
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
            let random = Lock(SeededRandom(seed: seed))
            let client = try neighbours.client(
                neighbours.ann,
                events: { event in
                    guard let data = event.data else { return event }
                    var event = event
                    event.data = random.withLock { random in
                        var text = Array(data.utf8)
                        for _ in 0..<Int.random(in: 0...3, using: &random) {
                            let index = Int.random(in: text.indices, using: &random)
                            text[index] =
                                [UInt8](#"0123456789"{}[]:,-eabtfn"#.utf8)[Int.random(in: 0..<24, using: &random)]
                        }
                        return String(decoding: text, as: UTF8.self)
                    }
                    return event
                })
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            _ = try await client.timeline(neighbours.thread)
            for number in 0..<5 { _ = try neighbours.store.executeBlocking(post("message \(number)").command) }
            _ = try neighbours.store.eraseContent(of: PositionSet([6...6]), reason: "a-test")
            // What breaks the stream is sent and changed again, until it does not.
            try await until { try client.copy.token?.position == neighbours.store.head.position }
            running.cancel()
            await running.value
            #expect(try client.outbox().isEmpty)
            client.close()
        }
    }
#endif
