#if Postgres
    // Unsafe: libpq is a C library. Its connections and results are addresses that this file does
    // not hand out; a row's bytes are lent for the time of a call.
    internal import CPostgreSQL
    internal import EventJournal
    internal import Primitives
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Darwin)
        internal import Darwin
    #endif

    /// A failure of a connection or a statement.
    struct DatabaseError: Error {
        /// The SQLSTATE of a server's error; empty if the connection was lost or not made, or if no
        /// answer came in time.
        var state: String
        /// The primary message, which contains no values of a row.
        var message: String

        /// Whether the server reported the error; false if the connection was lost.
        var hasSQLState: Bool { !state.isEmpty }

        /// What the database says of the log, which no other attempt changes; nil for a failure of
        /// the database.
        let finding: JournalError?

        init(_ message: String, state: String = "") { (self.state, self.message, finding) = (state, message, nil) }

        init(_ finding: JournalError) { (state, message, self.finding) = ("", finding.message, finding) }
    }

    /// One connection to a server.
    ///
    /// Unchecked Sendable: `Database` and `CommitWriter` keep connections behind a lock and hand
    /// each to one thread at a time.
    @safe final class DatabaseConnection: @unchecked Sendable {
        /// Nil when closed.
        private var connection: OpaquePointer?
        private let notices = Notices()
        private var prepared: Set<Statement> = []
        private let connectedAt = ContinuousClock.now
        /// See ``PostgresOptions/answerTimeout``.
        private let answerTimeout: Duration
        /// The moment at which a wait for the server ends, although ``PostgresOptions/answerTimeout`` is
        /// not over; nil if there is none.
        var limit: ContinuousClock.Instant?
        /// Called when a part of an answer with rows arrives.
        var didReceiveRow: (() -> Void)?
        /// The position up to which the server is known to have the history that the log has read.
        var knownThrough: Position = 0

        /// Connects to the first server of the parameters that answers and has the wanted role.
        ///
        /// - Throws: ``DatabaseError`` without a state if no server does.
        init(
            _ parameters: [String: String], isForWriting: Bool, _ answerTimeout: Duration,
            until limit: ContinuousClock.Instant?
        ) throws(DatabaseError) {
            (self.answerTimeout, self.limit) = (answerTimeout, limit)
            var all = [
                "connect_timeout": "2", "application_name": "chat-journal", "keepalives_idle": "5",
                "keepalives_interval": "2",
                "keepalives_count": "3", "tcp_user_timeout": "10000",
            ]
            all.merge(parameters) { $1 }
            all["client_encoding"] = "UTF8"
            // 0 and less wait without end.
            if Int(all["connect_timeout"] ?? "") ?? 0 <= 0 { all["connect_timeout"] = "2" }
            if isForWriting { all["target_session_attrs"] = "read-write" }
            let opened = unsafe Self.connect(all, until: limit)
            unsafe connection = opened
            guard unsafe opened != nil else { throw timedOut() }
            guard unsafe PQstatus(opened) == CONNECTION_OK else {
                let error = lost()
                close()
                throw error
            }
            unsafe PQsetNoticeReceiver(
                opened,
                { notices, result in
                    guard let notices = unsafe notices, let result = unsafe result else { return }
                    let severity = unsafe PQresultErrorField(result, DatabaseConnection.severityField)
                    // The text of a message depends on the server's language; this field does not.
                    if let severity = unsafe severity, unsafe String(cString: severity) == "WARNING" {
                        unsafe Unmanaged<Notices>.fromOpaque(notices).takeUnretainedValue().hasWarning = true
                    }
                }, Unmanaged.passUnretained(notices).toOpaque())
            guard unsafe PQsetnonblocking(opened, 1) == 0 else { throw lost() }
            guard unsafe PQserverVersion(opened) >= 140_000 else {
                close()
                throw DatabaseError("PostgreSQL 14 or newer is required", state: "0A000")
            }
        }

        deinit { close() }

        /// Ends the connection; every later statement fails.
        func close() {
            unsafe PQfinish(connection)
            unsafe connection = nil
        }

        /// Whether the connection can be used: it was not closed, and no error has ended it.
        var isOpen: Bool { unsafe connection != nil }

        /// Whether the server is a standby, which may lack the latest commits.
        var isStandby: Bool {
            guard let value = unsafe PQparameterStatus(connection, "in_hot_standby") else { return false }
            return unsafe String(cString: value) == "on"
        }

        /// Whether this is a connection to a standby that is old enough to try the server that
        /// accepts writes again: a standby may be cut off from it, and stay behind.
        var shouldRetryLeader: Bool { isStandby && .now - connectedAt > Self.maximumStandbyAge }

        /// Bounds how long a reader stays on a standby after the leader can be reached again.
        private static let maximumStandbyAge = Duration.seconds(5)

        /// Executes statements without parameters in one transaction, and discards their rows.
        ///
        /// - Returns: Whether the server gave a warning.
        @discardableResult
        func run(_ sql: String, timeout: Duration? = nil) throws(DatabaseError) -> Bool {
            notices.hasWarning = false
            guard let connection = unsafe connection, unsafe PQsendQuery(connection, sql) == 1 else { throw lost() }
            _ = try results(timeout ?? answerTimeout) { _ in true }
            return notices.hasWarning
        }

        /// Executes a prepared statement and passes each row of its result to a closure.
        ///
        /// Large parameters may take longer than ``PostgresOptions/answerTimeout``: a second for
        /// each MiB.
        ///
        /// - Parameter body: Returns whether to continue. The remaining rows are discarded, so a
        ///   statement whose caller may stop must limit their number.
        /// - Returns: The number of rows that the statement changed or returned.
        /// - Throws: ``DatabaseError``. A warning of the server counts as a lost connection: after
        ///   the one on a cancelled wait for a standby, a commit is not durable.
        @discardableResult
        func execute(
            _ statement: Statement, _ parameters: Parameters = Parameters(),
            _ body: (DatabaseRow) -> Bool = { _ in true }
        ) throws(DatabaseError) -> Int {
            let timeout = answerTimeout + .seconds(parameters.byteCount >> 20)
            if !prepared.contains(statement) { try prepare(statement, timeout) }
            notices.hasWarning = false
            let sent = unsafe parameters.withAddresses { count, values, lengths, formats in
                unsafe PQsendQueryPrepared(connection, statement.name, count, values, lengths, formats, 1)
            }
            guard unsafe connection != nil, sent == 1, unsafe PQsetSingleRowMode(connection) == 1 else { throw lost() }
            let count = try results(timeout, body)
            if notices.hasWarning && !statement.mayWarn {
                close()
                throw DatabaseError("the server gave a warning instead of a plain confirmation")
            }
            return count
        }

        /// Waits for a notification on a channel that is listened to; true if one has come.
        func waitForNotification(timeout: Duration) throws(DatabaseError) -> Bool {
            let deadline = ContinuousClock.now + timeout
            while true {
                guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
                var found = false
                while let notification = unsafe PQnotifies(connection) {
                    found = true
                    unsafe PQfreemem(notification)
                }
                if found { return true }
                if try !wait(for: POLLIN, until: deadline) { return false }
            }
        }

        // MARK: One statement

        private func prepare(_ statement: Statement, _ timeout: Duration) throws(DatabaseError) {
            guard let connection = unsafe connection,
                unsafe PQsendPrepare(connection, statement.name, statement.sql, 0, nil) == 1
            else {
                throw lost()
            }
            _ = try results(timeout) { _ in true }
            prepared.insert(statement)
        }

        /// Sends what waits, and reads all results of the statement.
        ///
        /// The time limit is for each wait in which the server takes and sends nothing, so that
        /// neither a slow network nor a slow `body` ends a read.
        private func results(_ timeout: Duration, _ body: (DatabaseRow) -> Bool) throws(DatabaseError) -> Int {
            try flush(timeout)
            var failure: DatabaseError?
            var (count, goesOn, hasWaited) = (0, true, false)
            while true {
                while unsafe PQisBusy(connection) == 1 {
                    guard try wait(for: POLLIN, until: .now + timeout) else { throw timedOut() }
                    guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
                    hasWaited = true
                }
                guard let result = unsafe PQgetResult(connection) else { break }
                defer { unsafe PQclear(result) }
                switch unsafe PQresultStatus(result) {
                case PGRES_SINGLE_TUPLE:
                    if hasWaited {
                        // The server answers: a slow reader has as long as it takes.
                        (hasWaited, limit) = (false, nil)
                        didReceiveRow?()
                    }
                    if goesOn { goesOn = body(unsafe DatabaseRow(result)) }
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                    if let text = unsafe PQcmdTuples(result) { count = Int(unsafe String(cString: text)) ?? 0 }
                default:
                    if failure == nil { failure = unsafe Self.error(of: result) }
                }
            }
            if let failure {
                let isConnected = unsafe PQstatus(connection) == CONNECTION_OK
                if !failure.hasSQLState || !isConnected { close() }
                throw failure
            }
            return count
        }

        private func flush(_ timeout: Duration) throws(DatabaseError) {
            while true {
                let status = unsafe PQflush(connection)
                if status == 0 { return }
                guard status == 1 else { throw lost() }
                guard try wait(for: POLLIN | POLLOUT, until: .now + timeout) else { throw timedOut() }
                // The server may wait until its own output is read.
                guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
            }
        }

        /// Waits until the socket is ready; false after the deadline or the limit.
        private func wait(for events: Int32, until deadline: ContinuousClock.Instant) throws(DatabaseError) -> Bool {
            let deadline = min(deadline, limit ?? deadline)
            while true {
                let rest = (deadline - .now).components
                let milliseconds = rest.seconds * 1_000 + rest.attoseconds / 1_000_000_000_000_000 + 1
                guard milliseconds > 0 else { return false }
                let socket = unsafe PQsocket(connection)
                guard socket >= 0 else { throw lost() }
                var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
                let ready = unsafe poll(&descriptor, 1, Int32(min(milliseconds, 60_000)))
                if ready > 0 { return true }
                if ready < 0 && errno != EINTR { throw lost() }
            }
        }

        // MARK: Errors

        /// The error of a lost connection, which is closed.
        private func lost() -> DatabaseError {
            guard let connection = unsafe connection else { return DatabaseError("the connection is closed") }
            let text = unsafe String(cString: PQerrorMessage(connection))
            close()
            return DatabaseError(text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no connection")
        }

        private func timedOut() -> DatabaseError {
            close()
            return DatabaseError("the server did not answer in time")
        }

        private static func error(of result: OpaquePointer) -> DatabaseError {
            let state = unsafe PQresultErrorField(result, stateField).map { unsafe String(cString: $0) } ?? ""
            let message = unsafe PQresultErrorField(result, messageField).map { unsafe String(cString: $0) } ?? ""
            return DatabaseError(message.isEmpty ? "the connection was lost" : message, state: state)
        }

        // The macros PG_DIAG_SQLSTATE and others are character constants, which are not imported.
        private static let stateField = Int32(UInt8(ascii: "C"))
        private static let messageField = Int32(UInt8(ascii: "M"))
        fileprivate static let severityField = Int32(UInt8(ascii: "V"))

        /// Lends the addresses of C strings, followed by a null address.
        static func withStrings<Result>(
            _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
        ) -> Result {
            var bytes: [CChar] = []
            let starts = strings.map { string in
                defer { bytes += string.utf8.map { CChar(bitPattern: $0) } + [0] }
                return bytes.count
            }
            return unsafe bytes.withUnsafeBufferPointer { buffer in
                let addresses: [UnsafePointer<CChar>?] =
                    unsafe starts.map { unsafe buffer.baseAddress?.advanced(by: $0) } + [nil]
                return unsafe addresses.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
            }
        }
    }

    /// What a server said beside its results.
    private final class Notices { var hasWarning = false }

    /// A row of a result in binary form, valid during the call that receives it.
    @safe struct DatabaseRow {
        private let result: OpaquePointer

        fileprivate init(_ result: OpaquePointer) { unsafe self.result = result }

        /// Whether a column is null.
        func isNull(_ column: Int32) -> Bool { unsafe PQgetisnull(result, 0, column) == 1 }

        /// Returns an integer of two, four or eight bytes; nil for another value.
        func integer(_ column: Int32) -> Int64? {
            withBytes(column) { bytes in
                switch bytes.byteCount {
                case 2: Int64(Int16(bigEndian: bytes.integer(at: 0)))
                case 4: Int64(Int32(bigEndian: bytes.integer(at: 0)))
                case 8: Int64(bigEndian: bytes.integer(at: 0))
                default: nil
                }
            }
        }

        /// Returns a position; nil for another value.
        func position(_ column: Int32) -> Position? { integer(column).flatMap { Position(exactly: $0) } }

        /// Returns the bytes of a column; nil if it is null.
        func bytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : withBytes(column) { $0.toArray() } }

        /// Returns a text; nil if it is null.
        func text(_ column: Int32) -> String? { bytes(column).map { String(decoding: $0, as: UTF8.self) } }

        /// Lends the bytes of a column; empty if it is null.
        func withBytes<Result>(_ column: Int32, _ body: (RawSpan) -> Result) -> Result {
            let count = unsafe PQgetlength(result, 0, column)
            let buffer = unsafe UnsafeRawBufferPointer(start: PQgetvalue(result, 0, column), count: Int(count))
            return unsafe body(buffer.bytes)
        }
    }

    /// The parameters of a statement in binary form.
    struct Parameters {
        private var bytes: [UInt8] = []
        private var ends: [Int] = []

        /// The number of bytes of all parameters.
        var byteCount: Int { bytes.count }

        mutating func add(_ number: Int64) { add { $0.append(bigEndian: number) } }

        mutating func add(_ position: Position) { add(Int64(clamping: position)) }

        mutating func add(_ number: Int32) { add { $0.append(bigEndian: number) } }

        mutating func add(_ text: String) { add { $0 += text.utf8 } }

        mutating func add(_ value: [UInt8]) { add { $0 += value } }

        // 23 and 20 are the types `int4` and `int8` in every database.
        mutating func add(_ numbers: [Int32]) { add(numbers, of: 23) }

        mutating func add(_ numbers: [Int64]) { add(numbers, of: 20) }

        private mutating func add<Number: FixedWidthInteger & BitwiseCopyable>(_ numbers: [Number], of type: Int32) {
            add { bytes in
                bytes.appendArrayHeader(of: type, count: numbers.count)
                for number in numbers {
                    bytes.append(bigEndian: Int32(MemoryLayout<Number>.size))
                    bytes.append(bigEndian: number)
                }
            }
        }

        /// Adds an array of byte strings: ranges of one array.
        mutating func add(arrayOf ranges: [(source: [UInt8], range: Range<Int>)]) {
            add { bytes in
                bytes.appendArrayHeader(of: 17, count: ranges.count)
                for (source, range) in ranges {
                    bytes.append(bigEndian: Int32(range.count))
                    bytes += source[range]
                }
            }
        }

        private mutating func add(_ write: (inout [UInt8]) -> Void) {
            write(&bytes)
            ends.append(bytes.count)
        }

        fileprivate func withAddresses(
            _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) ->
                Int32
        ) -> Int32 {
            // libpq takes a null address for a null value, so there must be one for an empty text.
            unsafe (bytes + [0]).withUnsafeBytes { buffer in
                var (start, lengths) = (0, [] as [Int32])
                var addresses: [UnsafePointer<CChar>?] = unsafe []
                for end in ends {
                    unsafe addresses.append(buffer.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self))
                    lengths.append(Int32(end - start))
                    start = end
                }
                let formats = [Int32](repeating: 1, count: ends.count)
                return unsafe body(Int32(ends.count), addresses, lengths, formats)
            }
        }
    }

    extension [UInt8] {
        fileprivate mutating func append(bigEndian number: some FixedWidthInteger & BitwiseCopyable) {
            append(bytesOf: number.bigEndian)
        }

        /// Appends the header of an array of one dimension without nulls, in PostgreSQL's binary
        /// form (`array_recv`).
        fileprivate mutating func appendArrayHeader(of type: Int32, count: Int) {
            append(bigEndian: Int32(count == 0 ? 0 : 1))
            append(bigEndian: Int32(0))
            append(bigEndian: type)
            if count == 0 { return }
            append(bigEndian: Int32(count))
            append(bigEndian: Int32(1))
        }
    }
#endif
