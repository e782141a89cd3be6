#if Postgres
    import EventJournal

    /// The tables of the logs, made and migrated by the library.
    ///
    /// `record.record` is a record in its stored form, as the files of a journal have it
    /// (Format.md), so that checksums, chain values and the tree of a log do not depend on where it
    /// is.
    enum Schema {
        /// Element *n* migrates version *n* to *n* + 1; version 0 is no schema.
        ///
        /// A version that was released is never changed.
        ///
        /// The row of a log changes with each commit. With `fillfactor = 10`, its page has space
        /// for the next versions of the row, so that no index changes and each read can remove the
        /// old ones (a HOT update); the threshold lets autovacuum come even if the table has one
        /// row.
        static let migrations = [
            """
            CREATE TABLE chat_journal.log (
              number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
              name text NOT NULL UNIQUE,
              id bytea NOT NULL CHECK (octet_length(id) = 16),
              -- The last record and the chain value after it.
              position bigint NOT NULL DEFAULT 0,
              chain bigint NOT NULL,
              -- The announced position: its commit was confirmed to the writer. A standby, and a server
              -- after a crash, may show later ones that are not durable.
              acknowledged bigint NOT NULL DEFAULT 0,
              -- Counts the writers. Each append compares it.
              epoch bigint NOT NULL DEFAULT 0,
              state text NOT NULL CHECK (state IN ('open', 'copy', 'moved')),
              moved_to text,
              -- Orders of erasure up to here are carried out, while the ledger has this hash.
              erased_through bigint,
              erased_ledger text
            ) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
            CREATE TABLE chat_journal.ledger (
              log int PRIMARY KEY REFERENCES chat_journal.log,
              bytes bytea NOT NULL
            );
            CREATE TABLE chat_journal.record (
              log int NOT NULL,
              records_left int NOT NULL,
              position bigint NOT NULL,
              chain bigint NOT NULL,
              record bytea NOT NULL,
              PRIMARY KEY (log, position)
            );
            -- Salt does not compress.
            ALTER TABLE chat_journal.record ALTER COLUMN record SET STORAGE EXTERNAL;
            """,
            """
            CREATE INDEX record_erased ON chat_journal.record (log, position) WHERE \(hasNoContent);
            """,
            // The statistics of the planner are samples of rows, which no erasure reaches. Only a change
            // of the type removes samples that exist. The type stays the same, so that no row is
            // written again; the index is.
            """
            ALTER TABLE chat_journal.record ALTER COLUMN record SET STATISTICS 0;
            ALTER TABLE chat_journal.ledger ALTER COLUMN bytes SET STATISTICS 0;
            DO $$ BEGIN
              IF EXISTS (SELECT FROM pg_catalog.pg_stats
                  WHERE schemaname = 'chat_journal' AND tablename = 'record' AND attname = 'record') THEN
                ALTER TABLE chat_journal.record ALTER COLUMN record TYPE bytea;
                ALTER TABLE chat_journal.record ALTER COLUMN record SET STORAGE EXTERNAL;
              END IF;
              IF EXISTS (SELECT FROM pg_catalog.pg_stats
                  WHERE schemaname = 'chat_journal' AND tablename = 'ledger' AND attname = 'bytes') THEN
                ALTER TABLE chat_journal.ledger ALTER COLUMN bytes TYPE bytea;
              END IF;
            END $$;
            """,
        ]

        /// The condition of an index, and of the statement that uses it: the lowest bits of the
        /// number after the length of the kept part are 0 for a whole record.
        static let hasNoContent: String = {
            let head = "(substring(record FROM 1 FOR 8) || '\\x0000000000000000'::bytea)"
            return "get_byte(\(head), CASE WHEN get_byte(\(head), 4) < 128 THEN 5 "
                + "WHEN get_byte(\(head), 5) < 128 THEN 6 ELSE 7 END) & 3 <> 0"
        }()

        /// An index of a large table takes minutes.
        private static let migrationTimeout = Duration.seconds(3_600)

        /// The class of the advisory locks.
        ///
        /// The object is the key of a log, or 0 for the schema.
        static let lockClass: Int32 = 0x434A_4C4F

        /// Creates the schema, or brings it to the present version.
        static func prepare(_ connection: DatabaseConnection) throws(DatabaseError) {
            // The lock ends with the transaction. Another process may have migrated meanwhile.
            try connection.run("BEGIN; SELECT pg_advisory_xact_lock(\(lockClass), 0)")
            do throws(DatabaseError) {
                let present = try version(connection)
                var script = ""
                if present == 0 {
                    script =
                        "CREATE SCHEMA IF NOT EXISTS chat_journal; CREATE TABLE chat_journal.format (version int NOT NULL);"
                        + "INSERT INTO chat_journal.format VALUES (0);"
                }
                for migration in migrations.dropFirst(present) { script += migration }
                if present < migrations.count {
                    script += "UPDATE chat_journal.format SET version = \(migrations.count);"
                }
                try connection.run(script + "COMMIT", timeout: migrationTimeout)
            } catch {
                // The first error is the one to report.
                _ = try? connection.run("ROLLBACK")
                throw error
            }
        }

        /// Returns the version of the schema; 0 if there is none.
        static func version(_ connection: DatabaseConnection) throws(DatabaseError) -> Int {
            guard try connection.row(.hasSchema, Parameters(), { $0.integer(0) }) == 1 else { return 0 }
            guard let version = try connection.row(.schemaVersion, Parameters(), { $0.integer(0) }), version >= 0,
                version < 1_000
            else {
                throw DatabaseError("the table chat_journal.format is damaged", state: "XX001")
            }
            return Int(version)
        }
    }
#endif
