#if Postgres
    // The statements of a writer. All but `barrier` change nothing if its epoch is not that of the
    // log.
    extension Statement {
        /// Changes the row of the log and inserts the records of one or more commits.
        ///
        /// One statement is one transaction and one answer. It inserts nothing if the writer was
        /// superseded or the log is not where the writer believes.
        ///
        /// Parameters: the log, the epoch, the position before the commits, the last position and
        /// the chain value after it, the position to announce, the status; then, for each record,
        /// the records left, the chain value and the bytes. The position to announce is the one
        /// before the commits: the commits themselves are durable only with the answer.
        static let append = Statement(
            "append",
            """
            WITH moved AS (
              UPDATE chat_journal.log SET position = $4::bigint, chain = $5::bigint, acknowledged = $6::bigint
              WHERE number = $1::int AND epoch = $2::bigint AND position = $3::bigint AND state = $7::text
              RETURNING number, pg_notify('chat_journal_' || number, ''))
            INSERT INTO chat_journal.record (log, position, records_left, chain, record)
            SELECT moved.number, $3::bigint + r.n, r.records_left, r.chain, r.record
            FROM moved, unnest($8::int[], $9::bigint[], $10::bytea[]) WITH ORDINALITY AS r (records_left, chain, record, n)
            """)

        /// Announces a position, without a wait for the disk.
        ///
        /// Parameters: the log, the epoch, the position.
        static let announce = Statement(
            "announce",
            """
            UPDATE chat_journal.log SET acknowledged = $3::bigint WHERE number = $1::int AND epoch = $2::bigint
            RETURNING set_config('synchronous_commit', 'off', true), pg_notify('chat_journal_' || number, '')
            """)

        /// Announces a position if the writer is not superseded, and waits until everything before
        /// is durable.
        ///
        /// Parameters: the log, the epoch, the position. Columns: the last position, its chain
        /// value, the status.
        static let announceAndConfirm = Statement(
            "announceAndConfirm",
            """
            UPDATE chat_journal.log SET acknowledged = $3::bigint WHERE number = $1::int AND epoch = $2::bigint
            RETURNING position, chain, state
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
            "setStatus", "UPDATE chat_journal.log SET state = $3::text, moved_to = NULL WHERE number = $1::int AND epoch = $2::bigint")
    }
#endif
