import Primitives

@testable import EventJournal

/// Invariants of a journal in an arbitrary state.
///
/// A failed opening changes no byte. Both ways of opening agree. An opened journal reads the same
/// records after a crash and after a close, has no new findings, and accepts a commit. Opening does
/// not read sealed segments: if one is damaged, both ways of opening throw the same error when a
/// read reaches it, and verification finds it.
enum JournalHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    /// A finding and its segment.
    private struct Finding: Hashable {
        var problem: String
        var segment: String?

        init(_ finding: JournalFinding) { (problem, segment) = (finding.problem, finding.segment) }
    }

    private struct StoredRecord: Equatable {
        var state: RecordContentState
        var kept: [UInt8]
        var erasable: [UInt8]
    }

    static func check(_ input: [UInt8]) throws {
        let image = try JournalImage(input)
        let before = image.storage.allContents()
        let reading = makeResult { () throws(JournalError) in
            try Journal.openReadOnly(JournalImage.directory, options: image.options)
        }
        // Verification continues after damage; opening stops there.
        var unexpecting = image.options
        unexpecting.expectedHead = nil
        var known: Set<Finding> = []
        _ = makeResult { () throws(JournalError) in
            try Journal.verify(JournalImage.directory, options: unexpecting) { known.insert(Finding($0)) }
        }
        try require(image.storage.allContents() == before, "reading has changed a byte")

        var options = image.options
        let disk = image.storage.copy()
        options.storage = disk
        switch (
            reading,
            makeResult { () throws(JournalError) in try Journal.open(JournalImage.directory, options: options) }
        ) {
        case (.failure(let first), .failure(let second)):
            try require(first.code == second.code, "the errors differ: \(first) and \(second)")
            var after = disk.allContents()
            // The writer creates the empty lock file before it validates anything. Its presence
            // alone does not make a journal.
            let lock = after.removeValue(forKey: JournalImage.directory + "/" + JournalFileName.lock)
            try require(lock?.isEmpty ?? true, "the lock file has bytes")
            let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
            try require(changed.isEmpty, "a failed opening has changed \(changed): \(second)")
        case (.success(let reader), .success(let writer)):
            try require(
                reader.recovery.lastPosition >= reader.recovery.attestedPosition, "attested records are missing")
            let records: [StoredRecord]
            do {
                records = try storedRecords(of: reader)
            } catch ReadError<Never>.journal(let error) where error.code == .damaged {
                return try checkDamaged(writer, error, unexpecting)
            }
            // Opening reads only the ends of a sealed segment. Damage there that costs no record
            // stays unchanged.
            try checkOpened(writer, records, options, disk, known)
        case (.success, .failure(let error)):
            throw Violation(message: "only a reader opens it; a writer fails with \(error)")
        case (.failure(let error), .success):
            throw Violation(message: "only a writer opens it; a reader fails with \(error)")
        }
    }

    private static func checkDamaged(_ writer: Journal, _ error: JournalError, _ options: JournalOptions) throws {
        do {
            _ = try storedRecords(of: writer)
            throw Violation(message: "a writer reads what a reader does not: \(error)")
        } catch ReadError<Never>.journal(let other) {
            try require(
                other.code == error.code && other.segment == error.segment, "the errors differ: \(error) and \(other)")
        }
        var findings = 0
        try Journal.verify(JournalImage.directory, options: options) { _ in findings += 1 }
        try require(findings > 0, "verification does not find \(error)")
        try writer.close()
    }

    private static func checkOpened(
        _ writer: Journal, _ records: [StoredRecord], _ options: JournalOptions, _ disk: MemoryStorage,
        _ known: Set<Finding>
    ) throws {
        try require(try storedRecords(of: writer) == records, "a writer reads other records than a reader")
        var crashed = options
        crashed.storage = disk.copy()
        let again = try Journal.open(JournalImage.directory, options: crashed)
        try require(try storedRecords(of: again) == records, "a crash after opening has changed the records")
        try again.close()
        try checkClean(crashed, records, known)

        var draft = CommitDraft()
        let added = StoredRecord(state: .whole, kept: [1, 2, 3], erasable: Array(repeating: 4, count: 200))
        try added.kept.withBytes(0..<3) { kept in
            try added.erasable.withBytes(0..<200) { erasable in try draft.append(kept: kept, erasable: erasable) }
        }
        try writer.reserve(draft.encodedByteCount)
        let positions = try writer.append(draft, expecting: writer.lastPosition)
        try writer.waitUntilDurable(positions.upperBound)
        var expected = options
        expected.expectedHead = writer.head
        try writer.close()
        try checkClean(expected, records + [added], known)
    }

    /// Checks a journal that was closed cleanly.
    private static func checkClean(_ options: JournalOptions, _ records: [StoredRecord], _ known: Set<Finding>) throws {
        var findings: [JournalFinding] = []
        let note = { (finding: JournalFinding) in if !known.contains(Finding(finding)) { findings.append(finding) } }
        try Journal.verify(JournalImage.directory, options: options, note)
        try require(findings.isEmpty, "a closed journal has new findings: \(findings)")
        let journal = try Journal.open(JournalImage.directory, options: options)
        try require(journal.recovery.wasClean, "a closed journal is not clean")
        try require(try storedRecords(of: journal) == records, "closing has changed the records")
        findings = []
        try journal.verify(note)
        try require(findings.isEmpty, "an open journal has new findings: \(findings)")
        try journal.close()
    }

    private static func storedRecords(of journal: Journal) throws -> [StoredRecord] {
        guard journal.lastPosition > 0 else { return [] }
        var records: [StoredRecord] = []
        try journal.read(1...journal.lastPosition) { _, state, kept, erasable in
            records.append(StoredRecord(state: state, kept: kept.toArray(), erasable: erasable.toArray()))
        }
        try require(UInt64(records.count) == journal.lastPosition, "reading has passed over records")
        return records
    }

    private static func makeResult<Value>(_ work: () throws(JournalError) -> Value) -> Result<Value, JournalError> {
        Result { () throws(JournalError) in try work() }
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }
}
