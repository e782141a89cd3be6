#if Postgres
    // Unsafe: calls libpq, a C library.
    import CPostgreSQL
    import Foundation
    import Locking
    import Primitives

    /// The same events in a table of PostgreSQL, with nothing but libpq.
    ///
    /// Unchecked Sendable: one thread at a time uses a connection.
    @safe final class PostgresFloor: @unchecked Sendable {
        private let connection: OpaquePointer?

        /// Writes the events of a phase; returns the events per second.
        static func rate(of phase: WritePhase, _ events: PackedEvents, at address: String) throws -> Double {
            let first = try PostgresFloor(address)
            try first.makeTable()
            switch phase.callers {
            case .threads(let count), .tasks(let count):
                let idle = Lock(try (0..<count).map { _ in try PostgresFloor(address).prepared() })
                return try phase.rate(threads: count) { index in
                    // As many connections as callers, so one is always idle.
                    guard let floor = idle.withLock({ $0.popLast() }) else { throw UsageError("no connection is idle") }
                    try floor.insert(events, index)
                    idle.withLock { $0.append(floor) }
                }
            case .one, .task:
                _ = try first.prepared()
                return try phase.rate { range in
                    if range.count == 1 {
                        try first.insert(events, range.lowerBound)
                    } else {
                        try first.copy(events, range)
                    }
                }
            }
        }

        /// Fills the table, and reads all events; returns the events per second.
        static func replay(_ events: PackedEvents, count: Int, at address: String) throws -> Double {
            let floor = try PostgresFloor(address)
            try floor.makeTable()
            for start in stride(from: 0, to: count, by: 1_000) {
                try floor.copy(events, start..<min(count, start + 1_000))
            }
            var rows = 0
            let time = try seconds { rows = try floor.readAll() }
            guard rows == count else { throw UsageError("the table has lost events") }
            return Double(count) / time
        }

        private init(_ address: String) throws {
            // Of several servers, the one that accepts writes.
            let uri = address.prefix { $0 != "#" }
            let opened = unsafe PQconnectdb("\(uri)\(uri.contains("?") ? "&" : "?")target_session_attrs=read-write")
            unsafe connection = opened
            guard unsafe PQstatus(opened) == CONNECTION_OK else { throw UsageError("cannot connect to the database") }
        }

        deinit { unsafe PQfinish(connection) }

        private func run(_ sql: String) throws { try unsafe check(unsafe PQexec(connection, sql)) }

        private func check(_ result: OpaquePointer?, _ wanted: ExecStatusType = PGRES_COMMAND_OK) throws {
            defer { unsafe PQclear(result) }
            guard unsafe PQresultStatus(result) == wanted else {
                throw UsageError(unsafe String(cString: PQerrorMessage(connection)))
            }
        }

        private func makeTable() throws {
            try run(
                """
                SET client_min_messages = warning; SET synchronous_commit = on; DROP TABLE IF EXISTS bench_events;
                CREATE TABLE bench_events (pos bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type int2 NOT NULL, ts int8 NOT NULL,
                  thread uuid NOT NULL, msg uuid NOT NULL, author uuid NOT NULL, body text NOT NULL);
                CREATE INDEX bench_events_thread ON bench_events (thread, pos)
                """)
        }

        private func prepared() throws -> PostgresFloor {
            try run("SET synchronous_commit = on")
            let sql =
                "INSERT INTO bench_events (type, ts, thread, msg, author, body) VALUES ($1::int2, $2::int8, $3::uuid, $4::uuid, $5::uuid, $6::text)"
            try unsafe check(unsafe PQprepare(connection, "insert", sql, 0, nil))
            return self
        }

        /// The offsets of the fields in the fixed part, for the columns before the body.
        private static let fields = [0..<1, 1..<9, 9..<25, 25..<41, 41..<57]

        private func insert(_ events: PackedEvents, _ index: Int) throws {
            try events.withEvent(index) { (fixed, text) throws(any Error) in
                var bytes: [UInt8] = [0]
                fixed.append(to: &bytes)
                text.append(to: &bytes)
                bytes.append(0)
                let lengths = [2] + Self.fields.dropFirst().map { Int32($0.count) } + [Int32(text.byteCount)]
                let formats = [Int32](repeating: 1, count: 6)
                let result = unsafe bytes.withUnsafeBytes { bytes in
                    let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                    let starts = [0, 2, 10, 26, 42, 58]
                    let addresses: [UnsafePointer<CChar>?] = unsafe starts.map { unsafe base?.advanced(by: $0) }
                    return unsafe PQexecPrepared(connection, "insert", 6, addresses, lengths, formats, 1)
                }
                try unsafe check(unsafe result)
            }
        }

        private func copy(_ events: PackedEvents, _ range: Range<Int>) throws {
            var bytes: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A] + [UInt8](repeating: 0, count: 9)
            for index in range {
                events.withEvent(index) { fixed, text in
                    bytes += [0, 6, 0, 0, 0, 2, 0]
                    fixed.extracting(0..<1).append(to: &bytes)
                    for field in Self.fields.dropFirst() {
                        bytes.append(bytesOf: UInt32(field.count).bigEndian)
                        fixed.extracting(field).append(to: &bytes)
                    }
                    bytes.append(bytesOf: UInt32(text.byteCount).bigEndian)
                    text.append(to: &bytes)
                }
            }
            bytes += [0xFF, 0xFF]
            let sql = "COPY bench_events (type, ts, thread, msg, author, body) FROM STDIN (FORMAT binary)"
            try unsafe check(unsafe PQexec(connection, sql), PGRES_COPY_IN)
            let isSent = unsafe bytes.withUnsafeBytes { bytes in
                unsafe PQputCopyData(
                    connection, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) == 1
            }
            guard isSent, unsafe PQputCopyEnd(connection, nil) == 1 else { throw UsageError("COPY has failed") }
            while let result = unsafe PQgetResult(connection) { try unsafe check(unsafe result) }
        }

        private func readAll() throws -> Int {
            let sql =
                "COPY (SELECT type, ts, thread, msg, author, body FROM bench_events ORDER BY pos) TO STDOUT (FORMAT binary)"
            try unsafe check(unsafe PQexec(connection, sql), PGRES_COPY_OUT)
            var (count, sum) = (0, UInt64(0))
            var row: UnsafeMutablePointer<CChar>?
            while case let length = unsafe PQgetCopyData(connection, &row, 0), length > 0 {
                // The last row is the end mark of two bytes.
                if length > 60 {
                    count += 1
                    // Touches the row, as a reader does.
                    if let row = unsafe row { sum &+= UInt64(UInt8(bitPattern: unsafe row[Int(length) - 1])) }
                }
                unsafe PQfreemem(row)
            }
            while let result = unsafe PQgetResult(connection) { try unsafe check(unsafe result) }
            guard sum > 0 else { throw UsageError("the events are empty") }
            return count
        }
    }
#endif
