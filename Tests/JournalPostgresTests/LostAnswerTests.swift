#if Postgres
    import ChatTesting
    import EventJournal
    import Foundation
    import JournalPostgres
    import TestSupport
    import Testing

    /// A connection that is lost at any byte of a request or an answer.
    @Suite(.needsPostgres) struct LostAnswerTests {
        @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 8)))
        func everyCommitIsThereOnceAfterCuts(seed: UInt64) throws {
            let server = try PostgresServer.common()
            let direct = server.newAddress(.tcp)
            let uri = try #require(URLComponents(string: direct))
            let proxy = try Proxy(to: try #require(uri.port))
            var cut = uri
            cut.port = proxy.port
            let log = try PostgresLog.open(try #require(cut.string), options: .impatient(answer: .seconds(5)))
            var random = SeededRandom(seed: seed)
            var expected: [String] = []
            for round in 0..<60 {
                var texts: [[String]] = []
                for commit in 0..<Int.random(in: 1...4, using: &random) {
                    texts.append((0..<Int.random(in: 1...3, using: &random)).map { "\(round).\(commit).\($0)" })
                }
                if random.oneIn(2) {
                    proxy.cut(
                        random.oneIn(2)
                            ? .request(Int.random(in: 0...900, using: &random))
                            : .answer(Int.random(in: 0...120, using: &random)))
                }
                for commit in texts { try log.append(commit) }
                expected += texts.joined()
                if random.oneIn(3) { try log.waitUntilDurable(log.lastPosition) }
                #expect(try log.texts().compactMap { $0 } == expected)
            }
            try log.waitUntilDurable(log.lastPosition)
            let head = log.head
            try log.close()
            let reader = try PostgresLog.openReadOnly(direct)
            #expect(try reader.texts().compactMap { $0 } == expected)
            #expect(reader.head == head)
            #expect(proxy.cutCount > 5)
        }
    }
#endif
