#if Server
    internal import LocalStorage

    /// The tables of the account file, and their versions.
    enum AccountSchema {
        /// Marks the file as an account file (`CJAC`).
        static let applicationID: Int64 = 0x434A_4143
        /// The statements that lead from each version to the next.
        static let migrations: [[String]] = [
            [
                """
                CREATE TABLE accounts(id BLOB PRIMARY KEY, user BLOB NOT NULL UNIQUE, username TEXT NOT NULL, email TEXT NOT NULL,
                email_key TEXT NOT NULL UNIQUE, password TEXT NOT NULL, state INTEGER NOT NULL, created INTEGER NOT NULL) STRICT, WITHOUT ROWID
                """,
                "CREATE INDEX accounts_state ON accounts(state, created)",
                """
                CREATE TABLE codes(account BLOB NOT NULL REFERENCES accounts ON DELETE CASCADE, purpose INTEGER NOT NULL,
                hash BLOB NOT NULL, expires INTEGER NOT NULL, tries INTEGER NOT NULL, PRIMARY KEY(account, purpose)) STRICT, WITHOUT ROWID
                """,
                """
                CREATE TABLE sessions(id BLOB PRIMARY KEY, account BLOB NOT NULL REFERENCES accounts ON DELETE CASCADE,
                token BLOB NOT NULL UNIQUE, created INTEGER NOT NULL, used INTEGER NOT NULL, device TEXT) STRICT, WITHOUT ROWID
                """,
                "CREATE INDEX sessions_account ON sessions(account, created)",
                // Written instead of a row, so that an unknown account takes the time of a commit
                // too.
                "CREATE TABLE padding(id INTEGER PRIMARY KEY CHECK(id = 1), value BLOB NOT NULL) STRICT",
                "INSERT INTO padding VALUES(1, x'')",
            ],
            [
                """
                CREATE TABLE email_changes(account BLOB PRIMARY KEY REFERENCES accounts ON DELETE CASCADE, email TEXT NOT NULL,
                expires INTEGER NOT NULL) STRICT, WITHOUT ROWID
                """
            ],
            [
                // The digests of the tokens of deleted accounts, and nothing of whose they were: a
                // device that was away is told to forget its copy.
                "CREATE TABLE deleted_sessions(token BLOB PRIMARY KEY, deleted INTEGER NOT NULL) STRICT, WITHOUT ROWID"
            ],
        ]

        /// Checks that the file is ours before anything is written, and brings it to this version.
        static func prepare(_ database: Database) throws(AccountError) {
            let isEmpty = try database.run("SELECT count(*) FROM sqlite_master") == [[.integer(0)]]
            let application = try database.run("PRAGMA application_id")
            guard application == [[.integer(applicationID)]] || isEmpty && application == [[.integer(0)]] else {
                throw .notAnAccountFile
            }
            guard case .integer(let version)? = try database.run("PRAGMA user_version").first?.first, version >= 0
            else {
                throw .notAnAccountFile
            }
            guard version <= migrations.count else {
                throw AccountError(.newerVersion, "A newer version wrote this account file. Open it with that version.")
            }
            guard try database.run("PRAGMA quick_check(1)") == [[.text("ok")]] else { throw .damaged }
            try database.run("PRAGMA journal_mode=WAL")
            try database.run("PRAGMA synchronous=FULL")
            try database.run("PRAGMA foreign_keys=ON")
            try database.run("PRAGMA secure_delete=ON")
            for (number, statements) in migrations.enumerated().dropFirst(Int(version)) {
                try database.transaction { database throws(AccountError) in
                    for statement in statements { try database.run(statement) }
                    try database.run("PRAGMA application_id=\(applicationID)")
                    try database.run("PRAGMA user_version=\(number + 1)")
                }
            }
        }
    }

    extension Database {
        /// Copies the write-ahead log to the file and cuts it; false if another program reads the
        /// file.
        func checkpoint() throws(AccountError) -> Bool {
            guard case .integer(let isBusy)? = try run("PRAGMA wal_checkpoint(TRUNCATE)").first?.first else {
                return false
            }
            return isBusy == 0
        }

        /// Executes the closure as one durable transaction, or not at all.
        func transaction<Result>(_ body: (Database) throws(AccountError) -> Result) throws(AccountError) -> Result {
            try run("BEGIN IMMEDIATE")
            do {
                let result = try body(self)
                try run("COMMIT")
                return result
            } catch {
                // SQLite has rolled back by itself after some errors, and then rejects this
                // statement.
                if isInTransaction { try run("ROLLBACK") }
                throw error
            }
        }
    }
#endif
