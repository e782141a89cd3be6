#if Postgres
    import EventJournal
    import Foundation
    import JournalPostgres
    import Locking
    import Primitives
    import TestSupport
    import Testing

    @Suite(.needsPostgres) struct PostgresWriterTests {
        @Test func secondWriterIsRejectedUntilTheFirstCloses() throws {
            let address = try PostgresServer.common().newAddress()
            let first = try PostgresLog.open(address)
            expectError(.locked) { _ = try PostgresLog.open(address) }
            try first.appendSafely("a")
            try first.close()
            var options = PostgresOptions()
            options.lockTimeout = .seconds(30)
            let second = try PostgresLog.open(address, options: options)
            #expect(second.id == first.id && second.lastPosition == 1)
            try second.close()
        }

        @Test func opensAtTheSameTimeHaveOneWriter() async throws {
            let server = try PostgresServer.common()
            for _ in 0..<5 {
                let address = server.newAddress()
                let opened = await withTaskGroup(of: PostgresLog?.self) { group in
                    for _ in 0..<8 { group.addTask { try? PostgresLog.open(address) } }
                    return await group.reduce(into: [] as [PostgresLog]) { if let log = $1 { $0.append(log) } }
                }
                #expect(opened.count == 1)
                for log in opened { try log.close() }
            }
        }

        @Test func supersededWriterStopsAndAppendsNothing() throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let first = try PostgresLog.open(address, options: .impatient())
            try first.appendSafely("a", "b")
            var options = PostgresOptions()
            options.takesOver = true
            let second = try PostgresLog.open(address, options: options)
            #expect(second.head == first.head)
            try second.appendSafely("c")
            let positions = try first.append(["never"])
            expectError(.superseded) { try first.waitUntilDurable(positions.upperBound) }
            expectError(.superseded) { try first.append(["never"]) }
            #expect(try first.texts(in: 1...2) == ["a", "b"])
            try second.appendSafely("d")
            #expect(try second.texts() == ["a", "b", "c", "d"])
            expectError(.superseded) { try first.close() }
            try second.close()
            #expect(try PostgresLog.openReadOnly(address).texts() == ["a", "b", "c", "d"])
        }

        /// What refuses the log is found before the writer is ended.
        @Test func takeOverThatIsRefusedEndsNobody() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let first = try PostgresLog.open(address, options: .impatient())
            try first.appendSafely("a", "b")
            var options = PostgresOptions.impatient(takesOver: true)
            for head in [
                JournalHead(journal: first.id, position: 2, chain: 1),
                JournalHead(journal: first.id, position: 3, chain: first.head.chain),
                JournalHead(journal: JournalID(bits: 7), position: 2, chain: first.head.chain),
            ] {
                options.expectedHead = head
                expectError(.headMismatch) { _ = try PostgresLog.open(address, options: options) }
                try first.appendSafely("goes on")
            }
            // The end of the log is damaged.
            try server.execute("UPDATE chat_journal.record SET chain = chain + 1 WHERE position = 5")
            options.expectedHead = nil
            expectError(.damaged) { _ = try PostgresLog.open(address, options: options) }
            try first.appendSafely("goes on")
            // A server that confirms no commit.
            try server.execute("UPDATE chat_journal.record SET chain = chain - 1 WHERE position = 5")
            try server.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            try server.execute("SELECT pg_reload_conf()")
            while try server.execute("SHOW synchronous_standby_names") != "nobody" {
                Thread.sleep(forTimeInterval: 0.01)
            }
            // The setting reaches the other processes soon after.
            Thread.sleep(forTimeInterval: 0.3)
            expectError(.unreachable) { _ = try PostgresLog.open(address, options: options) }
            try server.execute("ALTER SYSTEM RESET synchronous_standby_names")
            try server.execute("SELECT pg_reload_conf()")
            try first.appendSafely("goes on")
            options.expectedHead = first.head
            let second = try PostgresLog.open(address, options: options)
            #expect(second.head == first.head)
            let positions = try first.append(["never"])
            expectError(.superseded) { try first.waitUntilDurable(positions.upperBound) }
            try second.close()
        }

        /// The connection of the first writer is not ended here, so only the append itself can
        /// notice.
        @Test func appendComparesTheEpoch() throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a")
            try server.execute(
                "UPDATE chat_journal.log SET epoch = epoch + 1 WHERE name = '\(PostgresAddress(address).log)'")
            let positions = try log.append(["never"])
            expectError(.superseded) { try log.waitUntilDurable(positions.upperBound) }
            #expect(try PostgresLog.openReadOnly(address).texts() == ["a"])
        }

        /// The epoch is compared inside the transaction of each append, so the moment of the
        /// take-over does not matter.
        @Test func writersThatTakeOverNeverMixTheirCommits() throws {
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let options = PostgresOptions.impatient(answer: .seconds(5), takesOver: true)
            let safe = Lock<[String]>([])
            let group = DispatchGroup()
            for writer in 0..<4 {
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    for round in 0..<6 {
                        do throws(JournalError) {
                            let log = try PostgresLog.open(address, options: options)
                            for number in 0..<10_000 {
                                let text = "\(writer).\(round).\(number)"
                                try log.appendSafely(text, text + "b")
                                safe.withLock { $0.append(text) }
                                if number > 20 { break }
                            }
                        } catch {
                            let expected: [JournalError.Code] = [.superseded, .unreachable, .conflict, .locked]
                            #expect(expected.contains(error.code), "\(error)")
                        }
                    }
                }
            }
            group.wait()
            let log = try PostgresLog.open(address, options: options)
            let texts = try log.texts().compactMap { $0 }
            #expect(texts.count == Int(log.lastPosition))
            #expect(Set(texts).count == texts.count)
            for text in safe.withLock({ $0 }) {
                let index = try #require(texts.firstIndex(of: text), "\(text) was confirmed and is missing")
                #expect(texts[index + 1] == text + "b")
            }
            try log.close()
        }

        @Test func closedLogIsSeenWholeByReaders() throws {
            let address = try PostgresServer.common().newAddress()
            let log = try PostgresLog.open(address)
            let reader = try PostgresLog.openReadOnly(address)
            #expect(reader.isReadOnly && reader.lastPosition == 0)
            try log.appendSafely("a", "b", "c")
            try log.close()
            #expect(try reader.refresh() == 3)
            #expect(reader.head == log.head)
            #expect(try reader.texts() == ["a", "b", "c"])
            expectError(.readOnly) { try reader.append(["x"]) }
            expectError(.readOnly) { try reader.reserve(1) }
        }

        /// An append either throws, or its commit is there after the log was closed.
        @Test func closeLosesNoAppend() throws {
            let address = try PostgresServer.common().newAddress()
            for _ in 0..<Repetitions.few(5, of: 30) {
                let log = try PostgresLog.open(address, options: .impatient(answer: .seconds(5)))
                let first = log.lastPosition
                let last = Lock<Position>(first)
                let group = DispatchGroup()
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    do throws(JournalError) {
                        while true {
                            let end = try log.append(["x"]).upperBound
                            last.withLock { $0 = end }
                        }
                    } catch {
                        #expect(error.code == .closed, "\(error)")
                    }
                }
                while last.withLock({ $0 }) < first + 10 { Thread.sleep(forTimeInterval: 0.001) }
                try log.close()
                group.wait()
                #expect(try PostgresLog.openReadOnly(address).lastPosition == last.withLock { $0 })
            }
        }

        @Test func logWithAnInvalidRowIsDamaged() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            try PostgresLog.open(address).close()
            // As a newer version might have it.
            try server.execute(
                "ALTER TABLE chat_journal.log DROP CONSTRAINT log_state_check; UPDATE chat_journal.log SET state = 'archived'"
            )
            expectError(.damaged) { _ = try PostgresLog.openReadOnly(address) }
            expectError(.damaged) { _ = try PostgresLog.open(address) }
        }

        @Test func scatteredRecordsAreErasedTogether() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.append((1...1_300).map { "\($0)" })
            let scattered = PositionSet((1...600).map { Position(2 * $0)...Position(2 * $0) })
            try log.eraseContent(of: scattered, orderedThrough: 1_300)
            let texts = try log.texts()
            for (index, text) in texts.enumerated() {
                #expect(text == (scattered.contains(Position(index) + 1) ? nil : "\(index + 1)"))
            }
            let transactions =
                "SELECT count(DISTINCT xmin::text) FROM chat_journal.record WHERE position % 2 = 0 AND position <= 1200"
            #expect(try server.execute(transactions) == "2")
            try log.close()
        }

        @Test func logThatDoesNotExistIsNotFound() throws {
            let server = try PostgresServer.common()
            expectError(.notFound) { _ = try PostgresLog.openReadOnly(server.newAddress()) }
            var options = PostgresOptions()
            options.createIfMissing = false
            expectError(.notFound) { _ = try PostgresLog.open(server.newAddress(), options: options) }
        }

        @Test func expectedHeadIsCompared() throws {
            let address = try PostgresServer.common().newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a")
            let head = log.head
            try log.appendSafely("b")
            try log.close()
            var options = PostgresOptions()
            options.lockTimeout = .seconds(30)
            options.expectedHead = head
            let again = try PostgresLog.open(address, options: options)
            #expect(try again.head(at: 1) == head)
            try again.close()
            options.expectedHead = JournalHead(journal: head.journal, position: 1, chain: head.chain ^ 1)
            expectError(.headMismatch) { _ = try PostgresLog.open(address, options: options) }
            options.expectedHead = JournalHead(journal: head.journal, position: 9, chain: head.chain)
            expectError(.headMismatch) { _ = try PostgresLog.openReadOnly(address, options: options) }
        }

        @Test func tablesOfANewerVersionAreRejected() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            try PostgresLog.open(address).close()
            try server.execute("UPDATE chat_journal.format SET version = version + 1")
            expectError(.newerVersion) { _ = try PostgresLog.open(address) }
            expectError(.newerVersion) { _ = try PostgresLog.openReadOnly(address) }
            for damage in ["UPDATE chat_journal.format SET version = -1", "DELETE FROM chat_journal.format"] {
                try server.execute(damage)
                expectError(.damaged) { _ = try PostgresLog.open(address) }
                expectError(.damaged) { _ = try PostgresLog.openReadOnly(address) }
            }
        }

        @Test func committedHeadsAreTheSameInMemoryAndInTheDatabase() throws {
            let address = try PostgresServer.common().newAddress()
            let log = try PostgresLog.open(address)
            for count in [1, 3, 2, 1_000, 1, 2_000] { try log.append((0..<count).map { "\($0)" }) }
            func heads() throws -> [JournalHead] {
                var heads: [JournalHead] = []
                try log.forEachCommittedRecord(in: 1...log.lastPosition) { _, head, _, _, _ in
                    heads.append(head)
                    return true
                }
                return heads
            }
            // Some of the commits are in memory only.
            let early = try heads()
            try log.waitUntilDurable(log.lastPosition)
            #expect(try heads() == early)
            #expect(early.count == 3_007 && Set(early).count == 6)
            for (index, head) in early.enumerated() where index % 97 == 0 {
                #expect(try log.head(at: Position(index) + 1) == head)
            }
            #expect(try log.contains(early[3_006]) && log.contains(early[0]))
            #expect(try !log.contains(JournalHead(journal: log.id, position: 2, chain: early[0].chain)))
            try log.close()
        }
    }
#endif
