internal import Locking
internal import Primitives

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
    /// never becomes shorter. The ledger of erasures comes before all else, so that it names what
    /// an interrupted run has left.
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
    ///   - `copy`, `moved`: the destination is an unfinished copy or a journal that has moved,
    ///     which no writer opens; it is unchanged.
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
            directory, options: JournalOptions(storage: options.storage, createIfMissing: false))
        return try journal.backup(to: destination, upTo: options.upTo, on: options.destinationStorage)
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
        try backup(to: destination, upTo: position, options: JournalOptions(storage: storage ?? directory.storage))
    }

    /// Returns this journal, or a new reader: an older one may know a segment only as the last one,
    /// which an erasure has sealed and replaced since.
    package func current() throws(JournalError) -> Journal {
        guard isReadOnly else { return self }
        return try Self.openReadOnly(
            directory.path, options: JournalOptions(storage: directory.storage, createIfMissing: false))
    }

    /// Syncs the durable records, so that a power failure cannot leave the journal shorter than
    /// what is derived from it.
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

    /// Returns the segments up to the synced end.
    fileprivate func backupSource(upTo position: Position?) throws(JournalError) -> SegmentSource {
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
        return SegmentSource(
            synced, limit: position ?? synced.position, segments: SegmentReference.all(starts, active), in: directory)
    }
}

extension MovableLog {
    /// Creates or continues a copy of the log as a journal in a directory, while the log is open.
    ///
    /// This is the one implementation of every backup. Runs are repeated until the log has erased
    /// nothing meanwhile, so that no file of the copy has content that an erasure removed before
    /// the call returned.
    ///
    /// - Parameters:
    ///   - destination: The copy's directory.
    ///   - position: The maximum position to copy; nil for the last durable one.
    ///   - erasures: What the owner of the content knows of its erasures.
    ///   - options: The storage of the copy; for a log without segments also their size.
    /// - Throws: As ``Journal/backup(_:to:options:)``, and the errors of the log.
    /// - Complexity: Linear in the new records and in the segments that have lost content.
    package func backup(
        to destination: String, upTo position: Position?, erasures: BackupErasures = BackupErasures(),
        options: JournalOptions
    ) throws(JournalError) -> BackupReport {
        let target = JournalDirectory(destination, options.storage)
        let ledger = BackupLedger(self, erasures.mergeLedgers, to: target)
        var report: BackupReport?
        // Pending content whose orders came before the run, so that the copy has the orders.
        var ordered = PositionSet()
        while true {
            let source: any BackupSource
            if let journal = self as? Journal {
                let current = report == nil ? journal : try journal.current()
                try current.syncForCopy()
                source = try current.backupSource(upTo: position)
            } else {
                source = try RecordSource(self, upTo: position, options)
            }
            let run = try Backup.run(source, ledger, to: target)
            report = report.map { run.report.adding($0) } ?? run.report
            // After the copy, so that each order that came before is carried out here or was
            // already.
            let all = try erasures.pendingContent()
            let last = run.report.head.position
            let pending = last == 0 ? PositionSet() : all.clamped(to: 1...last)
            if pending.subtracting(ordered).isEmpty {
                if !pending.isEmpty { try Self.erase(pending, in: target) }
                // Content that was erased during the run may have been copied before.
                if let report, try !run.isOutdated() { return report }
            }
            ordered.formUnion(all)
        }
    }

    private static func erase(_ content: PositionSet, in directory: JournalDirectory) throws(JournalError) {
        let copy = try Journal.open(
            directory.path, options: JournalOptions(storage: directory.storage, createIfMissing: false))
        do throws(JournalError) {
            // No order of the copy is known to be carried out.
            try copy.eraseContent(of: content, orderedThrough: 0)
        } catch {
            // The first error is the one to report.
            try? copy.close()
            throw error
        }
        try copy.close()
    }
}

/// The source, the destination's storage and the limit of a backup.
public struct BackupOptions: Sendable {
    /// The storage of the journal's files.
    public var storage: any JournalStorage
    /// The storage of the copy's files.
    public var destinationStorage: any JournalStorage
    /// The maximum position to copy; nil for the last durable one at the start of the backup.
    public var upTo: Position?

    /// Creates options.
    ///
    /// All have defaults.
    public init(
        storage: any JournalStorage = FileStorage(), destinationStorage: any JournalStorage = FileStorage(),
        upTo: Position? = nil
    ) {
        self.storage = storage
        self.destinationStorage = destinationStorage
        self.upTo = upTo
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
        sum.rewrittenSegments =
            earlier.rewrittenSegments + rewrittenSegments.filter { !earlier.rewrittenSegments.contains($0) }
        sum.skippedSegments = skippedSegments.filter {
            !sum.copiedSegments.contains($0) && !sum.rewrittenSegments.contains($0)
        }
        sum.bytesCopied += earlier.bytesCopied
        return sum
    }

    /// Creates the report of a run that has copied nothing.
    public init(head: JournalHead) { self.head = head }
}
