#if Postgres
    // The statements of erasures and of their ledger.
    extension Statement {
        /// Replaces the records at the positions of an array.
        ///
        /// Parameters: the log, the epoch, the positions, the records.
        static let erase = Statement(
            "erase",
            """
            UPDATE chat_journal.record SET record = s.record
            FROM chat_journal.log l, unnest($3::bigint[], $4::bytea[]) AS s (position, record)
            WHERE l.number = $1::int AND l.epoch = $2::bigint AND record.log = l.number AND record.position = s.position
            """)

        /// The positions of the records without content, in order.
        ///
        /// Parameters: the log, the last position. The condition is that of the index.
        static let erasedRecords = Statement(
            "erasedRecords",
            """
            SELECT position FROM chat_journal.record
            WHERE log = $1::int AND position <= $2::bigint AND \(Schema.hasNoContent) ORDER BY position
            """)

        /// Counts the statistics that have samples of content, or may have: of the columns, and
        /// extended ones that somebody has made.
        static let contentSamples = Statement(
            "contentSamples",
            """
            SELECT (SELECT count(*) FROM pg_catalog.pg_stats WHERE schemaname = 'chat_journal'
                AND (tablename = 'record' AND attname = 'record' OR tablename = 'ledger' AND attname = 'bytes'))
              + (SELECT count(*) FROM pg_catalog.pg_statistic_ext
                WHERE stxrelid IN ('chat_journal.record'::regclass, 'chat_journal.ledger'::regclass))
            """)

        /// Stores up to which position all orders of erasure are carried out, with the hash of the
        /// ledger.
        static let setErasedThrough = Statement(
            "setErasedThrough",
            """
            UPDATE chat_journal.log SET erased_through = $3::bigint,
              erased_ledger = coalesce((SELECT md5(bytes) FROM chat_journal.ledger WHERE log = $1::int), '')
            WHERE number = $1::int AND epoch = $2::bigint
            """)

        /// The position up to which all orders of erasure are carried out; no row if the ledger has
        /// changed.
        static let erasedThrough = Statement(
            "erasedThrough",
            """
            SELECT l.erased_through FROM chat_journal.log l LEFT JOIN chat_journal.ledger e ON e.log = l.number
            WHERE l.number = $1::int AND l.erased_ledger = coalesce(md5(e.bytes), '')
            """)

        /// The ledger of erasures of a log.
        static let readLedger = Statement(
            "readLedger", "SELECT bytes FROM chat_journal.ledger WHERE log = $1::int")

        /// Replaces the ledger of erasures of a log.
        ///
        /// Parameters: the log, the epoch, the bytes.
        static let writeLedger = Statement(
            "writeLedger",
            """
            INSERT INTO chat_journal.ledger (log, bytes)
            SELECT number, $3::bytea FROM chat_journal.log WHERE number = $1::int AND epoch = $2::bigint
            ON CONFLICT (log) DO UPDATE SET bytes = excluded.bytes
            """)
    }
#endif
