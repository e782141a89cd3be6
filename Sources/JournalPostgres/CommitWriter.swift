#if Postgres
    import EventJournal

    /// A commit that was appended, with the positions and chain values of its records.
    struct Commit: Sendable {
        let first: Position
        let stored: StoredCommit

        var last: Position { first + Position(stored.records.count) - 1 }
        /// Since when its answer is waited for.
        var appendedAt = ContinuousClock.now

        /// The chain value after the commit.
        var chain: UInt64 { stored.records[stored.records.count - 1].chain }
    }

    /// The connection of the only writer of a log, and what it does when the connection is lost.
    ///
    /// Every change of a log goes through it, one after another: a statement that is repeated after
    /// a lost answer cannot overtake a later one.
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
        /// Why this writer can never write again; nil if it can.
        private(set) var failure: JournalError?
        /// The last position of which readers were notified.
        private var announced: Position
        /// When the database last confirmed that the log is this writer's.
        private var confirmedAt = ContinuousClock.now
        /// Since when the database does not answer; nil if it does.
        private var outageStart: ContinuousClock.Instant?
        /// The end of an outage, at which the log stops, and so of each attempt meanwhile.
        private var limit: ContinuousClock.Instant? { outageStart.map { $0 + database.options.outageTimeout } }
        /// Nil while the connection is lost.
        private var connection: DatabaseConnection?

        init(_ database: Database, _ opened: OpenedLog, _ connection: DatabaseConnection, _ status: LogStatus) {
            (self.database, self.connection, self.status) = (database, connection, status)
            (logNumber, epoch, head, announced) = (opened.logNumber, opened.epoch, opened.head, opened.head.position)
        }

        /// Makes commits that follow ``head`` durable, and advances it.
        ///
        /// Each attempt writes all of them in one transaction. After a lost answer the database
        /// says which of them it has.
        ///
        /// - Returns: Why the commits after ``head`` are not durable, and the log has stopped; nil
        ///   if all are.
        mutating func write(_ commits: [Commit]) -> JournalError? {
            var rest = commits[...]
            return repeating { (writer) throws(DatabaseError) in
                if writer.connection == nil { try writer.reconnect(&rest) }
                if !rest.isEmpty { try writer.insert(rest) }
            }
        }

        /// Executes another statement that changes something only if this writer is not superseded.
        ///
        /// - Parameter parameters: Those after the log and the epoch. The statement may be
        ///   repeated.
        mutating func execute(_ statement: Statement, _ add: (inout Parameters) -> Void) throws(JournalError) {
            var parameters = Parameters(logNumber, epoch: epoch)
            add(&parameters)
            var count = 0
            let wait = database.contact.beginWait()
            defer { database.contact.endWait(wait) }
            let failure = repeating { (writer) throws(DatabaseError) in
                try writer.reconnectIfLost()
                guard let connection = writer.connection else { return }
                count = try connection.execute(statement, parameters)
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
        private mutating func repeating(_ work: (inout CommitWriter) throws(DatabaseError) -> Void) -> JournalError? {
            var pause = Backoff()
            while true {
                let outage: (error: JournalError, limit: ContinuousClock.Instant)
                switch attempt(work) {
                case .done: return nil
                case .failed(let error): return error
                case .outage(let error, let limit): outage = (error, limit)
                }
                guard .now < outage.limit else { return outage.error }
                pause.wait(until: outage.limit)
            }
        }

        private enum Attempt {
            case done
            /// The connection is lost; another attempt can succeed until the limit.
            case outage(JournalError, until: ContinuousClock.Instant)
            case failed(JournalError)
        }

        private mutating func attempt(_ work: (inout CommitWriter) throws(DatabaseError) -> Void) -> Attempt {
            if let failure { return .failed(failure) }
            let start = ContinuousClock.now
            do throws(DatabaseError) {
                try work(&self)
                connection?.limit = nil
                if outageStart != nil { database.report(.info, "The connection to the database is restored.") }
                outageStart = nil
                return .done
            } catch {
                connection = nil
                if let finding = error.finding {
                    failure = finding
                    return .failed(finding)
                }
                if outageStart == nil {
                    let what = error.hasSQLState ? "A statement failed" : "The connection to the database is lost"
                    database.report(.warning, "\(what): \(error.message).")
                }
                guard error.isTransient else { return .failed(database.error(error)) }
                // A long statement may have been answered in parts before.
                let since = outageStart ?? max(start, .now - database.options.answerTimeout)
                outageStart = since
                return .outage(database.error(error), until: since + database.options.outageTimeout)
            }
        }

        // MARK: Between commits

        /// What became of ``tend()``.
        enum Tending {
            /// Readers were notified up to this position.
            case announced(Position)
            /// The database could not be reached.
            case outage
            case failed(JournalError)
        }

        /// Announces the head unless that was done, and compares the log with it unless the
        /// database has confirmed it within the last heartbeat.
        ///
        /// Makes one attempt, so that callers with commits get the writer between two attempts of a
        /// long outage.
        mutating func tend() -> Tending {
            let attempt = attempt { (writer) throws(DatabaseError) in
                try writer.reconnectIfLost()
                if writer.announced < writer.head.position { try writer.announce() }
                if .now - writer.confirmedAt >= writer.database.options.heartbeatInterval,
                    let connection = writer.connection
                {
                    var none: ArraySlice<Commit> = []
                    try writer.compare(connection, &none)
                }
            }
            switch attempt {
            case .done: return .announced(announced)
            case .outage(_, let limit) where .now < limit: return .outage
            case .failed(let error), .outage(let error, _):
                failure = error
                return .failed(error)
            }
        }

        /// Announces the head, if the connection exists; before the end of the writer.
        ///
        /// Without the announcement, readers look for later records themselves.
        mutating func announceEnd() {
            guard connection != nil, announced < head.position else { return }
            do throws(DatabaseError) { try announce() } catch { connection = nil }
        }

        private mutating func announce() throws(DatabaseError) {
            guard let connection else { return }
            let count = try connection.execute(.announce, Parameters(logNumber, epoch: epoch, head))
            if count == 0 {
                // The comparison says why.
                var none: ArraySlice<Commit> = []
                try compare(connection, &none)
            }
            announced = head.position
        }

        private mutating func reconnectIfLost() throws(DatabaseError) {
            var none: ArraySlice<Commit> = []
            if connection == nil { try reconnect(&none) }
        }

        /// Gives up the log and ends the connection.
        ///
        /// The server would notice the end of the connection a moment later, and the next writer
        /// might find the log locked.
        func close() {
            connection?.giveUpLock(logNumber)
            connection?.close()
        }

        /// Inserts the records of commits in one transaction, and advances the head.
        private mutating func insert(_ commits: ArraySlice<Commit>) throws(DatabaseError) {
            guard let connection, let last = commits.last else { return }
            let records = commits.reduce(0) { $0 + $1.stored.records.count }
            var parameters = Parameters(logNumber, epoch: epoch, head)
            parameters.add(JournalHead(journal: head.journal, position: last.last, chain: last.chain))
            parameters.add(status.rawValue)
            parameters.add(records: commits)
            let count = try connection.execute(.append, parameters)
            guard count == records else {
                // The answer to an earlier attempt may have been lost: a new connection tells.
                throw DatabaseError("the log is not as this writer left it")
            }
            (head.position, head.chain) = (last.last, last.chain)
            noteConfirmation()
        }

        private mutating func noteConfirmation() {
            confirmedAt = .now
            database.contact.noteAnswer()
        }

        /// Connects again, and finds out which commits the database has.
        private mutating func reconnect(_ commits: inout ArraySlice<Commit>) throws(DatabaseError) {
            let connection = try database.connectForWriting(until: limit ?? .now + database.options.outageTimeout)
            guard try takeLock(connection) else {
                // The status of the log says whether it has moved.
                try compare(connection, &commits)
                throw DatabaseError(superseded)
            }
            try compare(connection, &commits)
            self.connection = connection
        }

        /// Compares the log with what this writer left, and advances the head over the commits that
        /// the database has.
        ///
        /// Nothing is announced before. The answer makes durable what it shows: a server shows
        /// commits after a restart, or after an interrupted wait, that no standby has. A server
        /// that was replaced cannot give it.
        private mutating func compare(_ connection: DatabaseConnection, _ commits: inout ArraySlice<Commit>)
            throws(DatabaseError)
        {
            typealias Found = (head: JournalHead, epoch: Int64, status: LogStatus?, movedTo: String?)
            let found = try connection.row(.confirm, Parameters(logNumber)) { row -> Found? in
                guard let end = row.head(of: head.journal), let epoch = row.integer(2) else { return nil }
                return (end, epoch, row.text(3).flatMap(LogStatus.init), row.text(4))
            }
            guard let found else {
                // Without a row, the statement has made no commit that only a leader confirms.
                try connection.requireLeader()
                throw database.finding(.notFound, "The log has been removed.")
            }
            if found.epoch < epoch { throw DatabaseError(setBackError(to: found.head.position)) }
            guard found.epoch == epoch else {
                try keepCommitsOfDatabase(connection, &commits)
                if found.status == .moved, status != .moved {
                    throw DatabaseError(JournalError.moved(to: found.movedTo, path: "\(database.address)"))
                }
                throw DatabaseError(superseded)
            }
            guard found.status == status else {
                throw database.finding(.conflict, "The status of the log was changed under its writer.")
            }
            if found.head != head {
                guard
                    let index = commits.firstIndex(where: {
                        $0.last == found.head.position && $0.chain == found.head.chain
                    })
                else {
                    throw DatabaseError(setBackError(to: found.head.position))
                }
                head = found.head
                commits = commits[(index + 1)...]
            }
            noteConfirmation()
        }

        private func setBackError(to position: Position) -> JournalError {
            JournalError(
                .damaged, "The database ends at position \(position) and does not have the commits that it confirmed.",
                path: "\(database.address)", positions: min(position, head.position) + 1...head.position + 1)
        }

        /// Takes the lock of the writer; false if the log has another writer.
        ///
        /// The server may not have noticed yet that an earlier connection of this writer is lost,
        /// so that connection is ended.
        private func takeLock(_ connection: DatabaseConnection) throws(DatabaseError) -> Bool {
            var pause = Backoff()
            for _ in 0..<8 {
                guard try connection.integer(.epoch, logNumber) == epoch else { return false }
                if try connection.integer(.tryLock, logNumber) == 1 { return true }
                try connection.execute(.endOtherWriters, Parameters(logNumber))
                pause.wait(until: limit)
            }
            throw DatabaseError("the lock of the log is held")
        }

        /// Advances the head over the commits that were written before another writer took over.
        private mutating func keepCommitsOfDatabase(
            _ connection: DatabaseConnection, _ commits: inout ArraySlice<Commit>
        ) throws(DatabaseError) {
            var parameters = Parameters(logNumber)
            parameters.add(commits.map { Int64(clamping: $0.last) })
            var chains: [Position: UInt64] = [:]
            try connection.execute(.barrier)
            try connection.execute(.chainsAtPositions, parameters) { row in
                if let position = row.position(0), let chain = row.chain(1) { chains[position] = chain }
                return true
            }
            while let first = commits.first, chains[first.last] == first.chain {
                (head.position, head.chain) = (first.last, first.chain)
                commits.removeFirst()
            }
        }

        private var superseded: JournalError {
            JournalError(.superseded, "Another writer has taken over the log.", path: "\(database.address)")
        }
    }

    extension Parameters {
        /// Adds the numbers of records left, the chain values and the records of commits, as
        /// arrays.
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
