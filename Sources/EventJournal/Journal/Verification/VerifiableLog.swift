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
    /// Checks the form and checksum of each record, that the commits follow one another, and that
    /// the chain value of the records is that of the head.
    package func verifyRecords(_ report: (JournalFinding) -> Void) throws(JournalError) {
        var verification = RecordVerification(self)
        let last = verification.head.position
        try verification.run { (add) throws(JournalError) in
            try forEachStoredRecord(in: 1...last) { position, recordsLeft, record in
                add(position, recordsLeft, record, nil)
            }
        }
        for finding in verification.findings { report(finding) }
    }
}

/// Verifies the stored records of a log, from the first one to its head.
package struct RecordVerification {
    /// Adds the next record, with the chain value that the log has stored after it, if any.
    package typealias Add = (_ position: Position, _ recordsLeft: Int, _ record: RawSpan, _ chain: UInt64?) -> Bool

    /// The findings, in the order of the records.
    package private(set) var findings: [JournalFinding] = []
    /// The head up to which the records are verified.
    ///
    /// The log may have grown since.
    package let head: JournalHead
    private var chain: UInt64
    private var next: Position = 1
    /// The `recordsLeft` of the last record; 0 before the first one.
    private var left = 0

    /// Creates the state before the first record.
    package init(_ log: some CommitLog) {
        head = log.head
        chain = StoredRecord.chain(before: log.id)
    }

    /// Reads and checks all records.
    ///
    /// - Parameter read: Calls the closure with each record up to ``head``. Damage that ends it is
    ///   a finding.
    package mutating func run(_ read: (Add) throws(JournalError) -> Void) throws(JournalError) {
        if head.position == 0 { return }
        do throws(JournalError) {
            try read { position, recordsLeft, record, chain in
                add(position, recordsLeft, record, chain)
                return true
            }
        } catch {
            guard error.code == .damaged || error.code == .ioFailed else { throw error }
            findings.append(JournalFinding(error))
            return
        }
        guard findings.isEmpty else { return }
        let last = head.position...head.position
        if next != head.position + 1 {
            findings.append(
                JournalFinding("missingRecords", "Records are missing at the end of the log.", positions: last))
        } else if left != 1 {
            findings.append(JournalFinding("commitTruncated", "The log ends inside a commit.", positions: last))
        } else if chain != head.chain {
            findings.append(
                JournalFinding("chain", "The chain value of the log does not follow from its records.", positions: last)
            )
        }
    }

    private mutating func add(_ position: Position, _ recordsLeft: Int, _ bytes: RawSpan, _ stored: UInt64?) {
        func addFinding(_ problem: String, _ message: String, _ findings: inout [JournalFinding]) {
            findings.append(JournalFinding(problem, message, positions: position...position))
        }
        if position != next { addFinding("missingRecords", "Records are missing before the position.", &findings) }
        if recordsLeft < 1 || left > 1 && recordsLeft != left - 1 {
            addFinding("commitFields", "The record does not continue its commit.", &findings)
        }
        if let record = StoredRecord(bytes) {
            chain = StoredRecord.chain(after: chain, originalCRC: record.originalCRC)
            // After a finding, the chain value is that of other records.
            if let stored, stored != chain, findings.isEmpty {
                addFinding("chain", "The chain value after the record does not follow from the records.", &findings)
            }
        } else {
            addFinding("recordChecksum", "The record is not as it was written.", &findings)
        }
        (next, left) = (position + 1, recordsLeft)
    }
}
