#if Client || canImport(SQLite3)
    // Unsafe, because SQLite is a C library: statements and columns are addresses that this file
    // does not hand out.
    #if canImport(SQLite3)
        internal import SQLite3
    #else
        internal import CSQLite
    #endif

    /// One value of a row, or of a parameter.
    package enum SQLValue: Hashable {
        case null
        case integer(Int64)
        case text(String)
        case blob([UInt8])
    }

    /// Why SQLite did not do what it was told.
    package enum DatabaseError: Error, Hashable, Sendable {
        case notADatabase, damaged, held, full, closed
        /// The last component of the path is a symbolic link.
        case symbolicLink
        /// Another program has removed, renamed or replaced the file.
        case moved
        /// The file cannot be opened, for want of permission or because it is no file.
        case noAccess
        /// The file cannot be written.
        case readOnly
        /// Another result code of SQLite.
        case other(Int32)
    }

    /// An error of a module that has a database.
    package protocol DatabaseFailure: Error {
        init(_ error: DatabaseError)
    }

    /// One SQLite connection, used by one thread at a time.
    ///
    /// An error has the result code only: SQLite's messages can contain values.
    @safe package final class Database<Failure: DatabaseFailure> {
        /// Nil when closed.
        private var connection: OpaquePointer?
        /// The prepared statements, by their text: a session is looked up for every request, and
        /// preparing its statement takes longer than running it.
        private var statements: [String: OpaquePointer] = unsafe [:]
        /// The path of the write-ahead log, if writes look whether the files still have their names.
        private var watchedLog: String?

        /// Opens an existing file; an empty one is an empty database.
        package init(_ path: String, isReadOnly: Bool = false) throws(Failure) {
            var opened: OpaquePointer?
            let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
            let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
            // The flag forbids links in the whole path, of which those to directories are allowed.
            let resolved = PrivateFile.resolvingDirectory(of: path)
            let status = unsafe sqlite3_open_v2(resolved, &opened, flags, nil)
            guard status == SQLITE_OK, let connection = unsafe opened else {
                unsafe sqlite3_close_v2(opened)
                throw Self.failure(status)
            }
            unsafe self.connection = connection
            wait(milliseconds: 5_000)
        }

        /// From now on, a write fails with `moved` once another program has removed, renamed or
        /// replaced the file.
        ///
        /// SQLite would go on to write the open file, which has no name.
        ///
        /// - Parameter path: The path of the file, whose journal mode is WAL.
        package func watchFile(_ path: String) { watchedLog = path + "-wal" }

        /// Throws `moved` unless the file still has its name.
        package func requireFile() throws(Failure) {
            guard let connection = unsafe connection else { throw Failure(.closed) }
            var hasMoved: Int32 = 0
            unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
            if hasMoved != 0 { throw Failure(.moved) }
        }

        /// Sets how long a statement waits for other connections.
        package func wait(milliseconds: Int32) { unsafe sqlite3_busy_timeout(connection, milliseconds) }

        deinit { close() }

        /// Closes the connection; every statement after it throws `storage`.
        package func close() {
            unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
            unsafe statements = [:]
            unsafe sqlite3_close_v2(connection)
            unsafe connection = nil
        }

        package var isOpen: Bool { unsafe connection != nil }

        /// The number of statements that are prepared: one for each text that was run.
        package var statementCount: Int { unsafe statements.count }

        /// The steps of SQLite's virtual machine so far: how much work the statements were, on any
        /// machine.
        package private(set) var workCount = 0

        /// The transactions of several statements that have ended.
        package private(set) var transactionCount = 0

        /// The rows that the last statement changed.
        package var changeCount: Int { unsafe connection.map { unsafe Int(sqlite3_changes($0)) } ?? 0 }

        /// Whether a transaction has begun and not ended.
        package var isInTransaction: Bool { unsafe connection.map { unsafe sqlite3_get_autocommit($0) == 0 } ?? false }

        /// Executes one statement and returns its rows.
        ///
        /// - Parameters:
        ///   - sql: The statement. It stays prepared, so values are parameters and no part of it.
        ///   - parameters: The values for its question marks.
        @discardableResult package func run(_ sql: String, _ parameters: SQLValue...) throws(Failure) -> [[SQLValue]] {
            try run(sql, with: parameters)
        }

        /// Executes one statement with a list of parameters and returns its rows.
        @discardableResult package func run(_ sql: String, with parameters: [SQLValue]) throws(Failure) -> [[SQLValue]]
        {
            let statement = try unsafe prepared(sql)
            let wasInTransaction = isInTransaction
            let isWatched = watchedLog != nil && (unsafe wasInTransaction || sqlite3_stmt_readonly(statement) == 0)
            if isWatched, !wasInTransaction { try requireFile() }
            // Ends its reading transaction, and keeps no value.
            defer {
                if wasInTransaction, !isInTransaction { transactionCount += 1 }
                unsafe workCount += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1))
                unsafe sqlite3_reset(statement)
                unsafe sqlite3_clear_bindings(statement)
            }
            for (index, parameter) in parameters.enumerated() {
                let status = unsafe Self.bind(statement, Int32(index + 1), parameter)
                guard status == SQLITE_OK else { throw Self.failure(status) }
            }
            var rows: [[SQLValue]] = []
            while true {
                let status = unsafe sqlite3_step(statement)
                if status == SQLITE_DONE {
                    // What was written into a file without its name is lost.
                    if isWatched, !isInTransaction { try requireFiles() }
                    return rows
                }
                guard status == SQLITE_ROW else { throw Self.failure(status) }
                let columns = unsafe sqlite3_column_count(statement)
                rows.append((0..<columns).map { unsafe Self.column(statement, $0) })
            }
        }

        /// Throws `moved` unless the file and its write-ahead log, which a write has made, have
        /// their names.
        private func requireFiles() throws(Failure) {
            try requireFile()
            if let watchedLog, !PrivateFile.exists(watchedLog) { throw Failure(.moved) }
        }

        private func prepared(_ sql: String) throws(Failure) -> OpaquePointer {
            if let statement = unsafe statements[sql] { return unsafe statement }
            guard let connection = unsafe connection else { throw Failure(.closed) }
            var prepared: OpaquePointer?
            let status = unsafe sqlite3_prepare_v2(connection, sql, -1, &prepared, nil)
            guard status == SQLITE_OK, let statement = unsafe prepared else { throw Self.failure(status) }
            unsafe statements[sql] = statement
            return unsafe statement
        }

        private static func failure(_ status: Int32) -> Failure {
            // SQLite's macro of this code is not imported.
            if status == SQLITE_CANTOPEN | 6 << 8 { return Failure(.symbolicLink) }
            return switch status & 0xFF {
            case SQLITE_NOTADB: Failure(.notADatabase)
            case SQLITE_CORRUPT: Failure(.damaged)
            case SQLITE_BUSY, SQLITE_LOCKED: Failure(.held)
            case SQLITE_FULL: Failure(.full)
            // The memory that processes share is a file too, whose disk is full.
            case SQLITE_IOERR where status == SQLITE_IOERR | 19 << 8: Failure(.full)
            case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: Failure(.noAccess)
            case SQLITE_READONLY: Failure(.readOnly)
            default: Failure(.other(status))
            }
        }

        private static func bind(_ statement: OpaquePointer, _ index: Int32, _ value: SQLValue) -> Int32 {
            // SQLite copies the bytes before the call returns.
            let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            switch value {
            case .null: return unsafe sqlite3_bind_null(statement, index)
            case .integer(let number): return unsafe sqlite3_bind_int64(statement, index, number)
            case .text(let text):
                return unsafe sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), transient)
            case .blob(let bytes):
                return unsafe sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), transient)
            }
        }

        private static func column(_ statement: OpaquePointer, _ index: Int32) -> SQLValue {
            switch unsafe sqlite3_column_type(statement, index) {
            case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(statement, index))
            case SQLITE_TEXT, SQLITE_BLOB:
                let isText = unsafe sqlite3_column_type(statement, index) == SQLITE_TEXT
                let base = unsafe sqlite3_column_blob(statement, index)
                let bytes = unsafe [UInt8](
                    UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(statement, index))))
                return isText ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes)
            default: return .null
            }
        }
    }
#endif
