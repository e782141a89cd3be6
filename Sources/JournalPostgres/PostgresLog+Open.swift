#if Postgres
    import Dispatch
    public import EventJournal
    import Locking
    import Primitives

    /// What opening a log has found.
    struct OpenedLog {
        /// The key of the log in the tables.
        var logNumber: Int32
        var head: JournalHead
        /// The count of writers; 0 for a log that is open for reading.
        var epoch: Int64 = 0
        /// The connection of the writer; nil for a log that is open for reading.
        var connection: DatabaseConnection?
    }

    extension PostgresLog {
        /// Opens a log for writing, and creates the schema and the log if they do not exist.
        ///
        /// - Parameters:
        ///   - address: See ``PostgresAddress``.
        ///   - options: The options of the log.
        /// - Throws: `invalidAddress`, `unreachable` (no server accepts the connection and writes;
        ///   also for a wrong password and a database that does not exist, which libpq does not
        ///   tell from an outage: the message has the reason of the last server), `accessDenied` (a
        ///   missing right), `locked` (another writer), `copy` and `moved` (the log is a copy that
        ///   is not finished, or its history goes on elsewhere), `newerVersion`, `notFound` (with
        ///   `createIfMissing` off), `headMismatch`, `damaged`, `ioFailed`.
        /// - Complexity: Some round trips; independent of the length of the log.
        public static func open(_ address: String, options: PostgresOptions = PostgresOptions()) throws(JournalError)
            -> PostgresLog
        {
            let database = Database(try PostgresAddress(address), options)
            let opened = try database.converting { () throws(DatabaseError) in
                try openForWriting(database, in: .open)
            }
            let log = PostgresLog(opened, database)
            log.scheduleHeartbeat()
            return log
        }

        /// Opens a log for reading; another process may write it.
        ///
        /// Any server of the address will do, also a standby. The log ends at the last position
        /// that the writer has announced as durable.
        ///
        /// - Throws: `invalidAddress`, `unreachable` (as for ``open(_:options:)``), `accessDenied`
        ///   (a missing right), `notFound`, `newerVersion`, `headMismatch`, `damaged`, `ioFailed`.
        public static func openReadOnly(_ address: String, options: PostgresOptions = PostgresOptions())
            throws(JournalError) -> PostgresLog
        {
            let database = Database(try PostgresAddress(address), options)
            let opened = try database.converting { () throws(DatabaseError) in
                let connection = try database.connectForReading()
                let row = try findLog(connection, database)
                guard let end = try ReadableEnd(connection, row.logNumber) else { throw database.wrongEnd }
                return OpenedLog(logNumber: row.logNumber, head: end.head)
            }
            let log = PostgresLog(opened, database)
            try log.checkHead()
            return log
        }

        /// The row of a log.
        struct Row {
            /// The key of the log in the tables.
            var logNumber: Int32
            var id: JournalID
            var status: LogStatus
            var movedTo: String?
        }

        /// Finds the row of the log.
        static func findLog(_ connection: DatabaseConnection, _ database: Database) throws(DatabaseError) -> Row {
            let version = try Schema.version(connection)
            if version > Schema.migrations.count {
                throw database.finding(.newerVersion, "A newer version has made the tables of the log.")
            }
            switch version > 0 ? try row(connection, database) : .missing {
            case .missing:
                if connection.isStandby { throw .standbyLacksLog }
                throw database.finding(.notFound, "The database has no log of this name.")
            case .invalid: throw database.finding(.damaged, "The row of the log is not valid, or of a newer version.")
            case .valid(let row): return row
            }
        }

        private enum FoundRow {
            case missing
            /// A column has a value that this version does not know.
            case invalid
            case valid(Row)
        }

        private static func row(_ connection: DatabaseConnection, _ database: Database) throws(DatabaseError)
            -> FoundRow
        {
            var parameters = Parameters()
            parameters.add(database.address.log)
            var found = FoundRow.missing
            try connection.execute(.findLog, parameters) { row in
                found = .invalid
                if let number = row.integer(0), let id = row.bytes(1).flatMap(JournalID.init(bytes:)),
                    let status = row.text(2).flatMap(LogStatus.init)
                {
                    found = .valid(
                        Row(logNumber: Int32(truncatingIfNeeded: number), id: id, status: status, movedTo: row.text(3)))
                }
                return true
            }
            return found
        }

        /// Becomes the writer of the log.
        ///
        /// - Parameter status: The status that the log must have; a log that does not exist is
        ///   created with it.
        static func openForWriting(
            _ database: Database, in status: LogStatus, createdAs id: JournalID? = nil
        ) throws(DatabaseError) -> OpenedLog {
            let connection = try database.connectForWriting()
            if database.options.createIfMissing {
                if try Schema.version(connection) < Schema.migrations.count { try Schema.prepare(connection) }
                if case .missing = try row(connection, database) { try create(id, status, connection, database) }
            }
            let row = try findLog(connection, database)
            if let id, id != row.id {
                throw database.finding(.headMismatch, "The name belongs to another log: \(row.id).")
            }
            if row.status != status {
                switch row.status {
                case .copy:
                    throw database.finding(
                        .copy, "The log is a copy that is not finished. Finish it with `copy --finish`.")
                case .moved: throw DatabaseError(JournalError.moved(to: row.movedTo, path: "\(database.address)"))
                case .open: throw database.finding(.notEmpty, "The log is open for writing, and is no copy.")
                }
            }
            // Everything that can refuse the log comes before another writer is ended.
            try checkEnd(of: row, connection, database)
            if database.options.takesOver { try connection.requireLeader() }
            guard try takeLock(row.logNumber, connection, database) else {
                throw database.finding(.locked, "Another writer has the log open.")
            }
            do throws(DatabaseError) { return try begin(row, status, connection, database) } catch {
                guard database.options.takesOver else { throw error }
                let reason = database.error(error)
                throw database.finding(
                    reason.code,
                    "The log was being taken over, and its former writer may have ended. "
                        + "Open the log again. \(reason.message)")
            }
        }

        /// Raises the epoch of a log whose lock the connection has.
        private static func begin(
            _ row: Row, _ status: LogStatus, _ connection: DatabaseConnection, _ database: Database
        ) throws(DatabaseError) -> OpenedLog {
            var parameters = Parameters(row.logNumber)
            parameters.add(status.rawValue)
            let opened = try connection.row(.beginWriting, parameters) { found -> OpenedLog? in
                guard let head = found.head(of: row.id), let epoch = found.integer(2) else { return nil }
                return OpenedLog(logNumber: row.logNumber, head: head, epoch: epoch, connection: connection)
            }
            guard let opened else {
                connection.giveUpLock(row.logNumber)
                throw database.finding(.conflict, "The status of the log has changed meanwhile.")
            }
            // Not in the same transaction: a standby shows what is not durable yet.
            try connection.execute(.announce, Parameters(row.logNumber, epoch: opened.epoch, opened.head))
            return opened
        }

        private static func create(
            _ id: JournalID?, _ status: LogStatus, _ connection: DatabaseConnection, _ database: Database
        ) throws(DatabaseError) {
            var entropy = EntropyPool(SystemEntropy())
            let id = id ?? JournalID.random(&entropy)
            var parameters = Parameters()
            parameters.add(database.address.log)
            parameters.add(id.bytes)
            parameters.add(Int64(bitPattern: StoredRecord.chain(before: id)))
            parameters.add(status.rawValue)
            try connection.execute(.createLog, parameters)
        }

        /// How often a take-over ends the connections of other writers: some 90 seconds.
        ///
        /// A server process that does not end by then waits for something that only the host can
        /// end.
        private static let maximumTakeOverAttempts = 50

        private static func takeLock(
            _ logNumber: Int32, _ connection: DatabaseConnection, _ database: Database
        ) throws(DatabaseError) -> Bool {
            let end = ContinuousClock.now + database.options.lockTimeout
            var pause = Backoff()
            var attempts = 0
            while try connection.integer(.tryLock, logNumber) != 1 {
                attempts += 1
                if database.options.takesOver, attempts < maximumTakeOverAttempts {
                    try connection.execute(.endOtherWriters, Parameters(logNumber))
                } else if .now >= end {
                    return false
                }
                pause.wait()
            }
            return true
        }

        /// Throws unless the last record of the log has the chain value of its row, and the log
        /// contains the head of the options.
        ///
        /// Its writer may append meanwhile, which changes neither.
        private static func checkEnd(
            of row: Row, _ connection: DatabaseConnection, _ database: Database
        ) throws(DatabaseError) {
            let start = JournalHead(journal: row.id, position: 0, chain: StoredRecord.chain(before: row.id))
            typealias End = (head: JournalHead, lastChain: UInt64?)
            let found = try connection.row(.end, Parameters(row.logNumber)) { columns -> End? in
                columns.head(of: row.id).map { ($0, columns.isNull(2) ? nil : columns.chain(2)) }
            }
            guard let end = found?.head, end.position == 0 ? end == start : end.chain == found?.lastChain else {
                throw database.wrongEnd
            }
            guard let expected = database.options.expectedHead else { return }
            let isContained: Bool
            if expected.journal != row.id || expected.position > end.position {
                isContained = false
            } else if expected.position == 0 {
                isContained = expected == start
            } else {
                isContained =
                    try connection.row(.commitEnd, Parameters(row.logNumber, expected.position)) {
                        $0.head(of: row.id)
                    } == expected
            }
            if isContained { return }
            // A leader that was replaced may lack it.
            try connection.requireLeader()
            throw database.missingHead
        }

        /// Throws unless the log contains the head of the options.
        private func checkHead() throws(JournalError) {
            guard let expected = database.options.expectedHead else { return }
            do throws(JournalError) {
                if try contains(expected) { return }
            } catch {
                try? close()
                throw error
            }
            try? close()
            throw database.error(database.missingHead)
        }
    }

    extension JournalError {
        /// The error of a log whose history goes on at another place.
        static func moved(to place: String?, path: String) -> JournalError {
            JournalError(.moved, "The history of this log goes on in \(place ?? "another log").", path: path)
        }
    }

    extension Database {
        /// Runs the work of an opening once, without a second attempt.
        func converting<Result>(_ work: () throws(DatabaseError) -> Result) throws(JournalError) -> Result {
            do throws(DatabaseError) { return try work() } catch { throw self.error(error) }
        }

        /// An error of the log, which no other attempt changes.
        func finding(_ code: JournalError.Code, _ message: String) -> DatabaseError {
            DatabaseError(JournalError(code, message, path: "\(address)"))
        }

        fileprivate var missingHead: DatabaseError {
            finding(.headMismatch, "The log does not contain the expected head.")
        }

        fileprivate var wrongEnd: DatabaseError {
            finding(.damaged, "The last record does not have the chain value of the log's row.")
        }
    }
#endif
