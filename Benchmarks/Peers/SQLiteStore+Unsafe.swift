#if PeerBenchmarks
    // Unsafe, because SQLite is a C library; each array and statement outlives the call that gets
    // its address.
    import CSQLite
    import Locking

    /// The messages in SQLite: one table, an index by thread, a write-ahead log, one connection.
    ///
    /// Durable is `synchronous=FULL`. Written is `NORMAL`, which syncs at checkpoints only, with a
    /// checkpoint for each 64 MiB.
    final class SQLiteStore: Sendable {
        private let connection: Lock<Connection>

        init(_ path: String, durable: Bool) throws { connection = Lock(try Connection(path, durable: durable)) }

        /// Appends events as one transaction.
        func append(_ events: PackedEvents, _ range: Range<Int>) throws {
            try connection.withLock { connection in try connection.append(events, range) }
        }

        /// Reads all events in order; returns their count.
        func replay() throws -> Int { try connection.withLock { connection in try connection.replay() } }

        /// Reads the latest 50 events of a thread; returns their count.
        func latest(_ thread: UInt128) throws -> Int {
            try connection.withLock { connection in try connection.latest(thread) }
        }
    }

    @safe private final class Connection {
        private let database: OpaquePointer
        private let begin: OpaquePointer
        private let commit: OpaquePointer
        private let insert: OpaquePointer
        private let all: OpaquePointer
        private let recent: OpaquePointer

        init(_ path: String, durable: Bool) throws {
            var opened: OpaquePointer?
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            guard unsafe sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let database = unsafe opened else {
                throw UsageError("SQLite cannot open \(path)")
            }
            unsafe self.database = database
            let settings = [
                "PRAGMA journal_mode=WAL", "PRAGMA synchronous=\(durable ? "FULL" : "NORMAL")",
                "PRAGMA cache_size=-65536",
                "PRAGMA wal_autocheckpoint=\(durable ? 1_000 : 16_384)",
                "CREATE TABLE IF NOT EXISTS events(pos INTEGER PRIMARY KEY, type INT, ts INT, thread BLOB, msg BLOB, author BLOB, body TEXT)",
                "CREATE INDEX IF NOT EXISTS events_thread ON events(thread, pos)",
            ]
            for sql in settings where unsafe sqlite3_exec(database, sql, nil, nil, nil) != SQLITE_OK {
                throw UsageError("SQLite rejects \(sql)")
            }
            func prepare(_ sql: String) throws -> OpaquePointer {
                var statement: OpaquePointer?
                let result = unsafe sqlite3_prepare_v3(
                    database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
                guard result == SQLITE_OK, let statement = unsafe statement else {
                    throw UsageError("SQLite rejects \(sql)")
                }
                return unsafe statement
            }
            unsafe begin = try prepare("BEGIN IMMEDIATE")
            unsafe commit = try prepare("COMMIT")
            unsafe insert = try prepare("INSERT INTO events(type,ts,thread,msg,author,body) VALUES(?,?,?,?,?,?)")
            unsafe all = try prepare("SELECT type,ts,thread,msg,author,body FROM events ORDER BY pos")
            unsafe recent = try prepare(
                "SELECT type,ts,thread,msg,author,body FROM events WHERE thread=? ORDER BY pos DESC LIMIT 50")
        }

        deinit {
            unsafe sqlite3_finalize(begin)
            unsafe sqlite3_finalize(commit)
            unsafe sqlite3_finalize(insert)
            unsafe sqlite3_finalize(all)
            unsafe sqlite3_finalize(recent)
            unsafe sqlite3_close(database)
        }

        private func step(_ statement: OpaquePointer) throws {
            defer { unsafe sqlite3_reset(statement) }
            guard unsafe sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
        }

        private func failure() -> UsageError {
            unsafe UsageError("SQLite: \(String(cString: sqlite3_errmsg(database)))")
        }

        func append(_ events: PackedEvents, _ range: Range<Int>) throws {
            if range.count > 1 { unsafe try step(begin) }
            for index in range {
                try events.withEvent(index) { fixed, text in
                    unsafe try fixed.withUnsafeBytes { fixed in
                        unsafe try text.withUnsafeBytes { text in
                            // In the order of the packed form. A nil destructor tells SQLite that
                            // the bytes stay valid.
                            unsafe sqlite3_bind_int(insert, 1, Int32(fixed[0]))
                            unsafe sqlite3_bind_int64(insert, 2, fixed.loadUnaligned(fromByteOffset: 1, as: Int64.self))
                            for field in 0..<3 {
                                unsafe sqlite3_bind_blob(
                                    insert, Int32(3 + field), fixed.baseAddress.map { unsafe $0 + 9 + 16 * field }, 16,
                                    nil)
                            }
                            unsafe sqlite3_bind_text(
                                insert, 6, text.assumingMemoryBound(to: CChar.self).baseAddress, Int32(text.count), nil)
                            unsafe try step(insert)
                        }
                    }
                }
            }
            if range.count > 1 { unsafe try step(commit) }
        }

        func replay() throws -> Int { unsafe try rows(all) }

        func latest(_ thread: UInt128) throws -> Int {
            unsafe try withUnsafeBytes(of: thread.littleEndian) { bytes in
                unsafe sqlite3_bind_blob(recent, 1, bytes.baseAddress, 16, nil)
                return unsafe try rows(recent)
            }
        }

        /// Reads every field of every row; returns the count of rows.
        private func rows(_ query: OpaquePointer) throws -> Int {
            defer { unsafe sqlite3_reset(query) }
            var count = 0
            var sum: UInt64 = 0
            while true {
                switch unsafe sqlite3_step(query) {
                case SQLITE_ROW:
                    count += 1
                    sum &+= unsafe UInt64(bitPattern: sqlite3_column_int64(query, 0) &+ sqlite3_column_int64(query, 1))
                    for column in Int32(2)...4 {
                        if let id = unsafe sqlite3_column_blob(query, column) {
                            sum &+= unsafe id.loadUnaligned(as: UInt64.self)
                        }
                    }
                    if let text = unsafe sqlite3_column_text(query, 5) { sum &+= unsafe UInt64(text[0]) }
                    sum &+= unsafe UInt64(sqlite3_column_bytes(query, 5))
                case SQLITE_DONE:
                    precondition(count == 0 || sum != 0)
                    return count
                default: throw failure()
                }
            }
        }
    }
#endif
