internal import Locking

extension Journal {
    /// Recovers the journal in a directory and opens it for writing; creates it if the options
    /// allow.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory. Its parent must exist.
    ///   - options: See ``JournalOptions``.
    /// - Throws: `notAJournal` (the path is a file, or a directory with other files; it is
    ///   unchanged), `newerVersion`, `locked` (after ``JournalOptions/lockTimeout``), `notFound`,
    ///   `accessDenied`, `storageFull`, `damaged` and `headMismatch` (the journal is unchanged),
    ///   `ioFailed`, `syncFailed`.
    /// - Complexity: Reads the last segment, and of each earlier segment only the header and the
    ///   footer's frame. Reads an earlier segment completely when its footer is damaged, or when a
    ///   slot or the expected head refers to a position inside it.
    public static func open(_ directory: String, options: JournalOptions = JournalOptions()) throws(JournalError)
        -> Journal
    {
        let journal = try prepare(directory, options: options)
        do throws(JournalError) {
            try journal.beginWriting()
        } catch {
            journal.releaseLock()
            throw error
        }
        return journal
    }

    /// Locks and recovers a journal, and changes none of its files before ``beginWriting()``.
    ///
    /// Until then the journal delivers the recovered records and rejects every change. A caller
    /// that refuses what they contain drops it or closes it: the directory is then as it was, apart
    /// from the lock file and the files of a journal that this call created.
    ///
    /// - Throws: The errors of ``open(_:options:)``.
    package static func prepare(_ directory: String, options: JournalOptions) throws(JournalError) -> Journal {
        let directory = JournalDirectory(directory, options.storage)
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(1)
        while true {
            do throws(JournalError) {
                return try prepare(directory, options)
            } catch  where error.code == .locked {
                // Retries from the beginning: the other writer may have created the journal or part
                // of it.
                let remaining = options.lockTimeout - start.duration(to: .now)
                guard remaining > .zero else { throw error }
                SystemCalls.pause(min(pause, remaining))
                pause = min(pause * 2, .milliseconds(50))
            }
        }
    }

    private static func prepare(_ directory: JournalDirectory, _ options: JournalOptions) throws(JournalError)
        -> Journal
    {
        if try !directory.exists(orThrow: directory.notAJournal) {
            guard options.createIfMissing && options.expectedHead == nil else { throw notFound(directory) }
            do throws(StorageError) { try options.storage.createDirectory(directory.path) } catch {
                // Another writer created it first; the lock decides which one opens the journal.
                guard error.kind == .alreadyExists else { throw JournalError(error) }
            }
        }
        // Before the lock file is created, so that a directory with other files stays unchanged.
        let first = try directory.list()
        if !first.isJournal {
            if first.hasForeignFiles { throw directory.notAJournal }
            guard options.createIfMissing && options.expectedHead == nil else { throw notFound(directory) }
        }
        let lock = try directory.lock(orThrow: isOpenElsewhere)
        do throws(JournalError) {
            return try prepare(locked: directory, options, lock)
        } catch {
            lock.unlock()
            throw error
        }
    }

    /// Opens the journal in a directory for reading, without writing anything, not even a lock
    /// file.
    ///
    /// While a writer has the journal open, a `.synced` journal shows the durable records and a
    /// `.written` one all valid records, as of now. Without a writer, recovery runs in memory with
    /// the same rules and errors as ``open(_:options:)``. The records beyond the last position
    /// known to be synced (``RecoveryReport/recoveredPositions``) are then valid, but only a writer
    /// makes them durable.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory.
    ///   - options: Only `storage` and `expectedHead` apply.
    /// - Throws: `notAJournal`, `newerVersion`, `notFound`, `accessDenied`, `damaged`,
    ///   `headMismatch`, `ioFailed`.
    /// - Complexity: The same as ``open(_:options:)``.
    public static func openReadOnly(_ directory: String, options: JournalOptions = JournalOptions())
        throws(JournalError) -> Journal
    {
        let directory = JournalDirectory(directory, options.storage)
        try checkReadable(directory)
        // A writer may open or close the journal during the read, so an apparent problem is read
        // again.
        var attempts = 8
        while true {
            let live = try isLocked(directory)
            do throws(JournalError) {
                let request = Recovery.Request(
                    directory: directory, mode: .read, expectedHead: options.expectedHead, hasLiveWriter: live)
                let recovery = try Recovery(request)
                return Journal(
                    recovery, directory: directory, options: options, durability: recovery.slots.newest.durability,
                    lock: nil)
            } catch {
                attempts -= 1
                let isTransient = error.code == .damaged || error.code == .ioFailed || error.code == .notFound
                let hasWriter = try isLocked(directory)
                guard attempts > 0, isTransient, live || hasWriter else { throw error }
            }
        }
    }

    /// Throws unless the directory contains a journal, judged by the names of its files.
    static func checkReadable(_ directory: JournalDirectory) throws(JournalError) {
        guard try directory.exists(orThrow: directory.notAJournal) else { throw notFound(directory) }
        let listing = try directory.list()
        if listing.isJournal { return }
        throw listing.hasForeignFiles ? directory.notAJournal : notFound(directory)
    }

    static func isLocked(_ directory: JournalDirectory) throws(JournalError) -> Bool {
        try convertingStorageErrors { () throws(StorageError) in
            if try directory.storage.isLocked(directory.lockPath) { return true }
            return try directory.storage.isLocked(directory.file(JournalFileName.durable))
        }
    }

    private static let isOpenElsewhere = "The journal is open for writing elsewhere."

    private static func notFound(_ directory: JournalDirectory) -> JournalError {
        JournalError(.notFound, "There is no journal at the path.", path: directory.path)
    }

    private static func prepare(
        locked directory: JournalDirectory, _ options: JournalOptions, _ lock: any StorageLock
    ) throws(JournalError) -> Journal {
        var listing = try directory.list()
        // A writer that was killed may not have synced the file names, even if the slots are marked
        // clean: a new journal's slots are marked clean before its first segment has a name.
        // Nothing may depend on a file that a power failure can still remove.
        try convertingErrors(of: options.storage.syncDirectory(directory.path))
        try directory.checkRole(for: options.purpose)
        let created = try create(directory, options, &listing)
        // The lock file can be removed by hand. Removing the durable file destroys the journal, so
        // the durable file is locked as well.
        let lock = WriterLock(lock, try directory.lock(JournalFileName.durable, orThrow: isOpenElsewhere))
        var recovery = try Recovery(
            Recovery.Request(
                directory: directory, mode: .readWrite, expectedHead: options.expectedHead, hasLiveWriter: false))
        recovery.report.wasCreated = created
        let journal = Journal(
            recovery, directory: directory, options: options, durability: options.durability, lock: lock)
        let unwritten = UnwrittenRecovery(recovery: recovery, temporaryFiles: listing.temporaryFiles)
        journal.state.withLock { $0.unwrittenRecovery = unwritten }
        return journal
    }

    /// Changes the files as recovery has determined, and opens the journal for writing.
    ///
    /// Does nothing for a journal that is open for writing, or for reading only. After an error the
    /// journal must be dropped.
    ///
    /// - Throws: `storageFull`, `ioFailed`, `syncFailed`.
    package func beginWriting() throws(JournalError) {
        guard let unwritten = state.withLock({ $0.unwrittenRecovery }) else { return }
        var recovery = unwritten.recovery
        let writer = RecoveryWriter(directory: directory)
        // Before the first change.
        try writer.check(recovery)
        try writer.removeTemporaries(unwritten.temporaryFiles)
        recovery.report.removedFiles = unwritten.temporaryFiles
        if !recovery.report.wasClean { try writer.apply(&recovery) }
        state.withLock { $0.unwrittenRecovery = nil }
        try markOpen(afterCleanClose: recovery.report.wasClean, isSealed: recovery.isLastSealed)
        recoveryReport.withLock { [report = recovery.report] in $0 = report }
        log?(LogMessage(opened: directory.path, recovery.report))
        watchFiles()
        storeTreeIfDue(isBusy: false)
    }

    /// Releases the lock of a journal that did not open.
    private func releaseLock() { syncState.withLock { $0.lock?.unlock() } }

    /// Creates the missing files of a new journal: the durable file, then the first segment.
    ///
    /// Returns whether a file was created. A journal without a segment was never open, so no head
    /// of it exists: when a head is expected, or creation is not allowed, the files stay unchanged
    /// and recovery reports the problem.
    private static func create(
        _ directory: JournalDirectory, _ options: JournalOptions, _ listing: inout DirectoryListing
    ) throws(JournalError) -> Bool {
        if !listing.segments.isEmpty {
            // Reported before the lock of the file creates it.
            guard listing.hasDurableFile else { throw DurableSlots.missing(in: directory) }
            return false
        }
        var entropy = EntropyPool(options.entropy)
        if !listing.hasDurableFile {
            // Also when the directory existed: a crash may have come before its name was synced.
            try convertingErrors(of: options.storage.syncDirectory(directory.parent))
            let id = options.purpose.id ?? JournalID.random(&entropy)
            let slot = DurableSlot(
                sequence: 0, position: 0, chain: Chain.start(id), journal: id, durability: options.durability,
                isClean: true,
                hasRole: options.purpose.hasRole)
            _ = try directory.createTemporaryFile(JournalFileName.durable, DurableSlot.file(of: slot)).publish()
        }
        let slots = try DurableSlots(directory, .readWrite)
        guard slots.newest.position == 0 else {
            throw JournalError(
                .damaged, "The journal's segments are missing.", path: directory.path,
                positions: 1...slots.newest.position)
        }
        guard options.createIfMissing && options.expectedHead == nil else { return false }
        _ = try TemporarySegment(
            in: directory, journal: slots.newest.journal, first: 1, chain: Chain.start(slots.newest.journal), &entropy
        ).publish()
        listing = try directory.list()
        return true
    }

    /// Marks the journal as open; after an unclean close, syncs the recovered state and starts a
    /// new segment.
    ///
    /// After an unclean close, the end of the old segment may contain sectors that were written but
    /// not synced. A segment with a footer, which an interrupted backup leaves as the last one, is
    /// not continued either.
    private func markOpen(afterCleanClose isClean: Bool, isSealed: Bool) throws(JournalError) {
        try syncState.withLock { (sync) throws(JournalError) in
            try updateState { (state) throws(JournalError) in
                try sync.write(slot(state.lastPosition, state.lastChain, isClean: false))
                if isClean && !isSealed { return }
                try sync.syncSlots()
                let segment = try TemporarySegment(
                    in: directory, journal: id, first: state.lastPosition + 1, chain: state.lastChain, &state.entropy
                ).publish()
                state.rotate(in: segment, allocated: segment.end)
            }
        }
    }

    func slot(_ position: Position, _ chain: UInt64, isClean: Bool) -> DurableSlot {
        DurableSlot(
            sequence: 0, position: position, chain: chain, journal: id, durability: durability, isClean: isClean)
    }
}

extension Journal {
    /// Makes all records durable, marks the journal as cleanly closed, truncates unused space and
    /// releases the lock.
    ///
    /// A second call does nothing. Without a call, the next opening recovers as after a crash.
    /// Later reads throw `closed`. Waits for an erasure in progress, and for a page of the tree
    /// that is being written.
    ///
    /// - Throws: The error that stopped the journal, now or earlier; the journal is closed and
    ///   unlocked in any case.
    public func close() throws(JournalError) {
        // After the lock is released, because a follower may open the journal at once.
        defer { published.withLock { $0.close() }?.deliver() }
        endTreeWork()
        // An erasure that continued without the lock would rename files of the next writer.
        try erasure.withLock { (_) throws(JournalError) in try closeFiles() }
    }

    private func closeFiles() throws(JournalError) {
        try syncState.withLock { (sync) throws(JournalError) in
            defer { sync.lock?.unlock() }
            try updateState { (state) throws(JournalError) in
                if state.isClosed { return }
                state.isClosed = true
                // Nothing has been changed yet.
                if isReadOnly || state.unwrittenRecovery != nil { return }
                if let failure = state.failure { throw failure }
                try state.writePending()
                let active = state.active
                let start = ContinuousClock.now
                do throws(JournalError) {
                    try convertingStorageErrors { () throws(StorageError) in
                        try active.file.sync()
                        // Truncated after the sync and synced again: a clean slot means that the
                        // file ends at the last commit.
                        try active.file.truncate(to: active.end)
                        try active.file.sync()
                    }
                    state.allocatedSize = active.end
                    try attest(&state, &sync, isClean: true, since: start)
                } catch {
                    state.stop(error)
                    throw state.failure ?? error
                }
            }
        }
    }
}

/// The two locks of a writer: the lock file's and the durable file's.
private final class WriterLock: StorageLock {
    private let first: any StorageLock
    private let second: any StorageLock

    init(_ first: any StorageLock, _ second: any StorageLock) {
        self.first = first
        self.second = second
    }

    func unlock() {
        second.unlock()
        first.unlock()
    }
}

/// What an opening for writing has found, and the changes that it has not made yet.
struct UnwrittenRecovery {
    var recovery: Recovery
    /// Temporary files of an interrupted creation.
    var temporaryFiles: [String]
}
