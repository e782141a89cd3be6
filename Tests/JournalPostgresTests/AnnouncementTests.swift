#if Postgres
    import EventJournal
    import Foundation
    import Locking
    import Primitives
    import TestSupport
    import Testing

    @testable import JournalPostgres

    /// How readers learn of commits, and what reads and announcements cost the server.
    @Suite(.needsPostgres) struct AnnouncementTests {
        /// A notification takes a lock of the whole server until its transaction ends.
        @Test func notificationsAreFewAndTheLastOneIsNotLost() throws {
            let address = try PostgresServer.common().newAddress()
            let log = try PostgresLog.open(address)
            let listener = try log.database.connectForReading()
            try listener.run("LISTEN chat_journal_\(log.logNumber)", timeout: .seconds(10))
            let isOver = Lock(false)
            let count = Lock(0)
            let group = DispatchGroup()
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do {
                    while !isOver.withLock({ $0 }) {
                        if try listener.waitForNotification(timeout: .milliseconds(20)) { count.withLock { $0 += 1 } }
                    }
                } catch {
                    Issue.record(error)
                }
            }
            let start = ContinuousClock.now
            for number in 0..<400 { try log.appendSafely("\(number)") }
            let announced = "SELECT acknowledged FROM chat_journal.log WHERE number = \(log.logNumber)"
            let server = try PostgresServer.common()
            while try server.execute(announced) != "400" { Thread.sleep(forTimeInterval: 0.01) }
            let elapsed = ContinuousClock.now - start
            isOver.withLock { $0 = true }
            group.wait()
            // One at once, and one for each pause that has passed.
            #expect(count.withLock { $0 } <= 2 + Int(elapsed / .milliseconds(50)), "in \(elapsed)")
            try log.close()
        }

        /// A writer that is killed has not announced its last commits.
        @Test func followersFindWhatWasNotAnnounced() async throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a")
            let reader = try PostgresLog.openReadOnly(address)
            let waiting = Task { try await reader.waitForRecords(after: 1) }
            // Every announcement is lost.
            try server.execute(
                """
                CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN NEW.acknowledged := OLD.acknowledged; RETURN NEW; END $$;
                CREATE TRIGGER keep BEFORE UPDATE ON chat_journal.log FOR EACH ROW EXECUTE FUNCTION keep()
                """)
            try log.appendSafely("b", "c")
            #expect(try server.execute("SELECT position - acknowledged FROM chat_journal.log") == "2")
            #expect(try await waiting.value == 3)
            #expect(try reader.texts() == ["a", "b", "c"])
            try reader.close()
            try log.close()
        }

        /// In a log that the statistics of the tables do not know, each record is read a constant
        /// number of times.
        @Test func readsOfALogWithoutStatisticsAreLinear() throws {
            let server = try PostgresServer.own(["autovacuum": "off"])
            let known = try PostgresLog.open(server.newAddress())
            try known.append((0..<1_000).map { "\($0)" })
            try known.close()
            try server.execute("ANALYZE chat_journal.record")
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            let (commits, size) = (3_000, 3)
            for commit in 0..<commits {
                try log.append((0..<size).map { "\(commit).\($0)" })
            }
            let last = log.lastPosition
            try log.waitUntilDurable(last)
            func readCount() throws -> Int {
                // The counters of a connection are visible after a while, or once it ends.
                let text = try server.execute(
                    """
                    SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
                    WHERE schemaname = 'chat_journal' AND relname = 'record'
                    """)
                return try #require(Int(text))
            }
            try log.close()
            Thread.sleep(forTimeInterval: 0.5)
            let before = try readCount()
            let reader = try PostgresLog.openReadOnly(address)
            var positions: [Position] = []
            try reader.forEachCommittedRecord(in: 1...last) { position, commit, _, _, _ in
                positions.append(position)
                return commit.position == (position + 2) / 3 * 3
            }
            #expect(positions.count == Int(last))
            // Inside a commit, too.
            var ends: Set<Position> = []
            try reader.forEachCommittedRecord(in: 5...4_102) { _, commit, _, _, _ in
                ends.insert(commit.position).inserted || true
            }
            #expect(ends.max() == 4_104 && ends.min() == 6)
            try reader.close()
            Thread.sleep(forTimeInterval: 0.5)
            let count = try readCount() - before
            #expect(count < 5 * Int(last), "\(count) reads of \(last) records")
        }
    }
#endif
