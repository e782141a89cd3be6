#if Postgres
    import EventJournal

    /// A commit that was appended, with the positions and chain values of its records.
    struct Commit: Sendable {
        let first: Position
        let stored: StoredCommit

        var last: Position { first + Position(stored.records.count) - 1 }
        /// The chain value after the commit.
        var chain: UInt64 { stored.records[stored.records.count - 1].chain }
    }

    /// The connection of the only writer of a log, and what it does when the connection is lost.
    ///
    /// Every change of a log goes through it, one after another: a statement that is repeated after a
    /// lost answer cannot overtake a later one.
    struct CommitWriter {
        let database: Database
        /// The key of the log in the tables.
        let logNumber: Int32
        /// The count of writers with which this one began.
        let epoch: Int64
        /// The status that the log must have.
        private(set) var status: LogStatus
        /// The last durable commit.
        private(set) var head: JournalHead
        /// Nil while the connection is lost.
        private var connection: DatabaseConnection?

        private enum Failure: Error {
            case database(DatabaseError)
            /// No later attempt can succeed.
            case final(JournalError)
        }

        init(_ database: Database, _ opened: OpenedLog, _ connection: DatabaseConnection, _ status: LogStatus) {
            (self.database, self.connection, self.status) = (database, connection, status)
            (logNumber, epoch, head) = (opened.logNumber, opened.epoch, opened.head)
        }

        /// Makes commits that follow ``head`` durable, and advances it.
        ///
        /// Each attempt writes all of them in one transaction. After a lost answer the database says
        /// which of them it has.
        ///
        /// - Returns: Why the commits after ``head`` are not durable, and the log has stopped; nil if
        ///   all are.
        mutating func write(_ commits: [Commit]) -> JournalError? {
            var rest = commits[...]
            return repeating { (writer) throws(Failure) in
                if writer.connection == nil { try writer.reconnect(&rest) }
                if !rest.isEmpty { try writer.insert(rest) }
            }
        }

        /// Executes another statement that changes something only if this writer is not superseded.
        ///
        /// - Parameter parameters: Those after the log and the epoch. The statement may be repeated.
        mutating func execute(_ statement: Statement, _ add: (inout Parameters) -> Void) throws(JournalError) {
            var parameters = self.parameters
            add(&parameters)
            let timeout = database.answerTimeout + .seconds(parameters.byteCount >> 20)
            var count = 0
            let failure = repeating { (writer) throws(Failure) in
                var none: ArraySlice<Commit> = []
                if writer.connection == nil { try writer.reconnect(&none) }
                guard let connection = writer.connection else { return }
                count = try writer.converting { () throws(DatabaseError) in
                    try connection.execute(statement, parameters, timeout: timeout)
                }
            }
            if let failure { throw failure }
            guard count > 0 else { throw superseded }
        }

        /// Changes the status of the log.
        mutating func setStatus(_ status: LogStatus) throws(JournalError) {
            try execute(.setStatus) { $0.add(status.rawValue) }
            self.status = status
        }

        /// Does some work, again on a new connection if one is lost, until the time limit.
        ///
        /// - Returns: Why it was not done; nil if it was.
        private mutating func repeating(_ work: (inout CommitWriter) throws(Failure) -> Void) -> JournalError? {
            var (end, pause) = (ContinuousClock.Instant?.none, Backoff())
            while true {
                do throws(Failure) {
                    try work(&self)
                    if end != nil { database.report(.info, "The connection to the database is restored.") }
                    return nil
                } catch {
                    connection = nil
                    let lost: DatabaseError
                    switch error {
                    case .final(let error): return error
                    case .database(let error): lost = error
                    }
                    if end == nil {
                        let what = lost.hasSQLState ? "A statement failed" : "The connection to the database is lost"
                        database.report(.warning, "\(what): \(lost.message).")
                    }
                    let limit = end ?? .now + database.options.outageTimeout
                    end = limit
                    guard lost.isTransient, .now + pause.next < limit else { return database.error(lost) }
                    pause.wait()
                }
            }
        }

        /// Announces the last durable position to readers, if the connection exists.
        ///
        /// A failure needs no answer: the next append announces the position too.
        mutating func announce(_ position: Position) {
            guard let connection else { return }
            do throws(DatabaseError) {
                try connection.execute(.announce, writerParameters(position), timeout: database.answerTimeout)
            } catch {
                self.connection = nil
            }
        }

        /// Gives up the log and ends the connection.
        ///
        /// The server would notice the end of the connection a moment later, and the next writer might
        /// find the log locked.
        func close() {
            connection?.giveUpLock(logNumber, database.answerTimeout)
            connection?.close()
        }

        /// Inserts the records of commits in one transaction, and advances the head.
        private mutating func insert(_ commits: ArraySlice<Commit>) throws(Failure) {
            guard let connection, let last = commits.last else { return }
            let records = commits.reduce(0) { $0 + $1.stored.records.count }
            var parameters = parameters
            parameters.add(head.position)
            parameters.add(last.last)
            parameters.add(Int64(bitPattern: last.chain))
            parameters.add(head.position)
            parameters.add(status.rawValue)
            parameters.add(records: commits)
            let timeout = database.answerTimeout + .seconds(parameters.byteCount >> 20)
            let count = try converting { () throws(DatabaseError) in try connection.execute(.append, parameters, timeout: timeout) }
            guard count == records else {
                // The answer to an earlier attempt may have been lost: a new connection tells.
                throw .database(DatabaseError(state: "", message: "the log is not as this writer left it"))
            }
            (head.position, head.chain) = (last.last, last.chain)
        }

        /// Connects again, and finds out which commits the database has.
        private mutating func reconnect(_ commits: inout ArraySlice<Commit>) throws(Failure) {
            let connection = try converting { () throws(DatabaseError) in try database.connectForWriting() }
            guard try converting({ () throws(DatabaseError) in try takeLock(connection) }) else {
                try keepCommitsOfDatabase(connection, &commits)
                throw .final(superseded)
            }
            var found: (position: Position, chain: UInt64, status: LogStatus?)?
            let confirmation = writerParameters(head.position)
            try converting { () throws(DatabaseError) in
                // Also makes durable what the database has: a server shows commits after a
                // restart, or after an interrupted wait, that no standby has.
                try connection.execute(.announceAndConfirm, confirmation, timeout: database.answerTimeout) { row in
                    if let position = row.position(0), let chain = row.integer(1) {
                        found = (position, UInt64(bitPattern: chain), row.text(2).flatMap(LogStatus.init))
                    }
                    return true
                }
            }
            guard let found else {
                try keepCommitsOfDatabase(connection, &commits)
                throw .final(superseded)
            }
            guard found.status == status else {
                throw .final(JournalError(.conflict, "The status of the log was changed under its writer.", path: "\(database.address)"))
            }
            if found.position != head.position || found.chain != head.chain {
                guard let index = commits.firstIndex(where: { $0.last == found.position && $0.chain == found.chain }) else {
                    throw .final(
                        JournalError(
                            .damaged, "The database ends at position \(found.position) and does not have the commits that it confirmed.",
                            path: "\(database.address)", positions: min(found.position, head.position) + 1...head.position + 1))
                }
                (head.position, head.chain) = (found.position, found.chain)
                commits = commits[(index + 1)...]
            }
            self.connection = connection
        }

        /// Takes the lock of the writer; false if the log has another writer.
        ///
        /// The server may not have noticed yet that an earlier connection of this writer is lost, so
        /// that connection is ended.
        private func takeLock(_ connection: DatabaseConnection) throws(DatabaseError) -> Bool {
            var pause = Backoff()
            for _ in 0..<8 {
                guard try connection.integer(.epoch, logNumber, database.answerTimeout) == epoch else { return false }
                if try connection.integer(.tryLock, logNumber, database.answerTimeout) == 1 { return true }
                try connection.execute(.endOtherWriters, Parameters(logNumber), timeout: database.answerTimeout)
                pause.wait()
            }
            throw DatabaseError(state: "", message: "the lock of the log is held")
        }

        /// Advances the head over the commits that were written before another writer took over.
        private mutating func keepCommitsOfDatabase(
            _ connection: DatabaseConnection, _ commits: inout ArraySlice<Commit>
        ) throws(Failure) {
            var parameters = Parameters(logNumber)
            parameters.add(commits.map { Int64(clamping: $0.last) })
            var chains: [Position: UInt64] = [:]
            try converting { () throws(DatabaseError) in
                try connection.execute(.barrier, timeout: database.answerTimeout)
                try connection.execute(.chainsAtPositions, parameters, timeout: database.answerTimeout) { row in
                    if let position = row.position(0), let chain = row.integer(1) { chains[position] = UInt64(bitPattern: chain) }
                    return true
                }
            }
            while let first = commits.first, chains[first.last] == first.chain {
                (head.position, head.chain) = (first.last, first.chain)
                commits.removeFirst()
            }
        }

        private var superseded: JournalError {
            JournalError(.superseded, "Another writer has taken over the log.", path: "\(database.address)")
        }

        private func writerParameters(_ position: Position) -> Parameters {
            var parameters = parameters
            parameters.add(position)
            return parameters
        }

        /// The log and the epoch, with which each statement of a writer begins.
        private var parameters: Parameters {
            var parameters = Parameters(logNumber)
            parameters.add(epoch)
            return parameters
        }

        @discardableResult
        private func converting<Result>(_ work: () throws(DatabaseError) -> Result) throws(Failure) -> Result {
            do throws(DatabaseError) { return try work() } catch { throw .database(error) }
        }
    }

    extension Parameters {
        /// Adds the numbers of records left, the chain values and the records of commits, as arrays.
        mutating func add(records commits: some Collection<Commit>) {
            var (left, chains, records) = ([] as [Int32], [] as [Int64], [] as [(source: [UInt8], range: Range<Int>)])
            for commit in commits {
                for (index, record) in commit.stored.records.enumerated() {
                    left.append(Int32(commit.stored.records.count - index))
                    chains.append(Int64(bitPattern: record.chain))
                    records.append((commit.stored.bytes, record.range))
                }
            }
            add(left)
            add(chains)
            add(arrayOf: records)
        }
    }
#endif
