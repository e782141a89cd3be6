internal import Locking
internal import Primitives

/// A copy of another log as a journal in a directory, under the log's id.
///
/// The copy has the log's records, commits, chain values and tree. It is a journal that opens for
/// reading only, until ``activateAndClose()``. While records are copied, it is as durable as the
/// last ``finish()``, and at least every 16 MiB. A crash leaves a valid, shorter copy.
package struct JournalCopy: CopyDestination {
    /// The number of bytes after which the copied records are synced.
    private static let bytesPerSync = 16 << 20

    private let journal: Journal
    /// The records of the unfinished commit.
    private var commit = CopiedCommit()
    /// What `recordsLeft` of the next record must be; nil at the end of a commit.
    private var nextRecordsLeft: Int?
    private var unsyncedByteCount = 0

    /// Creates a copy of a log in a new or empty directory, or continues one.
    ///
    /// A journal that has moved away can be the copy again, if the log has its history.
    ///
    /// - Parameters:
    ///   - source: The log that is copied.
    ///   - options: The options of the journal.
    /// - Throws: `notEmpty` (the directory has a journal that is no copy), `headMismatch` (the copy
    ///   has another history than the log) and the errors of ``Journal/open(_:options:)``; the
    ///   directory is then unchanged.
    package init(_ directory: String, of source: some StoredRecordLog, options: JournalOptions = JournalOptions())
        throws(JournalError)
    {
        var options = options
        (options.purpose, options.durability, options.createIfMissing) = (.copy(of: source.id), .synced, true)
        // Before anything is changed.
        if let present = try Self.present(directory, options) { try Self.check(present, directory, of: source) }
        journal = try Journal.open(directory, options: options)
        do throws(JournalError) {
            try Self.check(journal.head, directory, of: source)
        } catch {
            // The first error is the one to report.
            try? journal.close()
            throw error
        }
    }

    /// Returns the head of the copy in a directory, or nil if it has no record yet.
    private static func present(_ directory: String, _ options: JournalOptions) throws(JournalError) -> JournalHead? {
        let place = JournalDirectory(directory, options.storage)
        let kind = try convertingErrors(of: place.storage.kind(of: place.path))
        guard kind == .directory else { return nil }
        if try place.readRole() == nil, try place.list().isJournal { throw place.isNoCopy }
        do throws(JournalError) {
            return try Journal.openReadOnly(directory, options: options).head
        } catch {
            // Opening for writing reports a directory of another kind, and continues a creation
            // that was interrupted.
            if error.code == .notFound || error.code == .notAJournal { return nil }
            throw error
        }
    }

    private static func check(_ head: JournalHead, _ directory: String, of source: some StoredRecordLog)
        throws(JournalError)
    {
        guard try source.contains(head) else {
            throw JournalError(
                .headMismatch, "The copy has another history than the log that is copied.", path: directory)
        }
    }

    /// The end of the last commit that was added.
    package var position: Position { journal.lastPosition }

    /// The head at ``position``.
    package var head: JournalHead {
        let (position, chain) = journal.published.withLock { ($0.lastPosition, $0.lastChain) }
        return JournalHead(journal: journal.id, position: position, chain: chain)
    }

    package mutating func add(_ record: RawSpan, recordsLeft: Int) throws(JournalError) {
        let next = position + Position(commit.count) + 1
        guard let stored = StoredRecord(record) else {
            throw JournalError(.damaged, "The record to copy is not valid.", positions: next...next)
        }
        guard recordsLeft >= 1, recordsLeft == nextRecordsLeft ?? recordsLeft else {
            throw JournalError(.damaged, "The record to copy does not continue its commit.", positions: next...next)
        }
        // Stubs can be longer than their records, so a commit of many short records may exceed the
        // limit and is divided.
        if commit.byteCount + record.byteCount > JournalLimits.commitBytes { try append() }
        commit.add(record, stored.layout)
        nextRecordsLeft = recordsLeft == 1 ? nil : recordsLeft - 1
        if recordsLeft == 1 { try append() }
    }

    private mutating func append() throws(JournalError) {
        try journal.append(commit)
        unsyncedByteCount += commit.byteCount
        commit.removeAll()
        guard unsyncedByteCount >= Self.bytesPerSync else { return }
        try journal.synchronize()
        unsyncedByteCount = 0
    }

    /// Makes the commits durable that were added; drops an unfinished one.
    package mutating func finish() throws(JournalError) {
        commit.removeAll()
        nextRecordsLeft = nil
        try journal.synchronize()
        unsyncedByteCount = 0
    }

    package mutating func writeLedger(_ bytes: [UInt8]) throws(JournalError) {
        if try journal.readLedger() != bytes { try journal.writeLedger(bytes) }
    }

    package mutating func activateAndClose() throws(JournalError) {
        // Before the lock is released, so that no other copy of the log begins here.
        try journal.directory.removeRole()
        try journal.writeSlots(hasRole: false)
        try journal.close()
    }

    /// Closes the journal; the copy can be continued later.
    package func close() throws(JournalError) { try journal.close() }
}
