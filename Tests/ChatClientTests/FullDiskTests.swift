#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import LocalStorage
    import TestSupport
    import Testing

    @testable import ChatClient

    /// A copy that cannot be written anew, because the disk has no room for that.
    ///
    /// In turns, because one file at a time has a small disk.
    @MainActor @Suite(.serialized) struct FullDiskTests {
        /// Room for the log of small changes, and not for that of a whole copy.
        private static let room = 512 << 10

        let neighbours: Neighbours
        let path: String
        private let waiting: CommandRequest

        /// Ann's copy, from which something was taken away, with a command that waits.
        init() throws {
            neighbours = try Neighbours()
            path = neighbours.directory.file("\(neighbours.ann)")
            waiting = CommandRequest(
                .postMessage(
                    message: MessageID(bits: 5), thread: neighbours.thread, author: neighbours.ann, body: "waits"))
            let copy = try open()
            _ = try copy.enqueue(waiting, now: .testStart)
            let text = String(repeating: "x", count: 4_000)
            for _ in 0..<200 {
                try neighbours.store.executeBlocking(
                    .postMessage(thread: neighbours.thread, author: neighbours.bob, body: text))
            }
            let (head, page) = (neighbours.store.head.position, PageRequest(limit: 200))
            try copy.begin(at: neighbours.store.resumeToken(after: head))
            _ = try copy.keep(
                neighbours.store.reader(as: .user(neighbours.ann)).timeline(neighbours.thread, page: page),
                of: .messages(neighbours.thread), in: neighbours.thread, page, asOf: head)
            _ = try copy.forget(.replies(MessageID(bits: 9)))
            #expect(try copy.byteCountToRebuild ?? 0 > Self.room)
            SmallDisk.begin(path + "-wal", room: Self.room)
            copy.close()
        }

        private func open() throws -> LocalCopy {
            try LocalCopy(path: path, server: "https://chat.example", user: neighbours.ann)
        }

        @Test func theCopyOpensWithItsOutboxAndIsRebuiltLater() throws {
            defer { SmallDisk.end() }
            let copy = try open()
            #expect(try copy.outbox().map(\.request) == [waiting])
            #expect(throws: ClientError.storage(.full)) { try copy.rebuild() }
            #expect(try copy.byteCountToRebuild != nil)
            // Small changes have room.
            _ = try copy.enqueue(
                CommandRequest(.setPostcode(user: neighbours.ann, postcode: "N1 9GU")), now: .testStart)
            copy.close()
            SmallDisk.end()
            let again = try open()
            #expect(try again.byteCountToRebuild == nil && again.outbox().count == 2)
            again.close()
        }

        /// The client follows the server and sends what waits.
        @Test(.timeLimit(.minutes(1))) func theClientGoesOn() async throws {
            defer { SmallDisk.end() }
            var environment = SyncEnvironment.quick
            environment.sleep = { _ in await Task.yield() }
            let client = ChatClient(
                try open(), neighbours.server.transport(of: neighbours.ann), credentials: "secret", environment)
            let running = Task { await client.run() }
            try await until { try client.outbox().isEmpty && client.connection == .connected }
            #expect(try client.copy.byteCountToRebuild != nil)
            #expect(
                try neighbours.store.reader(as: .host).message(MessageID(bits: 5)).body == "waits")
            running.cancel()
            await running.value
            client.close()
        }
    }
#endif
