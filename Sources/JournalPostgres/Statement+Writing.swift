#if Postgres
    // The statements of a writer. All but `barrier` change nothing if its epoch is not that of the
    // log.
    extension Statement {
        /// Changes the row of the log and inserts the records of one or more commits.
        ///
        /// One statement is one transaction and one answer. It inserts nothing if the writer was
        /// superseded or the log is not where the writer believes.
        ///
        /// Parameters: the log, the epoch, the position before the commits and the chain value
        /// after it, the last position and the chain value after it, the status; then, for each
        /// record, the records left, the chain value and the bytes. Stores the position before the
        /// commits as the announced one: the commits themselves are durable only with the answer.
        static let append = Statement(
            "append",
            """
            WITH moved AS (
              UPDATE chat_journal.log SET position = $5::bigint, chain = $6::bigint, acknowledged = $3::bigint
              WHERE number = $1::int AND epoch = $2::bigint AND position = $3::bigint AND chain = $4::bigint AND state = $7::text
              RETURNING number)
            INSERT INTO chat_journal.record (log, position, records_left, chain, record)
            SELECT moved.number, $3::bigint + r.n, r.records_left, r.chain, r.record
            FROM moved, unnest($8::int[], $9::bigint[], $10::bytea[]) WITH ORDINALITY AS r (records_left, chain, record, n)
            """)

        /// Announces the end of the log, and notifies readers, without a wait for the disk.
        ///
        /// A statement apart from the appends: from a notification to the end of its transaction,
        /// no other log of the server can notify. Parameters: the log, the epoch, the last position
        /// and the chain value after it, which must be those of the log.
        static let announce = Statement(
            "announce",
            """
            UPDATE chat_journal.log SET acknowledged = $3::bigint
            WHERE number = $1::int AND epoch = $2::bigint AND position = $3::bigint AND chain = $4::bigint
            RETURNING set_config('synchronous_commit', 'off', true), pg_notify('chat_journal_' || number, '')
            """)

        /// The state of a log, with everything that it shows durable.
        ///
        /// Columns: the last position, its chain value, the epoch, the status, the place to which
        /// the log has moved.
        static let confirm = Statement(
            "confirm",
            """
            SELECT position, chain, epoch, state, moved_to, pg_logical_emit_message(true, 'chat_journal', '')
            FROM chat_journal.log WHERE number = $1::int
            """)

        /// Makes everything durable that this connection can see.
        static let barrier = Statement(
            "barrier", "SELECT pg_logical_emit_message(true, 'chat_journal', '')")

        /// Ends a log for good: it has moved, and its writer is superseded.
        ///
        /// Parameters: the log, the epoch, the last position, the place to which it moves.
        static let fence = Statement(
            "fence",
            """
            UPDATE chat_journal.log SET state = 'moved', moved_to = $4::text, epoch = epoch + 1
            WHERE number = $1::int AND epoch = $2::bigint AND position = $3::bigint
            """)

        /// Changes the status of a log.
        ///
        /// Parameters: the log, the epoch, the status.
        static let setStatus = Statement(
            "setStatus",
            "UPDATE chat_journal.log SET state = $3::text, moved_to = NULL WHERE number = $1::int AND epoch = $2::bigint"
        )
    }
#endif
