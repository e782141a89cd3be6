#if Postgres
    import ChatTesting
    import EventJournal
    import Foundation
    import JournalPostgres
    import MerkleLog
    import Primitives
    import TestSupport
    import Testing

    /// A journal that moves from files to a database and back.
    @Suite(.needsPostgres) struct PostgresCopyTests {
        /// Makes a journal with commits of several sizes, an erased record and one without content.
        private func journal(in directory: String, seed: UInt64) throws -> Journal {
            let journal = try Journal.open(directory, options: JournalOptions(segmentSize: 4_096))
            var random = SeededRandom(seed: seed)
            for commit in 0..<60 {
                try journal.append(
                    (0..<Int.random(in: 1...8, using: &random)).map { random.oneIn(5) ? "" : "\(commit).\($0) é" })
            }
            try journal.append([String(repeating: "large ", count: 20_000)])
            try journal.waitUntilDurable(journal.lastPosition)
            try journal.eraseContent(of: PositionSet([5...5, 17...19]), orderedThrough: 0)
            return journal
        }

        private func stored(_ log: some StoredRecordLog) throws -> [[UInt8]] {
            var records: [[UInt8]] = []
            try log.forEachStoredRecord(in: 1...log.lastPosition) { _, left, record in
                records.append([UInt8(left)] + record.toArray())
                return true
            }
            return records
        }

        private func expectSame(_ log: some RecordTreeLog & MovableLog, as journal: Journal) throws {
            #expect(log.head == journal.head)
            #expect(try stored(log) == stored(journal))
            let size = journal.durablePosition
            #expect(try log.treeHead(at: size) == journal.treeHead())
            for position in [1, 5, 17, size / 2, size] {
                #expect(
                    try log.inclusionProof(of: position, at: size) == journal.inclusionProof(of: position, at: size))
                #expect(
                    try log.consistencyProof(from: position, at: size)
                        == journal.consistencyProof(from: position, at: size))
                #expect(try log.disclosedRecord(at: position) == journal.disclosedRecord(at: position))
                #expect(try log.head(at: position) == journal.head(at: position))
            }
        }

        @Test func readerCannotEndALog() throws {
            let address = try PostgresServer.common().newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a")
            try log.close()
            let reader = try PostgresLog.openReadOnly(address)
            expectError(.readOnly) { try reader.fence(at: 1, destination: "elsewhere") }
            #expect(try reader.movedTo() == nil)
            try reader.close()
        }

        @Test(arguments: Seeds.seeds(2)) func journalMovesToADatabaseAndBack(seed: UInt64) throws {
            let directory = try TemporaryDirectory()
            let (from, address) = (directory.path + "/journal", try PostgresServer.common().newAddress())
            let journal = try journal(in: from, seed: seed)
            var copy = try PostgresCopy(address, of: journal)
            try LogCopy.copyRecords(of: journal, to: &copy, upTo: journal.lastPosition / 2)
            try expectPrefix(address, journal)
            expectError(.copy) { _ = try PostgresLog.open(address) }
            try journal.appendSafely("later")
            var options = PostgresOptions()
            options.takesOver = true
            copy = try PostgresCopy(address, of: journal, options: options)
            try LogCopy.finish(journal, to: &copy, named: "a database")
            let log = try PostgresLog.open(address, options: options)
            try expectSame(log, as: journal)
            expectError(.moved) { try journal.append(["never"]) }
            expectError(.moved) {
                try journal.close()
                _ = try Journal.open(from)
            }
            try log.appendSafely("in the database")
            // Back into the directory from which it came.
            var back = try JournalCopy(from, of: log)
            try LogCopy.finish(log, to: &back, named: "files")
            expectError(.moved) { try log.append(["never"]) }
            expectError(.moved) { _ = try PostgresLog.open(address, options: options) }
            let again = try Journal.open(from)
            try expectSame(try PostgresLog.openReadOnly(address), as: again)
            try again.appendSafely("in files")
            // And to the database once more.
            var forth = try PostgresCopy(address, of: again, options: options)
            try LogCopy.finish(again, to: &forth, named: "a database")
            try expectSame(try PostgresLog.open(address, options: options), as: again)
        }

        private func expectPrefix(_ address: String, _ journal: Journal) throws {
            let reader = try PostgresLog.openReadOnly(address)
            #expect(reader.lastPosition > 0 && reader.lastPosition < journal.lastPosition)
            #expect(try journal.contains(reader.head))
            #expect(try stored(reader) == Array(stored(journal).prefix(Int(reader.lastPosition))))
        }

        @Test func copyOfAnotherHistoryIsRejected() throws {
            let directory = try TemporaryDirectory()
            let server = try PostgresServer.common()
            let address = server.newAddress()
            let journal = try journal(in: directory.path + "/a", seed: 1)
            try PostgresLog.open(address).close()
            expectError(.headMismatch) { _ = try PostgresCopy(address, of: journal) }
            let other = server.newAddress()
            var copy = try PostgresCopy(other, of: journal)
            try LogCopy.copyRecords(of: journal, to: &copy)
            // The same id, and another event at the position after the backup.
            try Journal.backup(directory.path + "/a", to: directory.path + "/b")
            try journal.appendSafely("in a")
            copy = try PostgresCopy(other, of: journal, options: .impatient(takesOver: true))
            try LogCopy.copyRecords(of: journal, to: &copy)
            let sibling = try Journal.open(directory.path + "/b")
            try sibling.appendSafely("in b", "and more")
            expectError(.headMismatch) {
                _ = try PostgresCopy(other, of: sibling, options: .impatient(takesOver: true))
            }
        }

        /// An interruption of the server at any moment of a copy.
        @Test func copyGoesOnAfterKillsOfTheServer() throws {
            let server = try PostgresServer.own()
            let directory = try TemporaryDirectory()
            let journal = try Journal.open(directory.path + "/journal")
            for commit in 0..<200 {
                try journal.append((0..<100).map { "\(commit).\($0) " + String(repeating: "x", count: 200) })
            }
            try journal.waitUntilDurable(journal.lastPosition)
            let address = server.newAddress()
            var copy = try PostgresCopy(address, of: journal)
            let kills = DispatchGroup()
            kills.enter()
            Thread.detachNewThread {
                defer { kills.leave() }
                for _ in 0..<2 {
                    Thread.sleep(forTimeInterval: 0.1)
                    server.kill()
                    do { try server.start() } catch { Issue.record(error) }
                }
            }
            try LogCopy.copyRecords(of: journal, to: &copy)
            try LogCopy.finish(journal, to: &copy, named: "there")
            // A copy waits for the server; the opening of a log does not.
            kills.wait()
            var options = PostgresOptions()
            options.lockTimeout = .seconds(30)
            let log = try PostgresLog.open(address, options: options)
            #expect(log.head == journal.head)
            #expect(try stored(log) == stored(journal))
            try log.close()
        }
    }
#endif
