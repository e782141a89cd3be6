#if Postgres
    public import EventJournal

    extension PostgresLog: BackupLog {
        /// Creates or continues a copy of the log as a journal in a directory.
        ///
        /// The journal has the log's id, records and proofs. Content that was erased in the log
        /// since an earlier run is erased in the journal. To restore the log, copy the journal to a
        /// database.
        ///
        /// - Throws: `outOfRange`, `closed`, `headMismatch`, `copy` and `moved` (the directory is
        ///   not a backup), `unreachable`, `damaged`, and the errors of `Journal.open(_:options:)`.
        /// - Complexity: Linear in the new records; a copy that is continued is read completely.
        @discardableResult
        public func backup(to destination: String, upTo position: Position?) throws(JournalError) -> BackupReport {
            try LogCopy.backup(of: self, to: destination, upTo: position)
        }
    }
#endif
