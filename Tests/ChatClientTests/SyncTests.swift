#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// The engine with a server in this process.
    @MainActor @Suite struct SyncTests {
        let (store, server): (ChatStore, SimulatedServer)
        let (ann, bob, thread): (UserID, UserID, ThreadID)
        private let client: (UserID) throws -> ChatClient

        init() throws {
            let neighbours = try Neighbours()
            (store, server) = (neighbours.store, neighbours.server)
            (ann, bob, thread) = (neighbours.ann, neighbours.bob, neighbours.thread)
            client = { try neighbours.client($0) }
        }

        private func post(_ body: String, by user: UserID) -> CommandRequest {
            CommandRequest(
                .postMessage(
                    id: MessageID(bits: UInt128.random(in: 0...UInt128.max)), thread: thread, body: body, by: user))
        }

        @Test func whatIsWrittenOfflineIsSentInItsOrderAndReplacedInItsPlace() async throws {
            let engine = try client(ann).engine
            server.goAway()
            for number in 1...5 {
                engine.announce(try engine.copy.enqueue(post("\(number)", by: ann), now: Timestamp(Date())))
            }
            #expect(try engine.copy.posts(in: .messages(thread)).posts.map(\.body) == ["1", "2", "3", "4", "5"])
            #expect(try engine.copy.posts(in: .messages(thread)).posts.allSatisfy { $0.position >= .firstPending })
            let running = Task { await engine.run() }
            try await Task.sleep(for: .milliseconds(30))
            server.comeBack()
            try await until { try engine.copy.pendingCount == 0 && engine.connection == .connected }
            try await engine.read(.messages(thread), in: thread, PageRequest.latest())
            let posts = try engine.copy.posts(in: .messages(thread))
            #expect(posts.posts == (try store.reader(as: .user(ann)).timeline(thread).entries))
            #expect(posts.posts.map(\.body) == ["1", "2", "3", "4", "5"] && posts.reachesBeginning)
            running.cancel()
            await running.value
            #expect(engine.connection == .idle)
        }

        /// Also if the user has never posted, so that no page has shown the name.
        @Test func whatWaitsHasTheUsersName() async throws {
            let engine = try client(ann).engine
            try await engine.read(UserQuery())
            server.goAway()
            engine.announce(try engine.copy.enqueue(post("1", by: ann), now: Timestamp(Date())))
            #expect(
                try engine.copy.posts(in: .messages(thread)).posts.map(\.author) == [
                    UserSummary(id: ann, username: store.reader(as: .host).user(ann).username)
                ])
        }

        @Test func aRejectedCommandStopsOnlyWhatDependsOnIt() async throws {
            let engine = try client(bob).engine
            let changes = engine.changes.elements()
            let running = Task { await engine.run() }
            let message = MessageID(bits: 77)
            let tooLong = String(repeating: "x", count: MessageBody.maximumByteCount + 1)
            for command in [
                ChatCommand.postMessage(id: message, thread: thread, body: tooLong, by: bob),
                .reply(id: ReplyID(bits: 78), to: message, body: "a reply to it", by: bob),
                .postMessage(id: MessageID(bits: 79), thread: thread, body: "independent", by: bob),
            ] { engine.announce(try engine.copy.enqueue(CommandRequest(command), now: Timestamp(Date()))) }
            try await until { try engine.copy.pendingCount == 0 }
            #expect(try engine.copy.outbox().map(\.state).allSatisfy { if case .rejected = $0 { true } else { false } })
            #expect(try engine.copy.outbox().count == 2)
            #expect(try store.reader(as: .host).timeline(thread).entries.map(\.body) == ["independent"])
            // Corrected, both are sent.
            let first = try #require(try engine.copy.outbox().first)
            let corrected = try engine.copy.replace(
                first.id, by: CommandRequest(.postMessage(id: message, thread: thread, body: "short", by: bob))
            )
            engine.announce(try corrected.get())
            try await until { try engine.copy.outbox().isEmpty }
            #expect(try store.reader(as: .host).replies(to: message).entries.map(\.body) == ["a reply to it"])
            running.cancel()
            await running.value
            engine.changes.finish()
            var rejections = 0
            for await change in changes { for case .rejected in change.outbox { rejections += 1 } }
            #expect(rejections == 2)
        }

        @Test func anotherJournalStopsTheClientAndKeepsWhatItHas() async throws {
            let engine = try client(ann).engine
            var running = Task { await engine.run() }
            try await until { engine.connection == .connected }
            try await engine.read(.messages(thread), in: thread, PageRequest.latest())
            running.cancel()
            await running.value
            server.state.withLock { $0.store = try! .inMemory() }
            engine.announce(try engine.copy.enqueue(post("for the other journal", by: ann), now: Timestamp(Date())))
            running = Task { await engine.run() }
            await running.value
            #expect(engine.connection == .stopped(.anotherHistory))
            #expect(try engine.copy.pendingCount == 1)
            #expect(server.store.head.position == 0)
        }
    }
#endif
