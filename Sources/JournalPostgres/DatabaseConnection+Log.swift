#if Postgres
    import EventJournal
    import Primitives

    extension DatabaseConnection {
        /// Gives up the lock of a writer; the server does it too when the connection ends.
        func giveUpLock(_ log: Int32, _ timeout: Duration) {
            do throws(DatabaseError) { _ = try integer(.giveUpLock, log, timeout) } catch { close() }
        }

        /// Executes a statement on a log and returns its one integer; nil without a row.
        func integer(_ statement: Statement, _ log: Int32, _ timeout: Duration) throws(DatabaseError) -> Int64? {
            var found: Int64?
            try execute(statement, Parameters(log), timeout: timeout) { row in
                found = row.integer(0)
                return true
            }
            return found
        }

        /// Requires that a commit on this server is confirmed.
        ///
        /// A leader that was frozen, and replaced meanwhile, answers questions and accepts writes
        /// until it learns of that; but no standby confirms them.
        ///
        /// - Throws: A transient error on such a server, and on a standby.
        func requireLeader(_ timeout: Duration) throws(DatabaseError) {
            if isStandby { throw DatabaseError(state: "", message: "the standby does not have the history yet") }
            try execute(.barrier, timeout: timeout)
        }
    }

    extension Parameters {
        /// Creates the parameters of a statement on a log.
        init(_ log: Int32) {
            self.init()
            add(log)
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
