#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import EventJournal
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// A server that was restored from an older backup, and goes on with other events.
    @MainActor @Suite struct HistorySetBackTests {
        let neighbours: Neighbours
        let ann = UserID(bits: 1)
        let thread = ThreadID(bits: 2)

        init() throws { neighbours = try Neighbours() }

        /// A store whose first events are always the same.
        private func store(messages bodies: [String]) throws -> ChatStore {
            var options = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1), checkpoints: nil)
            options.journal.storage = MemoryStorage()
            options.journal.entropy = SeededEntropy(seed: 1)
            let store = try ChatStore.open("journal", options: options)
            for command: ChatCommand in [
                .registerUser(id: ann, username: "Ann"), .openThread(id: thread, name: "Dogs", by: ann),
            ] { try store.executeBlocking(command) }
            for body in bodies { try store.executeBlocking(.postMessage(thread: thread, body: body, by: ann)) }
            return store
        }

        private func serve(_ store: ChatStore) { neighbours.server.state.withLock { $0.store = store } }

        @Test(arguments: [["one"], ["one", "other", "other", "other", "other"]])
        func nothingIsSentAndNothingIsLost(_ restored: [String]) async throws {
            serve(try store(messages: ["one", "two", "three"]))
            let client = try neighbours.client(ann)
            var running = Task { await client.run() }
            try await until { client.connection == .connected }
            #expect(try await client.timeline(thread).map(\.body) == ["one", "two", "three"])
            running.cancel()
            await running.value
            let earlier = try store(messages: restored)
            let head = earlier.head
            serve(earlier)
            try client.enqueue(CommandRequest(.postMessage(thread: thread, body: "waits", by: ann)))
            await client.run()
            #expect(client.connection == .stopped(.anotherHistory))
            #expect(earlier.head == head)
            #expect(try client.pendingCount == 1)
            // What the copy has is not mixed with what the server has now.
            _ = try? await client.timeline(thread, page: .latest(200))
            _ = try? await client.engine.read(.messages(thread), in: thread, PageRequest.latest(200))
            #expect(try client.copy.posts(in: .messages(thread)).posts.map(\.body) == ["one", "two", "three", "waits"])
            try client.startOver()
            running = Task { await client.run() }
            try await until { try client.pendingCount == 0 }
            #expect(try await client.timeline(thread).map(\.body) == restored + ["waits"])
            #expect(try earlier.reader(as: .host).timeline(thread).entries.map(\.body) == restored + ["waits"])
            running.cancel()
            await running.value
            client.close()
        }
    }
#endif
