#if Postgres
    import EventJournal
    import Foundation
    import JournalPostgres
    import Locking
    import Primitives
    import TestSupport
    import Testing

    /// A server that ends, starts again, or does not answer.
    @Suite(.needsPostgres) struct OutageTests {
        @Test func appendsSurviveKillsOfTheServer() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address, options: .impatient(answer: .seconds(5)))
            let safe = Lock<[String]>([])
            let isOver = Lock(false)
            let group = DispatchGroup()
            let appending = Lock(())
            for writer in 0..<4 {
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    var number = 0
                    while !isOver.withLock({ $0 }) {
                        number += 1
                        let text = "\(writer).\(number)"
                        do throws(JournalError) {
                            let positions = try appending.withLock { _ throws(JournalError) in
                                try log.append([text, text])
                            }
                            try log.waitUntilDurable(positions.upperBound)
                            safe.withLock { $0.append(text) }
                        } catch {
                            Issue.record(error)
                            return
                        }
                    }
                }
            }
            for round in 0..<Repetitions.few(2, of: 6) {
                Thread.sleep(forTimeInterval: 0.2)
                if round % 2 == 0 { server.kill() } else { server.stop() }
                let count = safe.withLock { $0.count }
                try server.start()
                // The log goes on by itself.
                while safe.withLock({ $0.count }) < count + 50 { Thread.sleep(forTimeInterval: 0.01) }
            }
            isOver.withLock { $0 = true }
            group.wait()
            try log.close()
            let texts = try PostgresLog.openReadOnly(address).texts().compactMap { $0 }
            let expected = Dictionary(texts.map { ($0, 1) }, uniquingKeysWith: +)
            #expect(expected.values.allSatisfy { $0 == 2 })
            let lost = safe.withLock { $0 }.filter { expected[$0] == nil }
            #expect(lost == [])
        }

        @Test func serverThatDoesNotAnswerIsLeft() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress(.tcp)
            let messages = Lock<[String]>([])
            var options = PostgresOptions.impatient(answer: .milliseconds(300))
            options.log = { message in messages.withLock { $0.append(message.text) } }
            let log = try PostgresLog.open(address, options: options)
            try log.appendSafely("a")
            server.pause()
            let positions = try log.append(["b"])
            while messages.withLock({ $0.isEmpty }) { Thread.sleep(forTimeInterval: 0.01) }
            #expect(log.durablePosition == 1)
            server.resume()
            try log.waitUntilDurable(positions.upperBound)
            try log.close()
            #expect(try PostgresLog.openReadOnly(address).texts() == ["a", "b"])
            #expect(messages.withLock { $0.count } == 2, "\(messages.withLock { $0 })")
        }

        @Test func outageBeyondTheLimitStopsTheLog() async throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address, options: .impatient(outage: .milliseconds(400)))
            try log.appendSafely("a")
            server.stop()
            let positions = try log.append(["b"])
            expectError(.unreachable) { try log.waitUntilDurable(positions.upperBound) }
            expectError(.unreachable) { try log.append(["c"]) }
            await #expect(throws: JournalError.self) { _ = try await log.waitForRecords(after: 2) }
            #expect(log.durablePosition == 1)
            try server.start()
            // Reads go on, and a new opening finds what is safe.
            #expect(try log.texts(in: 1...1) == ["a"])
            expectError(.unreachable) { try log.close() }
            let again = try PostgresLog.open(address)
            #expect(try again.texts() == ["a"])
            try again.close()
        }

        /// The last attempt ends with the outage, although the server takes the connection and says
        /// nothing, for which libpq would wait for an hour.
        @Test(.timeLimit(.minutes(2)), arguments: [true, false])
        func attemptEndsWithTheOutage(writes: Bool) throws {
            let server = try PostgresServer.own()
            let address = server.newAddress(.tcp).replacing("/postgres#", with: "/postgres?connect_timeout=3600#")
            let writer = try PostgresLog.open(
                address, options: .impatient(outage: .seconds(2), answer: .milliseconds(300)))
            try writer.appendSafely("a")
            let reader = try PostgresLog.openReadOnly(
                address, options: .impatient(outage: .seconds(2), answer: .milliseconds(300)))
            server.pause()
            defer { server.resume() }
            if writes {
                let positions = try writer.append(["b"])
                expectError(.unreachable) { try writer.waitUntilDurable(positions.upperBound) }
            } else {
                expectError(.unreachable) { _ = try reader.texts() }
                expectError(.unreachable) { try reader.refresh() }
            }
        }

        /// The log says since when a caller waits, while the call goes on.
        @Test func contactTellsOfWaits() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress(.tcp)
            let log = try PostgresLog.open(address, options: .impatient(answer: .milliseconds(300)))
            try log.appendSafely("a")
            let reader = try PostgresLog.openReadOnly(address, options: .impatient(answer: .milliseconds(300)))
            #expect(log.contact.waitingSince == nil && reader.contact.waitingSince == nil)
            let (answered, start) = (log.contact.answeredAt, ContinuousClock.now)
            server.pause()
            let positions = try log.append(["b"])
            let group = DispatchGroup()
            group.enter()
            Thread.detachNewThread {
                do { try reader.refresh() } catch { Issue.record(error) }
                group.leave()
            }
            // Until attempts have failed: a new attempt is no new wait.
            Thread.sleep(forTimeInterval: 1)
            let writing = try #require(log.contact.waitingSince)
            let reading = try #require(reader.contact.waitingSince)
            #expect(writing >= start && writing <= start + .milliseconds(900))
            #expect(reading >= start && reading <= start + .milliseconds(900))
            #expect(log.contact.answeredAt <= start && answered <= start)
            server.resume()
            try log.waitUntilDurable(positions.upperBound)
            group.wait()
            #expect(log.contact.waitingSince == nil && reader.contact.waitingSince == nil)
            #expect(log.contact.answeredAt > start && reader.contact.answeredAt > start)
            try reader.close()
            try log.close()
        }

        @Test func readsWaitForAServerThatStartsAgain() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            // Long texts: the rest of a page must not be on its way already when the server ends.
            let filling = String(repeating: "x", count: 2_000)
            for part in 0..<10 { try log.append((0..<1_000).map { "\(part).\($0) \(filling)" }) }
            try log.close()
            let reader = try PostgresLog.openReadOnly(address)
            var (count, isStopped) = (0, false)
            try reader.forEachRecord(in: 1...10_000) { position, _, _, _ in
                #expect(position == Position(count) + 1)
                count += 1
                if !isStopped, position == 3_000 {
                    isStopped = true
                    server.kill()
                    Thread.detachNewThread { do { try server.start() } catch { Issue.record(error) } }
                }
                return true
            }
            #expect(count == 10_000)
        }

        /// PostgreSQL confirms a commit whose wait for a standby was cancelled, with a warning
        /// only.
        @Test func commitWithoutItsStandbyIsNotConfirmed() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address, options: .impatient(answer: .seconds(30)))
            try log.appendSafely("a")
            try server.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            try server.execute("SELECT pg_reload_conf()")
            while try server.execute("SHOW synchronous_standby_names") != "nobody" {
                Thread.sleep(forTimeInterval: 0.01)
            }
            // The setting reaches the other processes soon after.
            Thread.sleep(forTimeInterval: 0.3)
            let positions = try log.append(["b"])
            let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            while try server.execute(waits) == "0" { Thread.sleep(forTimeInterval: 0.01) }
            let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            #expect(try server.execute(cancel) == "1")
            // The log asks again, and its question waits for the standby as well.
            while try server.execute(waits) == "0" { Thread.sleep(forTimeInterval: 0.01) }
            #expect(log.durablePosition == 1)
            #expect(try server.execute("SELECT count(*) FROM chat_journal.record") == "2")
            // Nor is it shown, whatever a reader's settings are.
            let weak = address.replacing("?host=", with: "?options=-c%20synchronous_commit%3Doff&host=")
            let reader = try PostgresLog.openReadOnly(weak, options: .impatient())
            #expect(try reader.texts() == ["a"])
            try reader.close()
            try server.execute("ALTER SYSTEM RESET synchronous_standby_names")
            try server.execute("SELECT pg_reload_conf()")
            try log.waitUntilDurable(positions.upperBound)
            #expect(try log.texts() == ["a", "b"])
            try log.close()
        }

        /// The end of the log needs a commit, which no standby confirms; reads need none.
        @Test func readsGoOnWithoutStandbys() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a")
            try log.appendSafely("b")
            try log.close()
            try server.execute("UPDATE chat_journal.log SET acknowledged = 1")
            try server.setStandby("absent")
            // No time for a second attempt: the first one ends with the outage.
            let reader = try PostgresLog.openReadOnly(
                address, options: .impatient(outage: .seconds(2), answer: .seconds(3)))
            for _ in 0..<3 {
                #expect(try reader.refresh() == 1)
                #expect(try reader.texts() == ["a"])
            }
            try reader.close()
        }

        /// After a failure of every server, a standby can begin with a state of before the log.
        @Test(arguments: [
            "DELETE FROM chat_journal.record; DELETE FROM chat_journal.log", "DROP SCHEMA chat_journal CASCADE",
        ])
        func standbyOfBeforeTheLogIsAnOutage(earlier: String) throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a")
            try log.close()
            let reader = try PostgresLog.openReadOnly(
                address, options: .impatient(outage: .milliseconds(500), answer: .seconds(30)))
            try server.execute(earlier)
            try server.becomeStandby()
            expectError(.unreachable) { _ = try reader.refresh() }
            expectError(.unreachable) { _ = try reader.texts() }
            expectError(.unreachable) { _ = try PostgresLog.openReadOnly(address, options: .impatient()) }
            // Here the log is really gone.
            try server.execute("SELECT pg_promote()")
            while try server.execute("SELECT pg_is_in_recovery()") == "t" { Thread.sleep(forTimeInterval: 0.01) }
            expectError(.notFound) { _ = try reader.refresh() }
            expectError(.notFound) { _ = try PostgresLog.openReadOnly(address, options: .impatient()) }
            try reader.close()
        }

        /// A leader that was frozen, and replaced meanwhile, still answers until it learns of that.
        @Test(arguments: [false, true]) func replacedLeaderIsAnOutage(hasOtherRecords: Bool) throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            var log = try PostgresLog.open(address)
            try log.appendSafely("a")
            try log.close()
            if hasOtherRecords {
                // What the other leader, and so the reader, does not have.
                try server.save()
                log = try PostgresLog.open(address)
                try log.appendSafely("b")
                try log.close()
                try server.swapSaved()
            } else {
                try server.save()
            }
            log = try PostgresLog.open(address)
            try log.appendSafely("c")
            try log.appendSafely("d")
            try log.close()
            let reader = try PostgresLog.openReadOnly(
                address, options: .impatient(outage: .seconds(1), answer: .milliseconds(300)))
            #expect(try reader.texts() == ["a", "c", "d"])
            try server.restore()
            expectError(.unreachable) { _ = try reader.refresh() }
            expectError(.unreachable) { _ = try reader.texts() }
            expectError(.unreachable) { _ = try reader.head(at: 2) }
            // A server that confirms a commit is the leader: the log has really been set back.
            try server.setStandby("")
            expectError(.damaged) { _ = try reader.texts() }
            expectError(.damaged) { _ = try reader.head(at: 2) }
            expectError(.damaged) { _ = try reader.refresh() }
            try reader.close()
        }

        @Test func slowConsumerReadsEverything() throws {
            let address = try PostgresServer.common().newAddress()
            let log = try PostgresLog.open(address)
            try log.append((0..<400).map { "\($0) " + String(repeating: "x", count: 20_000) })
            try log.waitUntilDurable(400)
            let reader = try PostgresLog.openReadOnly(
                address, options: .impatient(outage: .seconds(1), answer: .milliseconds(200)))
            var count: Position = 0
            try reader.forEachRecord(in: 1...400) { position, _, _, _ in
                count += 1
                if position % 100 == 1 { Thread.sleep(forTimeInterval: 0.5) }
                return position == count
            }
            #expect(count == 400)
            try reader.close()
            try log.close()
        }

        @Test func recordOfAnotherPlaceIsDamage() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.append((1...9).map { "\($0)" })
            try log.close()
            try server.execute(
                "UPDATE chat_journal.record SET record = (SELECT record FROM chat_journal.record WHERE position = 7) WHERE position = 5"
            )
            let reader = try PostgresLog.openReadOnly(address)
            var last: Position = 0
            let error = #expect(throws: JournalError.self) {
                try reader.forEachRecord(in: 1...9) { position, _, _, _ in
                    last = position
                    return true
                }
            }
            #expect(error?.code == .damaged && error?.positions == 5...5 && last == 4)
            expectError(.damaged) { try reader.forEachCommittedRecord(in: 1...9) { _, _, _, _, _ in true } }
        }

        @Test func readerNoticesALogThatWasSetBack() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a", "b")
            let earlier = log.head
            try log.appendSafely("c")
            try log.close()
            let reader = try PostgresLog.openReadOnly(address)
            #expect(reader.lastPosition == 3)
            try server.execute(
                "DELETE FROM chat_journal.record WHERE position > 2; UPDATE chat_journal.log SET position = 2, acknowledged = 2, chain = "
                    + "\(Int64(bitPattern: earlier.chain))")
            expectError(.damaged) { try reader.refresh() }
            let other = try PostgresLog.open(address)
            try other.appendSafely("x", "y")
            expectError(.damaged) { try reader.refresh() }
            try other.close()
        }

        /// The server's own checksums find a changed bit that it reads from the disk.
        @Test func changedBitInAFileOfTheServerIsAnError() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.append((0..<2_000).map { "text \($0)" })
            try log.close()
            let file =
                try server.dataDirectory + "/" + server.execute("SELECT pg_relation_filepath('chat_journal.record')")
            server.stop()
            var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            let offset = try #require(bytes.firstRange(of: Data("text 700".utf8))).lowerBound
            bytes[offset] ^= 1
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
            try handle.write(contentsOf: bytes)
            try handle.close()
            try server.start()
            let reader = try PostgresLog.openReadOnly(address)
            var last: Position = 0
            let error = #expect(throws: JournalError.self) {
                try reader.forEachRecord(in: 1...2_000) { position, _, _, erasable in
                    #expect(String(decoding: erasable.toArray(), as: UTF8.self) == "text \(position - 1)")
                    last = position
                    return true
                }
            }
            #expect(error?.code == .damaged)
            #expect(last < 701)
        }
    }
#endif
