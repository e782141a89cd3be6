#if Postgres
    import EventJournal
    import Foundation
    import JournalPostgres
    import TestSupport
    import Testing

    @Suite(.needsPostgres) struct PostgresFollowingTests {
        @Test func readersInOtherProcessesFollow() async throws {
            let address = try PostgresServer.common().newAddress()
            let log = try PostgresLog.open(address)
            let readers = try (0..<3).map { _ in try PostgresLog.openReadOnly(address) }
            let count: Position = 300
            try await withThrowingTaskGroup(of: Void.self) { group in
                for reader in readers {
                    group.addTask {
                        var next: Position = 1
                        while next <= count {
                            let end = try await reader.waitForRecords(after: next - 1)
                            #expect(end >= next)
                            #expect(try reader.texts(in: next...end) == (next...end).map { "\($0)" })
                            next = end + 1
                        }
                    }
                }
                for position in 1...count {
                    try log.append(["\(position)"])
                    if position % 7 == 0 { try await Task.sleep(for: .milliseconds(3)) }
                }
                try await group.waitForAll()
            }
            for reader in readers {
                #expect(reader.head == log.head)
                try reader.close()
            }
            try log.close()
        }

        @Test func followerOfAPausedServerGoesOn() async throws {
            let server = try PostgresServer.own()
            let address = server.newAddress(.tcp)
            let log = try PostgresLog.open(address, options: .impatient())
            let reader = try PostgresLog.openReadOnly(address, options: .impatient())
            let waiting = Task { try await reader.waitForRecords(after: 0) }
            try await Task.sleep(for: .milliseconds(50))
            server.pause()
            try log.append(["a"])
            try await Task.sleep(for: .milliseconds(700))
            #expect(reader.lastPosition == 0)
            server.resume()
            #expect(try await waiting.value == 1)
            try reader.close()
            try log.close()
        }

        @Test func removedLogEndsItsFollowers() async throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            let log = try PostgresLog.open(address)
            try log.appendSafely("a")
            try log.close()
            let reader = try PostgresLog.openReadOnly(address)
            let waiting = Task { try await reader.waitForRecords(after: 1) }
            try await Task.sleep(for: .milliseconds(50))
            try server.execute("DROP SCHEMA chat_journal CASCADE")
            await #expect(throws: JournalError.self) { try await waiting.value }
        }
    }
#endif
