#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatValues
    internal import Foundation
    internal import LocalStorage
    internal import Locking

    /// What a client keeps of a server for one user: the posts that were seen, the latest answers,
    /// and the outbox, in one SQLite file of mode 0600.
    ///
    /// The copy knows nothing of the network: it is told what the server has sent. Its token is the
    /// position up to which every update was applied; it moves in the same transaction as what the
    /// updates change. Texts, names and reasons that an update takes away are gone from every row
    /// and from SQLite's write-ahead log when the call returns (``ContentChange``), and if the process ends before
    /// it, when the copy is opened again. SQLite can leave copies of rows that it has moved within
    /// the file: ``rebuild()`` removes them.
    package final class LocalCopy: Sendable {
        typealias File = Database<ClientError>

        /// The user whose copy it is.
        package let user: UserID
        /// The maximum number of posts; the oldest ones go first.
        package let postLimit: Int
        /// The path of the file.
        var path: String { file.path }
        let file: CopyFile
        /// The updates until posts above ``postLimit`` are removed.
        let updatesUntilPruning = Lock(500)
        /// Nil when closed.
        private let lock: Lock<FileLock?>
        /// The changes that were made and not returned, because SQLite's write-ahead log
        /// could not be emptied.
        private let unsettled = Lock(CopyChanges())

        /// Opens or creates a copy.
        ///
        /// - Parameters:
        ///   - path: The path of the file.
        ///   - server: The address of the server, in one form.
        ///   - user: The user of the session.
        ///   - postLimit: The maximum number of posts.
        /// - Throws: ``ClientError/storage(_:file:)`` with `unknownFormat` if the file belongs to another user
        ///   or server, with `held` if another copy has it open.
        package convenience init(
            path: String, server: String, user: UserID, postLimit: Int = 200_000
        ) throws(ClientError) {
            if PrivateFile.isLink(path) { throw .storage(.symbolicLink, file: path) }
            let lock = try CopyFile.lock(path)
            try self.init(path: path, server: server, user: user, postLimit: postLimit, lock)
        }

        /// - Parameter lock: The lock of the copy.
        init(
            path: String, server: String, user: UserID, postLimit: Int, _ lock: FileLock
        ) throws(ClientError) {
            (self.user, self.postLimit) = (user, max(1_000, postLimit))
            self.lock = Lock(lock)
            CopyFile.endStartingOver(path)
            file = try CopyFile(path, owner: Self.owner(server, user))
        }

        /// Opens a new copy in place of another file, with what waits in it, as far as it can be
        /// read.
        package static func startingOver(
            path: String, server: String, user: UserID, postLimit: Int = 200_000
        ) throws(ClientError) -> (copy: LocalCopy, outbox: StartingOver) {
            let (lock, outbox) = try CopyFile.startOver(path, owner: owner(server, user), of: user)
            return (try LocalCopy(path: path, server: server, user: user, postLimit: postLimit, lock), outbox)
        }

        /// The text by which a file knows its server and user.
        static func owner(_ server: String, _ user: UserID) -> String { "\(server) \(user)" }

        /// Closes the file; every call after it throws.
        package func close() {
            // If this fails, the next opening does it.
            try? rebuild()
            file.close()
            lock.withLock { $0 = nil }
        }

        private static let applicationID: Int64 = 0x436A_436F
        private static let version: Int64 = 3

        /// Makes the tables of a new file, and checks those of another one.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` with `unknownFormat` for the file of another
        ///   owner.
        static func prepare(_ file: File, owner: String) throws(ClientError) {
            guard case .integer(let application)? = try file.run("PRAGMA application_id").first?.first,
                case .integer(let version)? = try file.run("PRAGMA user_version").first?.first
            else { throw .storage(.damaged) }
            guard application == applicationID || (application == 0 && version == 0) else {
                throw .storage(.unknownFormat)
            }
            guard version <= Self.version else { throw .storage(.unknownFormat) }
            try file.run("PRAGMA journal_mode=WAL")
            // What a power cut takes is read again from the server. The outbox is written through:
            // see `durably`.
            try file.run("PRAGMA synchronous=NORMAL")
            try file.run("PRAGMA secure_delete=ON")
            // What a statement puts aside is in no other file.
            try file.run("PRAGMA temp_store=MEMORY")
            if version == 0 {
                try file.transaction { () throws(ClientError) in
                    for statement in schema + readSchema { try file.run(statement) }
                    try file.run("INSERT INTO facts VALUES ('owner', ?)", .text(owner))
                    try file.run("PRAGMA application_id=\(applicationID)")
                    try file.run("PRAGMA user_version=\(Self.version)")
                }
            } else if version < Self.version {
                // The outbox is kept, and everything else is read again.
                try file.transaction { () throws(ClientError) in
                    // The ids of posts had no kind.
                    for item in try file.outboxItems("") {
                        let place = OutboxPlace(of: item.request.command)
                        try file.run(
                            "UPDATE outbox SET creates = ?, needs = ? WHERE number = ?", place.creates ?? .null,
                            place.needs ?? .null, .integer(item.id))
                    }
                    for table in readTables { try file.run("DROP TABLE IF EXISTS \(table)") }
                    for statement in readSchema { try file.run(statement) }
                    try file.run("DELETE FROM facts WHERE key = 'token'")
                    try file.run("PRAGMA user_version=\(Self.version)")
                }
            }
            // Files of version 3 can lack it.
            try file.run(File.knownSchema)
            guard try file.run("SELECT value FROM facts WHERE key = 'owner'") == [[.text(owner)]] else {
                throw .storage(.unknownFormat)
            }
            try file.forgetLog()
            do throws(ClientError) { try file.rebuild() } catch {
                // The mark stays, and what waits in the outbox can be read and sent meanwhile.
                guard error.storage == .full else { throw error }
            }
        }

        private static let schema = [
            "CREATE TABLE facts(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
            // `creates` and `needs` are ids: of the post, thread or edit that a command makes, and
            // of what it is about. `cause` is the number of the command whose rejection has stopped
            // this one.
            """
            CREATE TABLE outbox(number INTEGER PRIMARY KEY AUTOINCREMENT, command BLOB NOT NULL, writtenAt INTEGER NOT NULL, creates BLOB,
            needs BLOB, list BLOB, attempts INTEGER NOT NULL, rejection BLOB, cause INTEGER)
            """,
            "CREATE INDEX outboxByCreated ON outbox(creates)", "CREATE INDEX outboxByNeeded ON outbox(needs)",
            "CREATE INDEX outboxByList ON outbox(list)",
        ]

        /// The tables of what was read from the server.
        private static let readTables = ["users", "posts", "ranges", "answers", "known"]

        private static let readSchema = [
            // The names of authors, by thread: the server can name a person whom the user has never
            // met otherwise in another thread. The user's own name has no thread (`ownPlace`). A
            // known name is nil if it is erased.
            """
            CREATE TABLE users(id BLOB NOT NULL, thread BLOB NOT NULL, name TEXT, known INTEGER NOT NULL, blocked INTEGER NOT NULL,
            PRIMARY KEY (id, thread)) WITHOUT ROWID
            """,
            // `value` is the JSON of a post whose author has no name: names are in `users` alone.
            """
            CREATE TABLE posts(list BLOB NOT NULL, position INTEGER NOT NULL, id BLOB NOT NULL, author BLOB NOT NULL, thread BLOB NOT NULL,
            value BLOB NOT NULL, stale INTEGER NOT NULL, PRIMARY KEY (list, position)) WITHOUT ROWID
            """,
            "CREATE UNIQUE INDEX postsByID ON posts(id)", "CREATE INDEX postsByPosition ON posts(position)",
            "CREATE INDEX postsByAuthor ON posts(author, thread, position)",
            "CREATE INDEX stalePosts ON posts(list, position) WHERE stale = 1",
            // The known parts of lists. A part without `last` goes on to the token, and grows with
            // it.
            """
            CREATE TABLE ranges(list BLOB NOT NULL, first INTEGER NOT NULL, last INTEGER, thread BLOB NOT NULL,
            PRIMARY KEY (list, first)) WITHOUT ROWID
            """,
            "CREATE TABLE answers(key TEXT PRIMARY KEY, value BLOB NOT NULL, stale INTEGER NOT NULL) WITHOUT ROWID",
            File.knownSchema,
        ]
    }

    extension LocalCopy {
        /// Changes the file in one transaction.
        ///
        /// What is taken away is gone from the log too when the call returns.
        ///
        /// - Parameter isDurable: Whether the transaction survives a power cut when it returns.
        func change(
            isDurable: Bool = false, _ body: @Sendable (File, inout CopyChanges) throws(ClientError) -> Void
        ) throws(ClientError) -> CopyChanges {
            try file.withLock { file throws(ClientError) in
                var changes = CopyChanges()
                let work = { () throws(ClientError) in
                    try body(file, &changes)
                    if changes.takesContent { try file.run("INSERT OR IGNORE INTO facts VALUES ('taken', '')") }
                }
                if isDurable { try file.durably(work) } else { try file.transaction(work) }
                return try settle(changes, of: file)
            }
        }

        /// Returns changes that could not be returned when they were made, because the log could not
        /// be emptied.
        func settle() throws(ClientError) -> CopyChanges {
            try file.withLock { file throws(ClientError) in try settle(CopyChanges(), of: file) }
        }

        /// Empties the log of what changes have taken away, and returns them, with those that could
        /// not be returned before.
        ///
        /// The file is locked, so that changes are returned in their order.
        ///
        /// - Parameter emptiesLog: Whether something was taken away, whatever the changes say.
        func settle(_ changes: CopyChanges, of file: File, emptiesLog: Bool = false) throws(ClientError) -> CopyChanges
        {
            var all = unsettled.withLock { unsettled in
                defer { unsettled = CopyChanges() }
                return unsettled
            }
            all.add(changes)
            guard all.takesContent || emptiesLog else { return all }
            do throws(ClientError) { try file.forgetLog() } catch {
                unsettled.withLock { unsettled in
                    unsettled = all
                    unsettled.takesContent = true
                }
                throw error
            }
            return all
        }
    }

    extension LocalCopy {
        /// Writes the file anew if something was taken away since it was last written anew.
        ///
        /// A row that SQLite has moved to another page can leave its bytes on the former one, also
        /// with `secure_delete`, which overwrites a row only where it stands when it is deleted.
        ///
        /// - Complexity: O(*n*) in the bytes of the file.
        package func rebuild() throws(ClientError) {
            try file.withLock { file throws(ClientError) in try file.rebuild() }
        }

        /// The bytes of the file, if it is to be written anew; nil otherwise.
        var byteCountToRebuild: Int? {
            get throws(ClientError) {
                try file.withLock { file throws(ClientError) in
                    guard try file.isRebuildDue,
                        case .integer(let pages)? = try file.run("PRAGMA page_count").first?.first
                    else { return nil }
                    return Int(pages) * 4_096
                }
            }
        }

        /// The position up to which every update was applied; nil before the first one.
        package var token: ResumeToken? {
            get throws(ClientError) { try file.withLock { file throws(ClientError) in try file.token } }
        }

        /// Sets the token of a new copy: from here on every update is applied.
        ///
        /// Does nothing if there is one.
        ///
        /// - Returns: Whether there was none.
        @discardableResult package func begin(at token: ResumeToken) throws(ClientError) -> Bool {
            try file.withLock { file throws(ClientError) in
                try file.transaction { () throws(ClientError) in
                    let isNew = try !file.run(
                        "INSERT OR IGNORE INTO facts VALUES ('token', ?) RETURNING key", .text(token.description)
                    ).isEmpty
                    if isNew { try file.lowerSeen(to: token.position) }
                    return isNew
                }
            }
        }

        /// Moves the token behind an event that was not understood: no list is known any more from
        /// there on, until it is read again.
        package func skip(to token: ResumeToken) throws(ClientError) -> CopyChanges {
            try change { file, changes throws(ClientError) in
                try file.run(
                    "UPDATE ranges SET last = ? WHERE last IS NULL", .integer(Int64(max(token.position, 1) - 1)))
                try file.run("DELETE FROM ranges WHERE last < first")
                try file.run("UPDATE answers SET stale = 1")
                try file.setToken(token)
                (changes.isOutdated, changes.hasGaps) = (true, true)
            }
        }

        /// Removes everything but the outbox: the server has another journal, or another history of
        /// it.
        ///
        /// - Parameter includesOutbox: Whether the outbox is removed too, because the user exists no
        ///   more.
        package func forgetEverything(includesOutbox: Bool = false) throws(ClientError) {
            _ = try change { file, changes throws(ClientError) in
                for table in Self.readTables { try file.run("DELETE FROM \(table)") }
                if includesOutbox { try file.run("DELETE FROM outbox") }
                try file.run("DELETE FROM facts WHERE key = 'token'")
                changes.takesContent = true
            }
        }
    }

    extension Database<ClientError> {
        /// Executes a function, and keeps all that it has changed or nothing.
        func transaction<Value>(_ body: () throws(ClientError) -> Value) throws(ClientError) -> Value {
            try run("BEGIN IMMEDIATE")
            do throws(ClientError) {
                let value = try body()
                try run("COMMIT")
                return value
            } catch {
                // An error such as a full disk has ended the transaction already.
                if isInTransaction { try run("ROLLBACK") }
                throw error
            }
        }

        /// Executes a transaction that survives a power cut when it returns.
        func durably<Value>(_ body: () throws(ClientError) -> Value) throws(ClientError) -> Value {
            try run("PRAGMA synchronous=FULL")
            let result: Result<Value, ClientError>
            do throws(ClientError) { result = .success(try transaction(body)) } catch { result = .failure(error) }
            try run("PRAGMA synchronous=NORMAL")
            return try result.get()
        }

        /// Empties the write-ahead log, which has what was deleted.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` with `held` if another program reads the file for
        ///   longer than a wait: it would stay there.
        func forgetLog() throws(ClientError) {
            guard try run("PRAGMA wal_checkpoint(TRUNCATE)").first?.first == .integer(0) else { throw .storage(.held) }
        }

        var isRebuildDue: Bool {
            get throws(ClientError) { try run("SELECT 1 FROM facts WHERE key = 'taken'") != [] }
        }

        func rebuild() throws(ClientError) {
            guard try isRebuildDue else { return }
            // The copy of the file can be larger than what a process may have in memory; SQLite
            // makes it without a name, and it has only what is not taken away.
            try run("PRAGMA temp_store=FILE")
            let result: Result<Void, ClientError>
            do throws(ClientError) { result = .success(_ = try run("VACUUM")) } catch { result = .failure(error) }
            try run("PRAGMA temp_store=MEMORY")
            try result.get()
            try run("DELETE FROM facts WHERE key = 'taken'")
            try forgetLog()
        }

        var token: ResumeToken? {
            get throws(ClientError) {
                guard let row = try run("SELECT value FROM facts WHERE key = 'token'").first else { return nil }
                guard case .text(let text) = row[0], let token = ResumeToken(text) else { throw .storage(.damaged) }
                return token
            }
        }

        func setToken(_ token: ResumeToken) throws(ClientError) {
            try run("INSERT OR REPLACE INTO facts VALUES ('token', ?)", .text(token.description))
            try run("DELETE FROM known WHERE position <= ?", .integer(Int64(clamping: token.position)))
        }

        static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws(ClientError) -> Value {
            do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch { throw .storage(.damaged) }
        }

        /// - Throws: `answerInvalid` for a value that JSON cannot hold; none of the server is one.
        static func encode(_ value: some Encodable) throws(ClientError) -> [UInt8] {
            do { return [UInt8](try JSONEncoder().encode(value)) } catch {
                throw .answerInvalid("a value cannot be encoded")
            }
        }
    }
#endif
