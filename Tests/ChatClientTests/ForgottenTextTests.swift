#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Texts that must be gone from the files when a call returns.
    @Suite struct ForgottenTextTests {
        let neighbours: Neighbours
        let (store, ann, thread): (ChatStore, UserID, ThreadID)

        init() throws {
            neighbours = try Neighbours()
            (store, ann, thread) = (neighbours.store, neighbours.ann, neighbours.thread)
        }

        private func command(_ body: String) -> CommandRequest {
            CommandRequest(.postMessage(thread: thread, body: body, by: ann))
        }

        private func isInFiles(_ text: String) throws -> Bool {
            try neighbours.directory.contents().values.contains { String(decoding: $0, as: UTF8.self).contains(text) }
        }

        @Test func whatIsReplacedLeavesTheFile() throws {
            let client = try neighbours.client(ann)
            let item = try client.enqueue(command("a secret"))
            #expect(try isInFiles("a secret"))
            try client.replace(item.id, by: command("nothing"))
            #expect(try !isInFiles("a secret"))
            client.close()
        }

        @Test func whatIsRetractedLeavesTheFileWithTheAnswer() throws {
            let client = try neighbours.client(ann)
            let message = try #require(try store.executeBlocking(command("a secret").command).message)
            try client.copy.begin(at: store.resumeToken(after: 0))
            _ = try client.copy.keep(
                store.reader(as: .user(ann)).timeline(thread), of: .messages(thread), in: thread, PageRequest.latest(),
                asOf: store.head.position)
            #expect(try isInFiles("a secret"))
            let item = try client.enqueue(CommandRequest(.retract(.message(message), by: ann)))
            _ = try client.copy.end([(item.id, .success(store.executeBlocking(item.request.command)))])
            #expect(try !isInFiles("a secret"))
            client.close()
        }

        /// The erasure is told before the answer to the command, which is sent again.
        @Test func whatWasErasedBeforeItsAnswerLeavesTheFile() throws {
            let client = try neighbours.client(ann)
            let item = try client.enqueue(CommandRequest(.openThread(name: "a secret", by: ann)))
            let position = try store.executeBlocking(item.request.command).positions?.lowerBound ?? 0
            _ = try store.eraseContent(of: PositionSet([position...position]), reason: "a-test")
            _ = try client.copy.end([(item.id, .success(store.executeBlocking(item.request.command)))])
            #expect(try !isInFiles("a secret"))
            client.close()
        }
    }
#endif
