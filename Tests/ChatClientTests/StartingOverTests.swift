#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import LocalStorage
    import TestSupport
    import Testing

    @testable import ChatClient

    /// A copy that is damaged, foreign, unreadable or gone, and the way out of it.
    @Suite struct StartingOverTests {
        let directory: TemporaryDirectory
        let session: ClientSession
        let path: String
        let thread = ThreadID(bits: 9)
        private let user = UserID(bits: 7)

        init() throws {
            directory = try TemporaryDirectory()
            session = ClientSession(
                server: try #require(URL(string: "https://chat.example")), user: UserSummary(id: user, username: "Ann"),
                token: SessionToken(rawValue: "secret"))
            let client = try ChatClient(session, directory: directory.path)
            path = client.copy.path
            client.close()
        }

        private func open() throws(ClientError) -> ChatClient { try ChatClient(session, directory: directory.path) }

        private func startOver() throws(ClientError) -> (client: ChatClient, outbox: StartingOver) {
            try ChatClient.startingOver(session, directory: directory.path)
        }

        /// Adds commands to the outbox of the copy, and returns its items.
        private func write(_ count: Int, length: Int = 8) throws -> [OutboxItem] {
            let client = try open()
            defer { client.close() }
            for number in 0..<count {
                let body = "\(number) " + String(repeating: "x", count: length)
                try client.enqueue(CommandRequest(.postMessage(thread: thread, body: body, by: user)))
            }
            return try client.copy.outbox(limit: 1_000)
        }

        private func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path) }

        /// Overwrites bytes of the file.
        private func damage(_ range: Range<Int>, with byte: UInt8 = 0xFF) throws {
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.seek(toOffset: UInt64(range.lowerBound))
            try file.write(contentsOf: Data(repeating: byte, count: range.count))
            try file.close()
        }

        private func size() throws -> Int {
            try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        }

        @Test func whatWaitsInASoundCopyIsMoved() throws {
            let items = try write(3)
            let rejection = Rejection(.notAMember, "Join first.")
            let copy = try open().copy
            _ = try copy.nextBatch(limit: 1, byteLimit: 1)
            _ = try copy.end([(items[1].id, .failure(rejection))])
            let before = try copy.outbox()
            copy.close()
            let (client, outbox) = try startOver()
            #expect(outbox.movedCount == 3 && outbox.lost.isEmpty && outbox.setAside == nil)
            #expect(try client.outbox() == before)
            #expect(before.map(\.wasSent) == [true, false, false] && before[1].state == .rejected(rejection))
            // New numbers are behind those that were moved.
            let next = try client.enqueue(CommandRequest(.postMessage(thread: thread, body: "next", by: user)))
            #expect(next.id == items[2].id + 1)
            client.close()
            #expect(try files().sorted() == [path, path + ".lock"].map { ($0 as NSString).lastPathComponent }.sorted())
        }

        /// A marker up to a post that waits still waits for it.
        @Test func aMarkerIsMovedWithItsPost() throws {
            let post = try #require(try write(1).first)
            var client = try open()
            let marker = try client.enqueue(
                CommandRequest(.markRead(thread: thread, upTo: .firstPending + Position(post.id), by: user)))
            client.close()
            client = try startOver().client
            let copy = client.copy
            #expect(try copy.nextBatch(limit: 10, byteLimit: 1_000).map(\.id) == [post.id])
            let store = try ChatStore.inMemory()
            try store.executeBlocking(.registerUser(id: user, username: "Ann"))
            try store.executeBlocking(.openThread(id: thread, name: "Dogs", by: user))
            let receipt = try store.executeBlocking([post.request])[0].get()
            _ = try copy.end([(post.id, .success(receipt))])
            let sent = try copy.nextBatch(limit: 10, byteLimit: 1_000)
            #expect(sent.map(\.id) == [marker.id] && sent.map(\.request.command.upTo) == [receipt.position])
            client.close()
        }

        /// Every page in turn: what is moved is what was written, and what is missing is said.
        @Test func whatIsMissingFromADamagedCopyIsSaid() throws {
            let items = try write(60, length: 1_500)
            let pages = try size() / 4_096
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            var partly = 0
            for page in 0..<pages {
                try whole.write(to: URL(fileURLWithPath: path))
                try damage(page * 4_096..<(page + 1) * 4_096)
                let (client, outbox) = try startOver()
                let moved = try client.copy.outbox(limit: 1_000)
                #expect(moved.count == outbox.movedCount)
                let lost = items.filter { item in !moved.contains(item) }
                if outbox.setAside == nil {
                    for item in lost { #expect(outbox.lost.contains { $0.contains(item.id) }, "\(page): \(item.id)") }
                    for item in moved { #expect(items.contains(item)) }
                } else {
                    // The page with the format, or with the owner.
                    #expect(moved.isEmpty)
                }
                if !moved.isEmpty, !lost.isEmpty { partly += 1 }
                client.close()
                try ChatClient.removeCopy(of: session, directory: directory.path)
                #expect(try files().isEmpty)
            }
            #expect(partly > 5)
        }

        /// Random bytes anywhere: an error or a result, and never anything that was not written.
        @Test(arguments: 1...20) func nothingIsMovedThatWasNotWritten(_ seed: UInt64) throws {
            let items = try write(20, length: 600)
            var random = SeededRandom(seed: seed)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let start = Int.random(in: 0..<(try size()), using: &random)
                let count = [1, 16, 700].randomElement(using: &random) ?? 1
                try damage(start..<start + count, with: UInt8.random(in: 0...255, using: &random))
            }
            let (client, outbox) = try startOver()
            let moved = try client.copy.outbox(limit: 1_000)
            #expect(moved.count == outbox.movedCount)
            for item in moved { #expect(item.request.command.actor == user && items.contains { $0.id == item.id }) }
            try client.enqueue(CommandRequest(.postMessage(thread: thread, body: "next", by: user)))
            client.close()
        }

        @Test func aFileOfAnotherUserIsSetAside() throws {
            let other = ClientSession(
                server: session.server, user: UserSummary(id: UserID(bits: 8)), token: SessionToken(rawValue: "x"))
            let client = try ChatClient(other, directory: directory.path)
            try client.enqueue(
                CommandRequest(.postMessage(thread: thread, body: "not mine", by: UserID(bits: 8))))
            let foreign = client.copy.path
            client.close()
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: foreign, toPath: path)
            #expect(throws: ClientError.storage(.unknownFormat, file: path)) { try open().close() }
            let (mine, outbox) = try startOver()
            #expect(outbox.movedCount == 0 && outbox.setAside == path + ".1")
            #expect(outbox.description.contains(path + ".1"))
            #expect(try mine.outbox().isEmpty)
            mine.close()
            #expect(try open().copy.outbox().isEmpty)
        }

        /// Commands of another user in a file that has the right owner.
        @Test func commandsOfAnotherUserAreNotMoved() throws {
            let items = try write(2)
            let copy = try open().copy
            let forged = CommandRequest(
                .postMessage(id: MessageID(bits: 3), thread: thread, body: "forged", by: UserID(bits: 8)))
            _ = try copy.file.withLock { file throws(ClientError) in
                try file.run(
                    "UPDATE outbox SET command = ? WHERE number = ?", .blob(try Database<ClientError>.encode(forged)),
                    .integer(items[0].id))
            }
            copy.close()
            let (client, outbox) = try startOver()
            #expect(outbox.movedCount == 1 && outbox.lost == [items[0].id...items[0].id])
            #expect(try client.outbox() == [items[1]])
            client.close()
        }

        enum Obstacle: CaseIterable { case text, directory, link, unreadable, lockLink, missing }

        /// Whatever has the name of a copy stands in the way of neither.
        @Test(arguments: Obstacle.allCases) func nothingStandsInTheWay(_ obstacle: Obstacle) throws {
            let files = FileManager.default
            func prepare() throws {
                if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
                switch obstacle {
                case .text: try Data("Dear diary".utf8).write(to: URL(fileURLWithPath: path))
                case .directory: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
                case .link: try files.createSymbolicLink(atPath: path, withDestinationPath: "/etc/hostname")
                case .unreadable:
                    try Data("Dear diary".utf8).write(to: URL(fileURLWithPath: path))
                    try files.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
                case .lockLink:
                    try? files.removeItem(atPath: path + ".lock")
                    try files.createSymbolicLink(atPath: path + ".lock", withDestinationPath: "/etc/hostname")
                case .missing: break
                }
            }
            try prepare()
            if obstacle != .missing {
                do throws(ClientError) {
                    try open().close()
                    Issue.record("opened")
                } catch {
                    // The whole path, and what to do.
                    #expect(error.description.contains(path) && error.description.hasSuffix("."), "\(error)")
                }
            }
            let (client, outbox) = try startOver()
            #expect(outbox.movedCount == 0 && outbox.lost.isEmpty)
            try client.enqueue(CommandRequest(.postMessage(thread: thread, body: "mine", by: user)))
            client.close()
            try prepare()
            try ChatClient.removeCopy(of: session, directory: directory.path)
            if obstacle != .directory { #expect(!files.fileExists(atPath: path)) }
        }

        @Test func anOpenCopyIsNotReplaced() throws {
            let client = try open()
            #expect(throws: ClientError.storage(.held, file: path)) { _ = try startOver() }
            client.close()
        }

        /// The process ends at every step of the replacement.
        @Test(arguments: 0...3) func aReplacementThatWasInterruptedIsEnded(_ step: Int) throws {
            let items = try write(2)
            let files = FileManager.default
            // What the call has made before it replaces the former file.
            try files.copyItem(atPath: path, toPath: path + ".new")
            try Data("wal".utf8).write(to: URL(fileURLWithPath: path + "-wal"))
            if step > 0 { try files.moveItem(atPath: path + "-wal", toPath: path + ".former-wal") }
            if step > 1 { try files.moveItem(atPath: path, toPath: path + ".former") }
            if step > 2 { try files.moveItem(atPath: path + ".new", toPath: path) }
            let client = try open()
            #expect(try client.outbox() == items)
            client.close()
            let left = try self.files().filter { $0.contains(".former") }
            #expect(left.isEmpty)
        }

        @Test func aCopyThatIsRemovedWhileItIsUsedIsNoticed() throws {
            let client = try open()
            try FileManager.default.removeItem(atPath: path)
            let error = ClientError.storage(.removed, file: path)
            #expect(throws: error) {
                try client.enqueue(CommandRequest(.postMessage(thread: thread, body: "lost", by: user)))
            }
            #expect(error.description.contains(path))
            client.close()
        }
    }
#endif
