#if Postgres
    /// The statements that a log prepares on its connections, with the types of their parameters in
    /// the text.
    enum Statement: String, Hashable {
        /// Changes the row of the log and inserts the records of one or more commits.
        ///
        /// One statement is one transaction and one answer. It inserts nothing if the writer was
        /// superseded or the log is not where the writer believes.
        case append
        /// Announces the acknowledged position, without a wait for the disk.
        case acknowledge
        /// Announces the acknowledged position if the writer is still the one, and returns the state
        /// of the log.
        case confirm
        /// Makes everything that this connection can see as safe as a commit.
        case barrier
        case hasSchema, schemaVersion
        case giveUpLock
        case findLog, createLog, beginWriting, epoch, tryLock, endOtherWriters
        case range, commits, list, chains, commitEnd, readable
        case erase, erasedThrough, setErasedThrough, readLedger, writeLedger, fence, setStatus

        var name: String { rawValue }

        /// Whether a warning means that the statement's commit is not safe: all but the one that ends
        /// other connections, which warns of one that has just ended by itself.
        var mustNotWarn: Bool { self != .endOtherWriters }

        var sql: String {
            switch self {
            case .append:
                """
                WITH moved AS (
                  UPDATE chat_journal.log SET position = $4::bigint, chain = $5::bigint, acknowledged = $6::bigint
                  WHERE number = $1::int AND epoch = $2::bigint AND position = $3::bigint AND state = $7::text
                  RETURNING number, pg_notify('chat_journal_' || number, ''))
                INSERT INTO chat_journal.record (log, position, records_left, chain, record)
                SELECT moved.number, $3::bigint + r.n, r.records_left, r.chain, r.record
                FROM moved, unnest($8::int[], $9::bigint[], $10::bytea[]) WITH ORDINALITY AS r (records_left, chain, record, n)
                """
            case .acknowledge:
                """
                UPDATE chat_journal.log SET acknowledged = $3::bigint WHERE number = $1::int AND epoch = $2::bigint
                RETURNING set_config('synchronous_commit', 'off', true), pg_notify('chat_journal_' || number, '')
                """
            case .confirm:
                """
                UPDATE chat_journal.log SET acknowledged = $3::bigint WHERE number = $1::int AND epoch = $2::bigint
                RETURNING position, chain, state
                """
            case .barrier: "SELECT pg_logical_emit_message(true, 'chat_journal', '')"
            case .hasSchema:
                // Not `to_regclass`, which may know of no table that another transaction has just made.
                "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'chat_journal' AND tablename = 'format'"
            case .schemaVersion: "SELECT version FROM chat_journal.format"
            case .findLog: "SELECT number, id, state, moved_to FROM chat_journal.log WHERE name = $1::text"
            case .createLog:
                """
                INSERT INTO chat_journal.log (name, id, chain, state, erased_through, erased_ledger)
                VALUES ($1::text, $2::bytea, $3::bigint, $4::text, CASE WHEN $4::text = 'open' THEN 0 END, '')
                ON CONFLICT (name) DO NOTHING
                """
            case .beginWriting:
                """
                UPDATE chat_journal.log SET epoch = epoch + 1 WHERE number = $1::int AND state = $2::text
                RETURNING position, chain, epoch
                """
            case .epoch: "SELECT epoch FROM chat_journal.log WHERE number = $1::int"
            case .tryLock: "SELECT pg_try_advisory_lock(1128942671, $1::int)::int"
            case .giveUpLock: "SELECT pg_advisory_unlock(1128942671, $1::int)::int"
            case .endOtherWriters:
                """
                SELECT pg_terminate_backend(pid)::int FROM pg_locks
                WHERE locktype = 'advisory' AND classid = 1128942671 AND objid = $1::int AND objsubid = 2 AND granted
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
                """
            case .range:
                """
                SELECT position, records_left, chain, record FROM chat_journal.record
                WHERE log = $1::int AND position >= $2::bigint AND position <= $3::bigint ORDER BY position
                """
            case .commits:
                """
                SELECT r.position, r.records_left, e.chain, r.record FROM chat_journal.record r
                JOIN chat_journal.record e ON e.log = r.log AND e.position = r.position + r.records_left - 1
                WHERE r.log = $1::int AND r.position >= $2::bigint AND r.position <= $3::bigint ORDER BY r.position
                """
            case .list:
                """
                SELECT position, records_left, chain, record FROM chat_journal.record
                WHERE log = $1::int AND position = ANY ($2::bigint[]) ORDER BY position
                """
            case .chains: "SELECT position, chain FROM chat_journal.record WHERE log = $1::int AND position = ANY ($2::bigint[])"
            case .commitEnd:
                """
                SELECT e.position, e.chain FROM chat_journal.record r
                JOIN chat_journal.record e ON e.log = r.log AND e.position = r.position + r.records_left - 1
                WHERE r.log = $1::int AND r.position = $2::bigint
                """
            case .readable:
                """
                SELECT l.id, l.acknowledged, r.chain, l.position, l.chain, o.chain FROM chat_journal.log l
                LEFT JOIN chat_journal.record o ON o.log = l.number AND o.position = $2::bigint
                LEFT JOIN chat_journal.record r ON r.log = l.number AND r.position = l.acknowledged WHERE l.number = $1::int
                """
            case .erase:
                """
                UPDATE chat_journal.record SET record = s.record
                FROM chat_journal.log l, unnest($3::bigint[], $4::bytea[]) AS s (position, record)
                WHERE l.number = $1::int AND l.epoch = $2::bigint AND record.log = l.number AND record.position = s.position
                """
            case .setErasedThrough:
                """
                UPDATE chat_journal.log SET erased_through = $3::bigint,
                  erased_ledger = coalesce((SELECT md5(bytes) FROM chat_journal.ledger WHERE log = $1::int), '')
                WHERE number = $1::int AND epoch = $2::bigint
                """
            case .erasedThrough:
                """
                SELECT l.erased_through FROM chat_journal.log l LEFT JOIN chat_journal.ledger e ON e.log = l.number
                WHERE l.number = $1::int AND l.erased_ledger = coalesce(md5(e.bytes), '')
                """
            case .fence:
                """
                UPDATE chat_journal.log SET state = 'moved', moved_to = $4::text, epoch = epoch + 1
                WHERE number = $1::int AND epoch = $2::bigint AND position = $3::bigint
                """
            case .setStatus:
                "UPDATE chat_journal.log SET state = $3::text, moved_to = NULL WHERE number = $1::int AND epoch = $2::bigint"
            case .readLedger: "SELECT bytes FROM chat_journal.ledger WHERE log = $1::int"
            case .writeLedger:
                """
                INSERT INTO chat_journal.ledger (log, bytes)
                SELECT number, $3::bytea FROM chat_journal.log WHERE number = $1::int AND epoch = $2::bigint
                ON CONFLICT (log) DO UPDATE SET bytes = excluded.bytes
                """
            }
        }
    }
#endif
