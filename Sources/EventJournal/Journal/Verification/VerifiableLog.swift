internal import Primitives

/// A log that can check its stored records beyond what each read checks.
package protocol VerifiableLog: CommitLog {
    /// Rereads all durable records and reports each finding; continues after it where possible.
    ///
    /// An undamaged log has no findings.
    ///
    /// - Throws: `closed`, and the errors of a log that cannot be reached.
    func verifyRecords(_ report: (JournalFinding) -> Void) throws(JournalError)
}

extension Journal: VerifiableLog {
    package func verifyRecords(_ report: (JournalFinding) -> Void) throws(JournalError) { try verify(report) }
}

extension VerifiableLog where Self: StoredRecordLog {
    /// Checks the form and checksum of each record, that the commits follow one another, and that the
    /// chain value of the records is that of the head.
    package func verifyRecords(_ report: (JournalFinding) -> Void) throws(JournalError) {
        let head = head
        if head.position == 0 { return }
        var (chain, next, left) = (StoredRecord.chain(before: id), Position(1), 0)
        var isWhole = true
        do throws(JournalError) {
            try forEachStoredRecord(in: 1...head.position) { position, recordsLeft, bytes in
                func add(_ problem: String, _ message: String) {
                    isWhole = false
                    report(JournalFinding(problem, message, positions: position...position))
                }
                if position != next { add("missingRecords", "Records are missing before the position.") }
                if recordsLeft < 1 || left > 1 && recordsLeft != left - 1 {
                    add("commitFields", "The record does not continue its commit.")
                }
                if let record = StoredRecord(bytes) {
                    chain = StoredRecord.chain(after: chain, originalCRC: record.originalCRC)
                } else {
                    add("recordChecksum", "The record is not as it was written.")
                }
                (next, left) = (position + 1, recordsLeft)
                return true
            }
        } catch {
            guard error.code == .damaged || error.code == .ioFailed else { throw error }
            return report(JournalFinding(error))
        }
        let last = head.position...head.position
        if isWhole && next != head.position + 1 {
            report(JournalFinding("missingRecords", "Records are missing at the end of the log.", positions: last))
        } else if isWhole && left != 1 {
            report(JournalFinding("commitTruncated", "The log ends inside a commit.", positions: last))
        } else if isWhole && chain != head.chain {
            report(JournalFinding("chain", "The chain value of the log does not follow from its records.", positions: last))
        }
    }
}
