@testable import EventJournal

/// What has to hold of a journal in whatever state it is found.
///
/// It is opened, or refused with every byte as it was; the two ways of opening agree; what was opened reads the same after a crash and after a
/// close, verifies without a finding, and takes a commit.
enum JournalHarness {
    /// An invariant that does not hold.
    struct Violation: Error {
        var message: String
    }

    private struct Stored: Equatable {
        var state: RecordState
        var kept: [UInt8]
        var erasable: [UInt8]
    }

    static func check(_ input: [UInt8]) throws {
        let image = try JournalImage(input)
        let before = image.storage.allContents()
        let reading = opening { () throws(JournalError) in try Journal.openReadOnly(JournalImage.directory, options: image.options) }
        // Verifying goes on after damage, which opening does not.
        var unexpecting = image.options
        unexpecting.expectedHead = nil
        _ = opening { () throws(JournalError) in try Journal.verify(JournalImage.directory, options: unexpecting) { _ = $0.message } }
        try require(image.storage.allContents() == before, "reading has changed a byte")

        var options = image.options
        let disk = image.storage.copy()
        options.storage = disk
        switch (reading, opening { () throws(JournalError) in try Journal.open(JournalImage.directory, options: options) }) {
        case (.failure(let first), .failure(let second)):
            try require(first.code == second.code, "the refusals differ: \(first) and \(second)")
            var after = disk.allContents()
            // Made before anything is judged, empty, and taken for a part of any journal.
            let lock = after.removeValue(forKey: JournalImage.directory + "/" + DirectoryListing.lockName)
            try require(lock?.isEmpty ?? true, "the lock file has bytes")
            let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
            try require(changed.isEmpty, "a refused journal has changed in \(changed): \(second)")
        case (.success(let reader), .success(let writer)):
            let records = try entries(of: reader)
            try require(reader.recovery.lastPosition >= reader.recovery.attestedPosition, "attested records are missing")
            try checkOpened(writer, records, options, disk)
        case (.success, .failure(let error)): throw Violation(message: "only reading opens it; writing says \(error)")
        case (.failure(let error), .success): throw Violation(message: "only writing opens it; reading says \(error)")
        }
    }

    private static func checkOpened(_ writer: Journal, _ records: [Stored], _ options: JournalOptions, _ disk: MemoryStorage) throws {
        try require(try entries(of: writer) == records, "a writer reads other records than a reader")
        var crashed = options
        crashed.storage = disk.copy()
        let again = try Journal.open(JournalImage.directory, options: crashed)
        try require(try entries(of: again) == records, "a crash after opening has changed the records")
        try again.close()
        try checkSound(crashed, records)

        var draft = CommitDraft()
        let added = Stored(state: .whole, kept: [1, 2, 3], erasable: Array(repeating: 4, count: 200))
        try added.kept.withBytes(0..<3) { kept in
            try added.erasable.withBytes(0..<200) { erasable in try draft.append(kept: kept, erasable: erasable) }
        }
        try writer.reserve(draft.encodedByteCount)
        let positions = try writer.append(draft, expecting: writer.lastPosition)
        try writer.waitUntilDurable(positions.upperBound)
        var expected = options
        expected.expectedHead = writer.head
        try writer.close()
        try checkSound(expected, records + [added])
    }

    /// A journal that was closed in good order.
    private static func checkSound(_ options: JournalOptions, _ records: [Stored]) throws {
        var findings: [JournalFinding] = []
        try Journal.verify(JournalImage.directory, options: options) { findings.append($0) }
        try require(findings.isEmpty, "a closed journal has findings: \(findings)")
        let journal = try Journal.open(JournalImage.directory, options: options)
        try require(journal.recovery.wasClean, "a closed journal is not clean")
        try require(try entries(of: journal) == records, "closing has changed the records")
        findings = []
        try journal.verify { findings.append($0) }
        try require(findings.isEmpty, "an open journal has findings: \(findings)")
        try journal.close()
    }

    private static func entries(of journal: Journal) throws -> [Stored] {
        guard journal.lastPosition > 0 else { return [] }
        var records: [Stored] = []
        try journal.read(1...journal.lastPosition) { _, state, kept, erasable in
            records.append(Stored(state: state, kept: kept.toArray(), erasable: erasable.toArray()))
        }
        try require(UInt64(records.count) == journal.lastPosition, "reading has passed over records")
        return records
    }

    private static func opening<Value>(_ work: () throws(JournalError) -> Value) -> Result<Value, JournalError> {
        Result { () throws(JournalError) in try work() }
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }
}
