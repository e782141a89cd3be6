#if Postgres
    public import EventJournal
    package import Primitives

    extension PostgresLog {
        /// Creates or continues a copy of the log as a journal in a directory.
        ///
        /// The journal has the log's id, records, proofs and ledger. Content that was erased in the
        /// log since an earlier run, or during this one, is erased in the journal. To restore the
        /// log, copy the journal to a database.
        ///
        /// - Throws: As `Journal.backup(_:to:options:)`, and `unreachable`, `accessDenied`.
        /// - Complexity: Linear in the new records, and in the segments that have lost content.
        @discardableResult
        public func backup(to destination: String, upTo position: Position? = nil) throws(JournalError) -> BackupReport
        {
            try backup(to: destination, upTo: position, options: JournalOptions())
        }

        /// Returns the records up to a position that have no content.
        ///
        /// - Complexity: Linear in these records, which have an index of their own.
        package func erasedRecords(through last: Position) throws(JournalError) -> PositionSet {
            if last == 0 { return PositionSet() }
            var erased = PositionSet()
            var isValid = true
            try reading(of: head, through: last) { (connection) throws(DatabaseError) in
                erased = PositionSet()
                try connection.execute(.erasedRecords, Parameters(logNumber, last)) { row in
                    guard let position = row.position(0), position >= 1 else {
                        isValid = false
                        return false
                    }
                    erased.append(position)
                    return true
                }
            }
            guard isValid else { throw damaged("A record without content has no position.", 1...last) }
            return erased
        }
    }
#endif
