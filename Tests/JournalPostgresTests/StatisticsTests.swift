#if Postgres
    import EventJournal
    import JournalPostgres
    import Locking
    import Primitives
    import TestSupport
    import Testing

    /// The statistics of the planner are samples of rows: they must have no content, which an erasure
    /// would not reach.
    @Suite(.needsPostgres) struct StatisticsTests {
        private static let samples = """
            SELECT coalesce(string_agg(encode(v, 'escape'), ' '), '') FROM pg_stats,
              unnest(histogram_bounds::text::bytea[] || most_common_vals::text::bytea[]) v
            WHERE schemaname = 'chat_journal'
              AND (tablename = 'record' AND attname = 'record' OR tablename = 'ledger' AND attname = 'bytes')
            """
        private static let analyze = "ANALYZE chat_journal.record; ANALYZE chat_journal.ledger"

        private func logWithWords(_ address: String, options: PostgresOptions = PostgresOptions()) throws -> PostgresLog
        {
            let log = try PostgresLog.open(address, options: options)
            // The first 40 characters are in the part that is kept.
            let start = String(repeating: "-", count: 40)
            try log.appendSafely(start + "secret one", start + "secret two", start + "secret three")
            try log.writeLedger(Array("a ledger".utf8))
            return log
        }

        @Test func analyzeTakesNoSamplesOfContent() throws {
            let server = try PostgresServer.own()
            let log = try logWithWords(server.newAddress())
            try server.execute(Self.analyze)
            #expect(try server.execute(Self.samples) == "")
            #expect(
                try server.execute(
                    "SELECT count(*) > 0 FROM pg_stats WHERE schemaname = 'chat_journal' AND tablename = 'record'")
                    == "t")
            try log.close()
        }

        /// Only a change of the type removes samples that exist.
        @Test func openingRemovesTheSamplesOfAnEarlierVersion() throws {
            let server = try PostgresServer.own()
            let address = server.newAddress()
            try logWithWords(address).close()
            try server.execute(
                """
                ALTER TABLE chat_journal.record ALTER COLUMN record SET STATISTICS -1;
                ALTER TABLE chat_journal.ledger ALTER COLUMN bytes SET STATISTICS -1;
                UPDATE chat_journal.format SET version = 2; \(Self.analyze)
                """)
            #expect(try server.execute(Self.samples).contains("secret"))
            let log = try PostgresLog.open(address)
            #expect(try server.execute(Self.samples) == "")
            try server.execute(Self.analyze)
            #expect(try server.execute(Self.samples) == "")
            #expect(try log.texts().map { $0?.suffix(12) } == ["--secret one", "--secret two", "secret three"])
            #expect(
                try server.execute(
                    "SELECT attstorage FROM pg_attribute WHERE attrelid = 'chat_journal.record'::regclass AND attname = 'record'"
                )
                    == "e")
            try log.appendSafely("more")
            try log.close()
        }

        /// Somebody can ask for statistics all the same: an erasure renews them, and says so.
        @Test func erasureRenewsSamplesAndWarns() throws {
            let server = try PostgresServer.own()
            let messages = Lock<[String]>([])
            var options = PostgresOptions()
            options.log = { message in messages.withLock { $0.append(message.text) } }
            let log = try logWithWords(server.newAddress(), options: options)
            try log.eraseContent(of: PositionSet([1...1]), orderedThrough: 1)
            #expect(messages.withLock { $0 } == [])
            try server.execute(
                "ALTER TABLE chat_journal.record ALTER COLUMN record SET STATISTICS 100; \(Self.analyze)")
            #expect(try server.execute(Self.samples).contains("secret two"))
            try log.eraseContent(of: PositionSet([2...2]), orderedThrough: 2)
            let left = try server.execute(Self.samples)
            #expect(!left.contains("secret two") && left.contains("secret three"))
            #expect(messages.withLock { $0.count == 1 && $0[0].contains("samples") })
            try log.close()
        }

        /// A slow statement or an error can be logged with its parameters, which are records.
        @Test func errorsAreLoggedWithoutParameters() throws {
            let server = try PostgresServer.own(["log_parameter_max_length_on_error": "-1"])
            let log = try logWithWords(server.newAddress())
            try server.execute("ALTER TABLE chat_journal.record ADD CHECK (position < 4)")
            let positions = try log.append([String(repeating: "-", count: 40) + "words of an error"])
            #expect(throws: JournalError.self) { try log.waitUntilDurable(positions.upperBound) }
            #expect(server.log().contains("violates check constraint"))
            let words = Array("words of an error".utf8).map { String($0, radix: 16) }.joined()
            #expect(!server.log().contains(words) && !server.log().contains("with parameters"))
            try? log.close()
        }
    }
#endif
