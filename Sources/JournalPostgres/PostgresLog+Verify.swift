#if Postgres
    package import EventJournal

    extension PostgresLog: VerifiableLog {
        /// Checks each record, the order of the commits, and the chain values.
        package func verifyRecords(_ report: (JournalFinding) -> Void) throws(JournalError) {
            var verification = RecordVerification(self)
            let last = verification.head.position
            try verification.run { (add) throws(JournalError) in
                // Not called for an empty log. The verification goes on after a wrong chain value.
                try read(1...last, .recordsInRange, checksChain: false) { place, _, bytes in
                    add(place.position, place.recordsLeft, bytes, place.chain)
                }
            }
            for finding in verification.findings { report(finding) }
        }
    }
#endif
