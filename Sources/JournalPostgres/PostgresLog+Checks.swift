#if Postgres
    package import EventJournal
    import Locking
    import Primitives

    extension PostgresLog {
        /// Throws `closed` after the log was closed.
        package func checkOpen() throws(JournalError) {
            try state.withLock { (state) throws(JournalError) in try state.checkOpen() }
        }

        /// Throws the error that keeps the log from being written.
        func checkWritable() throws(JournalError) {
            if isReadOnly { throw readOnly }
            try state.withLock { (state) throws(JournalError) in try state.checkRunning() }
        }

        /// Executes a statement of a writer on its connection.
        ///
        /// - Throws: `readOnly` on a log that is open for reading; the errors of
        ///   ``CommitWriter/execute(_:_:)``.
        func execute(_ statement: Statement, _ add: (inout Parameters) -> Void) throws(JournalError) {
            if isReadOnly { throw readOnly }
            var failure: JournalError?
            defer { if let failure { stop(failure) } }
            try writer.withLock { (writer) throws(JournalError) in
                defer { failure = writer?.failure }
                try writer?.execute(statement, add)
            }
        }

        var readOnly: JournalError { JournalError(.readOnly, "The log is open for reading only.", path: "\(address)") }

        func damaged(_ message: String, _ positions: ClosedRange<Position>) -> JournalError {
            JournalError(.damaged, message, path: "\(address)", positions: positions)
        }

        // MARK: The history

        /// Runs a read on a server that has the history of a head, as far as a position.
        ///
        /// A server can have other records at the same positions: appended to a leader that was
        /// replaced before they were durable. Chain values are cumulative, so one comparison is
        /// enough. A connection remembers it.
        ///
        /// - Throws: `damaged` if the log has been set back, which also stops it; the errors of
        ///   ``Database/reading(_:)``.
        @discardableResult
        func reading<Result>(
            of head: JournalHead, through position: Position,
            _ body: (DatabaseConnection) throws(DatabaseError) -> Result
        ) throws(JournalError) -> Result {
            try database.reading { (connection) throws(DatabaseError) in
                if connection.knownThrough < position {
                    var parameters = Parameters(logNumber)
                    parameters.add([Int64(clamping: head.position)])
                    guard try connection.row(.chainsAtPositions, parameters, { $0.chain(1) }) == head.chain else {
                        try connection.requireLeader()
                        let error = setBack(from: head)
                        stop(error)
                        throw DatabaseError(error)
                    }
                    connection.knownThrough = head.position
                }
                return try body(connection)
            }
        }

        func setBack(from head: JournalHead) -> JournalError {
            damaged("The log has been set back: it has another history than was read.", head.position...head.position)
        }
    }
#endif
