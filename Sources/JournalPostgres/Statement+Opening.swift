#if Postgres
    // The statements of an opening.
    extension Statement {
        /// Counts the table with the version of the schema: one or none.
        ///
        /// Not `to_regclass`, which may know of no table that another transaction has just made.
        static let hasSchema = Statement(
            "hasSchema",
            "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'chat_journal' AND tablename = 'format'")

        /// The version of the schema.
        static let schemaVersion = Statement(
            "schemaVersion", "SELECT version FROM chat_journal.format")

        /// The row of a log by its name: the key, the id, the status, the place to which it has
        /// moved.
        static let findLog = Statement(
            "findLog", "SELECT number, id, state, moved_to FROM chat_journal.log WHERE name = $1::text")

        /// Inserts the row of a log, unless the name exists.
        ///
        /// Parameters: the name, the id, the chain value before the first record, the status.
        static let createLog = Statement(
            "createLog",
            """
            INSERT INTO chat_journal.log (name, id, chain, state, erased_through, erased_ledger)
            VALUES ($1::text, $2::bytea, $3::bigint, $4::text, CASE WHEN $4::text = 'open' THEN 0 END, '')
            ON CONFLICT (name) DO NOTHING
            """)

        /// The end of a log.
        ///
        /// Columns: the last position and its chain value, the chain value of the record there.
        static let end = Statement(
            "end",
            """
            SELECT l.position, l.chain, r.chain FROM chat_journal.log l
            LEFT JOIN chat_journal.record r ON r.log = l.number AND r.position = l.position AND r.records_left = 1
            WHERE l.number = $1::int
            """)

        /// Raises the epoch of a log with a status.
        ///
        /// Parameters: the log, the status. Columns: the last position, its chain value, the new
        /// epoch.
        static let beginWriting = Statement(
            "beginWriting",
            """
            UPDATE chat_journal.log SET epoch = epoch + 1 WHERE number = $1::int AND state = $2::text
            RETURNING position, chain, epoch
            """)

        /// The epoch of a log.
        static let epoch = Statement(
            "epoch", "SELECT epoch FROM chat_journal.log WHERE number = $1::int")

        /// Takes the lock of the writer of a log: 1, or 0 if another connection has it.
        static let tryLock = Statement(
            "tryLock", "SELECT pg_try_advisory_lock(\(Schema.lockClass), $1::int)::int")

        /// Gives up the lock of the writer of a log.
        static let giveUpLock = Statement(
            "giveUpLock", "SELECT pg_advisory_unlock(\(Schema.lockClass), $1::int)::int")

        /// Ends the other connections that have the lock of the writer of a log.
        ///
        /// The server warns of a connection that has just ended by itself.
        static let endOtherWriters = Statement(
            "endOtherWriters",
            """
            SELECT pg_terminate_backend(pid)::int FROM pg_locks
            WHERE locktype = 'advisory' AND classid = \(Schema.lockClass) AND objid = $1::int AND objsubid = 2 AND granted
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
            """, mayWarn: true)
    }
#endif
