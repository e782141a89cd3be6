#if Postgres
    import Chat
    import ChatDomain
    import ChatTesting
    import EventJournal
    import Foundation
    import Locking
    import Primitives
    import TestSupport
    import Testing

    @testable import JournalPostgres

    /// A log that another writer took over, that was set back or that has moved says so by itself.
    @Suite(.needsPostgres) struct PostgresFailureTests {
        private static let pulse = Duration.milliseconds(50)

        private func options(_ options: PostgresOptions = .impatient(answer: .seconds(5))) -> PostgresOptions {
            var options = options
            options.heartbeatInterval = Self.pulse
            return options
        }

        private func name(_ address: String) throws -> String { try PostgresAddress(address).log }

        /// Sets a log back to an earlier end, as a restored dump does.
        private func setBack(_ address: String, to head: JournalHead, on server: PostgresServer) throws {
            let log = "(SELECT number FROM chat_journal.log WHERE name = '\(try name(address))')"
            try server.execute(
                """
                BEGIN; UPDATE chat_journal.log SET position = \(head.position), chain = \(Int64(bitPattern: head.chain)),
                acknowledged = least(acknowledged, \(head.position)) WHERE number = \(log);
                DELETE FROM chat_journal.record WHERE log = \(log) AND position > \(head.position); COMMIT
                """)
        }

        private func endConnections(of address: String, on server: PostgresServer) throws {
            try server.execute(
                """
                SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2
                AND l.objid = (SELECT number FROM chat_journal.log WHERE name = '\(try name(address))')
                """)
        }

        /// The announced position, less the last one: at most 0.
        private func announcedBeyondTheEnd(_ address: String, on server: PostgresServer) throws -> Int {
            let text = try server.execute(
                "SELECT acknowledged - position FROM chat_journal.log WHERE name = '\(try name(address))'")
            return try #require(Int(text))
        }

        @Test func supersededWriterNoticesWithoutCommands() async throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let store = try ChatStore.open(log: try PostgresLog.open(address, options: options()))
            let ann = UserID(bits: 1)
            try await store.execute(.registerUser(id: ann, username: "Ann"))
            let follower = Task {
                for try await _ in store.events(after: 1, matching: EventFilter(as: .host)) {}
            }
            // The connection stays: nothing but the heartbeat can notice.
            try server.execute("UPDATE chat_journal.log SET epoch = epoch + 1 WHERE name = '\(try name(address))'")
            #expect(inTurns { store.failure?.code == .superseded })
            #expect(throws: ChatError.self) { _ = try store.reader(as: .host).user(ann) }
            await #expect(throws: ChatError.self) { try await follower.value }
            #expect(throws: ChatError.self) { try store.close() }
        }

        @Test func setBackLogIsNoticedWithoutCommands() throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let log = try PostgresLog.open(address, options: options())
            try log.appendSafely("a")
            let head = log.head
            try log.appendSafely("b")
            try setBack(address, to: head, on: server)
            #expect(inTurns { log.failure?.code == .damaged })
            expectError(.damaged) { try log.append(["c"]) }
            #expect(try announcedBeyondTheEnd(address, on: server) == 0)
        }

        /// The epoch is older, too: no other writer has taken over.
        @Test func restoredLogIsNotSuperseded() throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            try PostgresLog.open(address).close()
            let log = try PostgresLog.open(address, options: options())
            try log.appendSafely("a")
            try server.execute("UPDATE chat_journal.log SET epoch = epoch - 1 WHERE name = '\(try name(address))'")
            #expect(inTurns { log.failure?.code == .damaged }, "\(String(describing: log.failure))")
        }

        @Test func movedLogStopsItsWriterAndEndsItsFollowers() async throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let log = try PostgresLog.open(address, options: options())
            try log.appendSafely("a", "b")
            let reader = try PostgresLog.openReadOnly(address, options: options())
            let follower = Task { try await reader.waitForRecords(after: 2) }
            try server.execute(
                """
                UPDATE chat_journal.log SET state = 'moved', moved_to = 'elsewhere', epoch = epoch + 1
                WHERE name = '\(try name(address))'
                """)
            #expect(inTurns { log.failure?.code == .moved })
            let error = await #expect(throws: JournalError.self) { try await follower.value }
            #expect(error?.code == .moved && error?.message.contains("elsewhere") == true)
            // A reader has the whole history.
            #expect(try reader.failure == nil && reader.texts() == ["a", "b"])
            try reader.close()
        }

        @Test func outageThatPassesStopsNothing() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let messages = Lock<[String]>([])
            var options = options()
            options.log = { message in messages.withLock { $0.append(message.text) } }
            let log = try PostgresLog.open(address, options: options)
            try log.appendSafely("a")
            server.stop()
            #expect(inTurns { messages.withLock { $0.count } == 1 })
            try server.start()
            #expect(inTurns { messages.withLock { $0.count } == 2 })
            #expect(log.failure == nil)
            try log.appendSafely("b")
            try log.close()
            #expect(try PostgresLog.openReadOnly(address).texts() == ["a", "b"])
        }

        @Test func longOutageStopsTheLogWithoutCommands() throws {
            let server = try PostgresServer.own()
            let log = try PostgresLog.open(
                server.newAddress(), options: options(.impatient(outage: .milliseconds(300))))
            try log.appendSafely("a")
            server.stop()
            #expect(inTurns { log.failure?.code == .unreachable })
            expectError(.unreachable) { try log.append(["b"]) }
        }

        /// A read finds it, before any append or heartbeat.
        @Test func readThatFindsALogSetBackStopsIt() throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a")
            let head = log.head
            try log.appendSafely("b")
            try setBack(address, to: head, on: server)
            expectError(.damaged) { _ = try log.texts() }
            #expect(log.failure?.code == .damaged)
            expectError(.damaged) { try log.append(["c"]) }
        }

        /// A writer that connects again compares before it announces.
        @Test(arguments: [false, true]) func reconnectionToASetBackLogAnnouncesNothing(appends: Bool) throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let log = try PostgresLog.open(address, options: options())
            try log.appendSafely("a", "b")
            let head = log.head
            try log.appendSafely("c")
            try setBack(address, to: head, on: server)
            try endConnections(of: address, on: server)
            if appends { expectError(.damaged) { try log.waitUntilDurable(try log.append(["d"]).upperBound) } }
            #expect(inTurns { log.failure?.code == .damaged })
            #expect(try announcedBeyondTheEnd(address, on: server) == 0)
            let reader = try PostgresLog.openReadOnly(address)
            #expect(try reader.head == head && reader.texts() == ["a", "b"])
            let again = try PostgresLog.open(address, options: .impatient(answer: .seconds(5), takesOver: true))
            try again.appendSafely("e")
            #expect(try again.texts() == ["a", "b", "e"])
            try again.close()
        }

        /// Another history of the same length, under the same epoch: only the chain value differs.
        @Test func appendComparesTheChain() throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a")
            try server.execute("UPDATE chat_journal.log SET chain = chain + 1 WHERE name = '\(try name(address))'")
            let positions = try log.append(["never"])
            expectError(.damaged) { try log.waitUntilDurable(positions.upperBound) }
            let records =
                "SELECT count(*) FROM chat_journal.record r JOIN chat_journal.log l ON l.number = r.log WHERE name = '\(try name(address))'"
            #expect(try server.execute(records) == "1")
        }

        /// A log is set back at a random moment of its writer's work, and its connection is cut.
        @Test(arguments: Seeds.seeds(Repetitions.few(5, of: 200))) func logSetBackAtRandomIsNeverAnnounced(seed: UInt64)
            throws
        {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            var random = SeededRandom(seed: seed)
            let log = try PostgresLog.open(address, options: options())
            let heads = Lock<[JournalHead]>([log.head])
            let group = DispatchGroup()
            group.enter()
            Thread.detachNewThread { [random] in
                defer { group.leave() }
                var random = random
                do throws(JournalError) {
                    while true {
                        try log.append((0..<Int.random(in: 1...3, using: &random)).map { "\($0)" })
                        if random.oneIn(2) { try log.waitUntilDurable(log.lastPosition) }
                        heads.withLock { $0.append(log.head) }
                        if random.oneIn(4) {
                            Thread.sleep(forTimeInterval: Double.random(in: 0...0.02, using: &random))
                        }
                    }
                } catch {
                    #expect(error.code == .damaged, "\(error)")
                }
            }
            let least = Int.random(in: 2...60, using: &random)
            #expect(inTurns { heads.withLock { $0.count } > least })
            if random.oneIn(2) { try endConnections(of: address, on: server) }
            let head = heads.withLock { heads in
                // Not the last one: the log must lose something.
                heads.filter { $0.position < heads[heads.count - 1].position }.randomElement(using: &random) ?? heads[0]
            }
            try setBack(address, to: head, on: server)
            if random.oneIn(2) { try endConnections(of: address, on: server) }
            group.wait()
            #expect(log.failure?.code == .damaged)
            #expect(try announcedBeyondTheEnd(address, on: server) <= 0)
            // Readers and a verification have the history as it is now.
            let reader = try PostgresLog.openReadOnly(address)
            #expect(reader.head == head)
            var findings: [JournalFinding] = []
            try reader.verifyRecords { findings.append($0) }
            #expect(findings.isEmpty, "\(findings)")
            #expect(try reader.texts().count == Int(head.position))
            expectError(.damaged) { try log.close() }
            var options = PostgresOptions.impatient(answer: .seconds(5), takesOver: true)
            options.expectedHead = head
            let again = try PostgresLog.open(address, options: options)
            try again.appendSafely("later")
            try again.close()
        }
    }
#endif
