#if Postgres
    import EventJournal
    import Primitives

    extension DatabaseConnection {
        /// Gives up the lock of a writer; the server does it too when the connection ends.
        func giveUpLock(_ log: Int32) {
            do throws(DatabaseError) { _ = try integer(.giveUpLock, log) } catch { close() }
        }

        /// Executes a statement and returns what a closure reads from its one row; nil without a
        /// row.
        func row<Value>(
            _ statement: Statement, _ parameters: Parameters, _ read: (DatabaseRow) -> Value?
        ) throws(DatabaseError) -> Value? {
            var found: Value?
            try execute(statement, parameters) { row in
                found = read(row)
                return true
            }
            return found
        }

        /// Executes a statement on a log and returns its one integer; nil without a row.
        func integer(_ statement: Statement, _ log: Int32) throws(DatabaseError) -> Int64? {
            try row(statement, Parameters(log)) { $0.integer(0) }
        }

        /// Requires that a commit on this server is confirmed.
        ///
        /// A leader that was frozen, and replaced meanwhile, answers questions and accepts writes
        /// until it learns of that; but no standby confirms them.
        ///
        /// - Throws: A transient error on such a server, and on a standby.
        func requireLeader() throws(DatabaseError) {
            if isStandby { throw DatabaseError("the standby does not have the history yet") }
            try execute(.barrier)
        }
    }

    extension Parameters {
        /// Creates the parameters of a statement on a log that begin with positions.
        init(_ log: Int32, _ positions: Position...) {
            self.init()
            add(log)
            for position in positions { add(position) }
        }

        /// Creates the parameters of a writer's statement, which name its epoch.
        init(_ log: Int32, epoch: Int64, _ head: JournalHead? = nil) {
            self.init(log)
            add(epoch)
            if let head { add(head) }
        }

        /// Adds the position and the chain value of a head.
        mutating func add(_ head: JournalHead) {
            add(head.position)
            add(Int64(bitPattern: head.chain))
        }
    }

    extension DatabaseRow {
        /// Returns a chain value; nil for another value.
        func chain(_ column: Int32) -> UInt64? { integer(column).map(UInt64.init(bitPattern:)) }

        /// Returns the head whose position is in the first column and whose chain value is in the
        /// second.
        func head(of log: JournalID) -> JournalHead? {
            guard let position = position(0), let chain = chain(1) else { return nil }
            return JournalHead(journal: log, position: position, chain: chain)
        }
    }

    extension JournalID {
        /// Creates the id with these 16 bytes.
        init?(bytes: [UInt8]) {
            guard bytes.count == 16 else { return nil }
            self.init(bits: bytes.reduce(0) { $0 << 8 | UInt128($1) })
        }

        /// The 16 bytes of the UUID.
        var bytes: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: bits >> (8 * (15 - $0))) } }
    }
#endif
