#if Postgres
    package import EventJournal
    import Locking
    package import Primitives

    extension PostgresLog: MovableLog {
        /// The place to which the log has moved; nil unless it has.
        package func movedTo() throws(JournalError) -> String? {
            let row = try row()
            return row.status == .moved ? row.movedTo ?? "" : nil
        }

        /// Whether the log is a copy that is not finished.
        package func isUnfinishedCopy() throws(JournalError) -> Bool { try row().status == .copy }

        private func row() throws(JournalError) -> Row {
            try checkOpen()
            return try database.reading { (connection) throws(DatabaseError) in
                try Self.findLog(connection, database)
            }
        }

        /// Waits until the database has confirmed everything.
        @discardableResult
        package func syncForCopy() throws(JournalError) -> Position {
            if !isReadOnly { try waitUntilDurable(lastPosition) }
            return durablePosition
        }

        /// Ends the log in this database for good; this writer stops, too.
        ///
        /// - Throws: `conflict` if another position is the last one, `superseded`, `readOnly`,
        ///   `closed`, `unreachable`, `ioFailed`.
        package func fence(at position: Position, destination: String) throws(JournalError) {
            try syncForCopy()
            guard lastPosition == position else {
                throw JournalError(
                    .conflict, "The log's last position is \(lastPosition), not \(position).", path: "\(address)")
            }
            do throws(JournalError) {
                try execute(.fence) { parameters in
                    parameters.add(position)
                    parameters.add(destination)
                }
            } catch {
                // The answer to an earlier attempt may have been lost.
                guard [.superseded, .moved].contains(error.code), try movedTo() == destination else { throw error }
            }
            stop(.moved(to: destination, path: "\(address)"))
        }
    }

    /// A copy of another log in a database, under the log's id.
    ///
    /// It opens for reading only, until ``activateAndClose()``. Each transaction ends at the end of
    /// a source commit, so an interrupted copy is a valid, shorter one.
    package struct PostgresCopy: CopyDestination {
        private let database: Database
        private var writer: CommitWriter
        /// Complete commits that were not sent.
        private var commits: [Commit] = []
        private var unsentByteCount = 0
        /// The records of the commit that is not complete.
        private var bytes: [UInt8] = []
        private var records: [(range: Range<Int>, chain: UInt64)] = []
        private var nextRecordsLeft: Int?
        private var chain: UInt64

        /// The bytes of records in one transaction.
        private static let transactionByteCount = 2 << 20

        /// Creates a copy of a log, or continues one.
        ///
        /// A destination with the status `moved` can become the copy again if the source contains
        /// its history.
        ///
        /// - Throws: `headMismatch` if the name belongs to a log with another history or if the
        ///   copy was finished and has gone on, and the errors of ``PostgresLog/open(_:options:)``.
        package init(
            _ address: String, of source: some StoredRecordLog, options: PostgresOptions = PostgresOptions()
        ) throws(JournalError) {
            database = Database(try PostgresAddress(address), options)
            let database = database
            let (opened, status) = try database.converting { () throws(DatabaseError) in
                try Self.open(database, source.id)
            }
            // An opening for writing has a connection.
            guard let connection = opened.connection, try source.contains(opened.head) else {
                throw JournalError(
                    .headMismatch, "The copy has another history than the log that is copied.",
                    path: "\(database.address)")
            }
            writer = CommitWriter(database, opened, connection, status)
            chain = opened.head.chain
        }

        private static func open(_ database: Database, _ id: JournalID) throws(DatabaseError) -> (OpenedLog, LogStatus)
        {
            for status in [LogStatus.copy, .open] {
                do throws(DatabaseError) {
                    return (try PostgresLog.openForWriting(database, in: status, createdAs: id), status)
                } catch {
                    guard error.finding?.code == .notEmpty || error.finding?.code == .moved else { throw error }
                }
            }
            return (try PostgresLog.openForWriting(database, in: .moved, createdAs: id), .moved)
        }

        package var position: Position { head.position }

        package var head: JournalHead {
            guard let last = commits.last else { return writer.head }
            return JournalHead(journal: writer.head.journal, position: last.last, chain: last.chain)
        }

        package mutating func add(_ record: RawSpan, recordsLeft: Int) throws(JournalError) {
            let position = head.position + Position(records.count) + 1
            guard let stored = StoredRecord(record), recordsLeft >= 1,
                nextRecordsLeft.map({ $0 == recordsLeft }) ?? true
            else {
                throw JournalError(.damaged, "The record does not continue the copy.", positions: position...position)
            }
            guard writer.status != .open else {
                throw JournalError(
                    .headMismatch, "The copy was finished, and is shorter than the log.", path: "\(database.address)")
            }
            chain = StoredRecord.chain(after: chain, originalCRC: stored.originalCRC)
            records.append((bytes.count..<bytes.count + record.byteCount, chain))
            record.append(to: &bytes)
            nextRecordsLeft = recordsLeft == 1 ? nil : recordsLeft - 1
            guard recordsLeft == 1 else { return }
            let first = head.position + 1
            unsentByteCount += bytes.count
            commits.append(Commit(first: first, stored: StoredCommit(bytes: bytes, records: records)))
            (bytes, records) = ([], [])
            if unsentByteCount >= Self.transactionByteCount { try send() }
        }

        package mutating func finish() throws(JournalError) {
            // An unfinished commit is read again by the next run.
            (bytes, records, nextRecordsLeft) = ([], [], nil)
            chain = head.chain
            try send()
            // Readers of the copy see all of it.
            writer.announceEnd()
        }

        package mutating func writeLedger(_ bytes: [UInt8]) throws(JournalError) {
            try writer.execute(.writeLedger) { $0.add(bytes) }
        }

        package mutating func activateAndClose() throws(JournalError) {
            if writer.status != .open { try writer.setStatus(.open) }
            close()
        }

        package func close() {
            writer.close()
            database.close()
        }

        private mutating func send() throws(JournalError) {
            if commits.isEmpty { return }
            if writer.status == .moved { try writer.setStatus(.copy) }
            if let failure = writer.write(commits) { throw failure }
            (commits, unsentByteCount) = ([], 0)
        }
    }
#endif
