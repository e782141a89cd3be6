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
    /// The number of bytes of the commits that were added.
    private(set) var copiedByteCount: UInt64 = 0

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
    package init(_ directory: String, of source: some StoredRecordLog, options: JournalOptions = JournalOptions()) throws(JournalError) {
        try self.init(directory, of: source, options, .copy(of: source.id))
    }

    /// Creates a backup of a log in a new or empty directory, or continues one.
    ///
    /// It has no role, so that it can be opened for writing: to restore the log, or by mistake. A
    /// crash leaves a valid, shorter backup.
    ///
    /// - Throws: `copy` and `moved` (the directory has a role), `headMismatch`, and the errors of
    ///   ``Journal/open(_:options:)``.
    init(backupOf source: some StoredRecordLog, at directory: String, options: JournalOptions) throws(JournalError) {
        try self.init(directory, of: source, options, .backup(of: source.id))
    }

    private init(
        _ directory: String, of source: some StoredRecordLog, _ options: JournalOptions, _ purpose: JournalPurpose
    ) throws(JournalError) {
        var options = options
        (options.purpose, options.durability, options.createIfMissing) = (purpose, .synced, true)
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
        let kind = try convertingStorageErrors { () throws(StorageError) in try place.storage.kind(of: place.path) }
        guard kind == .directory else { return nil }
        if case .copy = options.purpose, try place.readRole() == nil, try place.list().isJournal { throw place.isNoCopy }
        do throws(JournalError) {
            return try Journal.openReadOnly(directory, options: options).head
        } catch {
            // Opening for writing reports a directory of another kind, and continues a creation that
            // was interrupted.
            if error.code == .notFound || error.code == .notAJournal { return nil }
            throw error
        }
    }

    private static func check(_ head: JournalHead, _ directory: String, of source: some StoredRecordLog) throws(JournalError) {
        guard try source.contains(head) else {
            throw JournalError(.headMismatch, "The copy has another history than the log that is copied.", path: directory)
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
        copiedByteCount += UInt64(commit.byteCount)
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

    /// Erases the content that the log that is copied no longer has.
    ///
    /// - Returns: The names of the segments that were written again.
    /// - Complexity: Reads all records of both.
    mutating func eraseContent(missingIn source: some StoredRecordLog) throws(JournalError) -> [String] {
        let end = position
        if end == 0 { return [] }
        var missing = PositionSet()
        var erased = PositionSet()
        try source.forEachStoredRecord(in: 1...end) { position, _, record in
            if StoredRecord(record)?.hasErasableContent != true { missing.append(position) }
            return true
        }
        try journal.forEachStoredRecord(in: 1...end) { position, _, record in
            if StoredRecord(record)?.hasErasableContent == true, missing.contains(position) { erased.append(position) }
            return true
        }
        if erased.isEmpty { return [] }
        let before = journal.published.withLock { $0.sealedStarts }
        // No order of the copy is known to be carried out.
        try journal.eraseContent(of: erased, orderedThrough: 0)
        let after = journal.published.withLock { $0.sealedStarts }
        return after.filter { start in start.generation > before.first { $0.position == start.position }?.generation ?? 0 }
            .map { JournalFileName.segment($0.position) }
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

    /// Returns the names of the segments that end before a position, and of those that do not.
    func segmentNames(endingBefore position: Position) -> (older: [String], newer: [String]) {
        let (starts, last) = journal.published.withLock { ($0.sealedStarts, SegmentStart($0.active.header)) }
        let all = starts + [last]
        let names = all.map { JournalFileName.segment($0.position) }
        if self.position < position { return (names, []) }
        // A segment ends before the next one begins.
        let count = zip(all, all.dropFirst()).prefix { $1.position <= position }.count
        return (Array(names[..<count]), Array(names[count...]))
    }

    /// Closes the journal; the copy can be continued later.
    package func close() throws(JournalError) { try journal.close() }
}
