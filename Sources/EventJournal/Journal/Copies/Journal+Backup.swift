internal import Locking

extension Journal {
    /// Creates or continues a copy of the journal in a directory, even while a writer has it open.
    ///
    /// The copy is a journal with the same id, which can be read, verified and, to restore the
    /// journal, opened for writing. It contains the history up to the end of a commit, at or before
    /// the requested position, and is cleanly closed. All copied bytes are verified.
    ///
    /// A repeated run copies only what is missing: it skips existing segments, appends to the last
    /// one, and copies segments of another generation again. After an interruption, the destination
    /// is either not a journal yet or a valid, shorter copy, and the next run continues it. A copy
    /// never becomes shorter.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory; another process may be writing it.
    ///   - destination: The copy's directory, created when it does not exist; its parent must
    ///     exist.
    ///   - options: See ``BackupOptions``.
    /// - Returns: The copied segments and the head of the copy.
    /// - Throws: The errors of ``openReadOnly(_:options:)``, and:
    ///   - `outOfRange`: the position is beyond the durable end.
    ///   - `notAJournal`: the destination contains other files; it is unchanged.
    ///   - `locked`: the copy is open for writing elsewhere, or the destination is the journal
    ///     itself and is open for writing.
    ///   - `sameDirectory`: the destination is the journal itself, by whatever path.
    ///   - `copy`, `moved`: the destination is an unfinished copy or a journal that has moved, which
    ///     no writer opens; it is unchanged.
    ///   - `headMismatch`: the destination is another journal, or its history is not a prefix of
    ///     the journal's; it is unchanged.
    ///   - `damaged`: the journal is damaged at the given location, and the copy ends before it; or
    ///     the copy is damaged and unchanged.
    ///   - `newerVersion`, `storageFull`, `ioFailed`, `syncFailed`.
    /// - Complexity: Opens both journals, then linear in the copied bytes. Memory is bounded by the
    ///   largest commit.
    @discardableResult
    public static func backup(
        _ directory: String, to destination: String, options: BackupOptions = BackupOptions()
    ) throws(JournalError) -> BackupReport {
        let journal = try openReadOnly(
            directory, options: JournalOptions(storage: options.storage, expectedHead: options.expectedHead, createIfMissing: false))
        return try journal.backup(to: destination, upTo: options.upTo, on: options.destinationStorage)
    }

    /// Creates or continues a copy of this journal on the same storage.
    ///
    /// Otherwise the same as ``backup(to:upTo:on:)``.
    @discardableResult
    public func backup(to destination: String, upTo position: Position?) throws(JournalError) -> BackupReport {
        try backup(to: destination, upTo: position, on: nil)
    }

    /// Creates or continues a copy of this journal while it is open.
    ///
    /// Otherwise the same as ``backup(_:to:options:)``. Blocks only the calling thread. Records
    /// that are not synced, under `.written` or after a writer was killed, are synced first, so
    /// that a power failure cannot leave the journal shorter than its copy. A segment whose content
    /// is erased during the run is copied again.
    ///
    /// - Parameters:
    ///   - destination: The copy's directory.
    ///   - position: The maximum position to copy; nil for the last durable one.
    ///   - storage: The storage of the copy's files; nil for the journal's own.
    /// - Returns: The copied segments and the head of the copy.
    /// - Throws: The errors of ``backup(_:to:options:)``, and `closed`.
    @discardableResult
    public func backup(
        to destination: String, upTo position: Position? = nil, on storage: (any JournalStorage)? = nil
    ) throws(JournalError) -> BackupReport {
        try syncForCopy()
        let target = JournalDirectory(destination, storage ?? directory.storage)
        var source = try snapshotForBackup(upTo: position)
        var run = try Backup.run(source, to: target)
        var report = run.report
        // Content that was erased during the run may have been copied before. The segments of the
        // next generation are then copied again.
        while try source.hasReplacedSegment(since: run.generations) {
            source = try currentJournal().snapshotForBackup(upTo: position)
            run = try Backup.run(source, to: target)
            report = run.report.adding(report)
        }
        return report
    }

    /// Returns this journal, or a new reader: an older one may know a segment only as the last one,
    /// which an erasure has sealed and replaced since.
    private func currentJournal() throws(JournalError) -> Journal {
        guard isReadOnly else { return self }
        let options = JournalOptions(storage: directory.storage, createIfMissing: false)
        let journal = try Self.openReadOnly(directory.path, options: options)
        journal.syncVisibleRecords()
        return journal
    }

    /// Syncs the durable records, so that a power failure cannot leave the journal shorter than what
    /// is derived from it.
    ///
    /// - Returns: The last position that is synced. Commits that are appended during the call may
    ///   be durable under `.written` and not be synced.
    @discardableResult
    package func syncForCopy() throws(JournalError) -> Position {
        if isReadOnly {
            // Before the sync: a refresh can add records during it.
            let last = lastPosition
            syncVisibleRecords()
            return last
        }
        if durability == .written { try synchronize() }
        return published.withLock { $0.syncedPosition }
    }

    /// Syncs the records that a read-only journal shows and its writer may not have synced.
    ///
    /// Errors are ignored: a storage that is read-only or fails to sync must remain readable for a
    /// copy.
    private func syncVisibleRecords() {
        try? published.withLock { $0.active.file }.sync()
        try? directory.storage.syncDirectory(directory.path)
    }

    private func snapshotForBackup(upTo position: Position?) throws(JournalError) -> BackupSource {
        let (isClosed, starts, active, synced) = published.withLock {
            (
                $0.isClosed, $0.sealedStarts, $0.activeWithoutIndex,
                JournalHead(journal: id, position: $0.syncedPosition, chain: $0.syncedChain)
            )
        }
        if isClosed { throw JournalError.closedJournal(at: directory.path) }
        if let position, position > synced.position {
            throw JournalError(
                .outOfRange, "The journal is durable up to position \(synced.position).", path: directory.path,
                positions: position...position)
        }
        return BackupSource(
            journal: id, directory: directory, segments: SegmentReference.all(starts, active), sealed: SealedSegments(directory, id),
            limit: position ?? synced.position, head: synced)
    }
}

/// A log that can copy itself to a directory while it is open.
public protocol BackupLog: CommitLog {
    /// Creates or continues a copy of the log in a directory.
    ///
    /// - Parameters:
    ///   - destination: The path of the copy's directory.
    ///   - position: The maximum position to copy; nil for the last durable one.
    /// - Returns: The copied segments and the head of the copy.
    /// - Throws: `outOfRange` (the position is beyond the durable end), `closed`, `headMismatch`
    ///   (the destination has another history), `storageFull`, `ioFailed` and other errors that the
    ///   log documents.
    @discardableResult
    func backup(to destination: String, upTo position: Position?) throws(JournalError) -> BackupReport
}

extension Journal: BackupLog {}

/// The source, the destination's storage and the limit of a backup.
public struct BackupOptions: Sendable {
    /// The storage of the journal's files.
    public var storage: any JournalStorage
    /// The storage of the copy's files.
    public var destinationStorage: any JournalStorage
    /// The maximum position to copy; nil for the last durable one at the start of the backup.
    public var upTo: Position?
    /// A head saved earlier, which the journal must contain.
    public var expectedHead: JournalHead?

    /// Creates options.
    ///
    /// All have defaults.
    public init(
        storage: any JournalStorage = FileStorage(), destinationStorage: any JournalStorage = FileStorage(), upTo: Position? = nil,
        expectedHead: JournalHead? = nil
    ) {
        self.storage = storage
        self.destinationStorage = destinationStorage
        self.upTo = upTo
        self.expectedHead = expectedHead
    }
}

/// The result of a backup.
public struct BackupReport: Hashable, Sendable, Codable {
    /// The head of the copy: the journal's id and the copy's last position.
    ///
    /// A later verification of the copy can expect it.
    public var head: JournalHead
    /// The names of the segments that were created or extended.
    public var copiedSegments: [String] = []
    /// The names of the segments that were already complete.
    public var skippedSegments: [String] = []
    /// The names of the segments that were replaced because they had another generation.
    public var rewrittenSegments: [String] = []
    /// The number of segment bytes written.
    public var bytesCopied: UInt64 = 0

    private enum CodingKeys: String, CodingKey {
        case head
        case copiedSegments = "copied"
        case skippedSegments = "skipped"
        case rewrittenSegments = "rewritten"
        case bytesCopied = "bytes"
    }

    /// Returns the report of this run and an earlier one of the same call.
    func adding(_ earlier: BackupReport) -> BackupReport {
        var sum = self
        sum.copiedSegments = earlier.copiedSegments + copiedSegments.filter { !earlier.copiedSegments.contains($0) }
        sum.rewrittenSegments = earlier.rewrittenSegments + rewrittenSegments.filter { !earlier.rewrittenSegments.contains($0) }
        sum.skippedSegments = skippedSegments.filter { !sum.copiedSegments.contains($0) && !sum.rewrittenSegments.contains($0) }
        sum.bytesCopied += earlier.bytesCopied
        return sum
    }

    /// Creates the report of a run that has copied nothing.
    public init(head: JournalHead) {
        self.head = head
    }
}
