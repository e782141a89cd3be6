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
                .postMessage(id: MessageID(bits: 5), thread: neighbours.thread, body: "waits", by: neighbours.ann))
            let copy = try open()
            _ = try copy.enqueue(waiting, now: .testStart)
            let text = String(repeating: "x", count: 4_000)
            for _ in 0..<200 {
                try neighbours.store.executeBlocking(
                    .postMessage(thread: neighbours.thread, body: text, by: neighbours.bob))
            }
            let (head, page) = (neighbours.store.head.position, PageRequest.latest(200))
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
            #expect(throws: ClientError.storage(.full, file: path)) { try copy.rebuild() }
            #expect(try copy.byteCountToRebuild != nil)
            // Small changes have room.
            _ = try copy.enqueue(
                CommandRequest(.setPostcode(postcode: "N1 9GU", by: neighbours.ann)), now: .testStart)
            copy.close()
            SmallDisk.end()
            let again = try open()
            #expect(try again.byteCountToRebuild == nil && again.outbox().count == 2)
            again.close()
        }

        /// The client waits while nothing can be written, and then goes on by itself.
        @Test(.timeLimit(.minutes(1))) func theClientWaitsForRoom() async throws {
            defer { SmallDisk.end() }
            SmallDisk.end()
            let client = ChatClient(
                try open(), neighbours.server.transport(of: neighbours.ann), credentials: "secret", .quick)
            let timeline = client.liveTimeline(of: neighbours.thread)
            let following = Task { await timeline.follow() }
            let running = Task { await client.run() }
            try await until { try client.outbox().isEmpty && client.connection == .connected }
            SmallDisk.begin(path + "-wal", room: 0)
            #expect(throws: ClientError.storage(.full, file: path)) {
                try client.enqueue(
                    CommandRequest(
                        .postMessage(thread: neighbours.thread, body: "no room", by: neighbours.ann)))
            }
            let message = try #require(
                try neighbours.store.executeBlocking(
                    .postMessage(thread: neighbours.thread, body: "later", by: neighbours.bob)
                ).message)
            try await until {
                if case .waiting(.storage(.full, file: path), _) = client.connection { true } else { false }
            }
            SmallDisk.end()
            try await until { client.connection == .connected && timeline.messages.last?.body == "later" }
            #expect(try client.copy.post(.message(message))?.body == "later")
            following.cancel()
            running.cancel()
            await running.value
            client.close()
        }

        /// A change whose log cannot be emptied is announced when it can, and in its order.
        @Test func whatCouldNotBeToldIsToldLater() throws {
            defer { SmallDisk.end() }
            SmallDisk.end()
            let copy = try open()
            let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
            let item = try #require(try copy.outbox().first)
            // The log has room, and the file has none for what the log has.
            for number in 0..<100 {
                let text = "\(number)" + String(repeating: "x", count: 4_000)
                _ = try copy.enqueue(
                    CommandRequest(
                        .postMessage(
                            id: MessageID(bits: UInt128(100 + number)), thread: neighbours.thread, body: text,
                            by: neighbours.ann)), now: .testStart)
            }
            SmallDisk.begin(path, room: size)
            #expect(throws: ClientError.storage(.full, file: path)) { _ = try copy.withdraw(item.id) }
            #expect(try !copy.outbox().contains(item))
            #expect(throws: ClientError.storage(.full, file: path)) { _ = try copy.settle() }
            SmallDisk.end()
            let changes = try copy.enqueue(
                CommandRequest(.setPostcode(postcode: "N1 9GU", by: neighbours.ann)), now: .testStart)
            #expect(changes.outbox.map(\.item.kind) == ["postMessage", "setPostcode"])
            #expect(changes.outbox.first == .withdrawn(item))
            #expect(try copy.settle() == CopyChanges())
            copy.close()
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
