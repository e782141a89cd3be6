internal import Locking

extension Journal {
    /// Opens the journal in a directory for writing, after recovering it; makes it when there is none and the options say so.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory. Its parent must exist.
    ///   - options: See ``JournalOptions``.
    /// - Throws: `notAJournal` (a file, or a directory with something else in it, untouched), `newerVersion`, `locked` (after
    ///   ``JournalOptions/lockTimeout``), `notFound`, `accessDenied`, `storageFull`, `damaged` (refused and unchanged), `headMismatch` (likewise), `ioFailed`, `syncFailed`.
    /// - Complexity: Reads the last segment; of each one before it the header and the frame of the footer, whatever its length. One before it
    ///   is read whole when its footer is damaged, or when a slot or the expected head attests a position in its midst.
    public static func open(_ directory: String, options: JournalOptions = JournalOptions()) throws(JournalError) -> Journal {
        let directory = JournalDirectory(directory, options.storage)
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(1)
        while true {
            do throws(JournalError) {
                return try open(directory, options)
            } catch  where error.code == .locked {
                // Asked for again from the beginning: the other writer may have made the journal meanwhile, or left part of one.
                let remaining = options.lockTimeout - start.duration(to: .now)
                guard remaining > .zero else { throw error }
                SystemCalls.pause(min(pause, remaining))
                pause = min(pause * 2, .milliseconds(50))
            }
        }
    }

    private static func open(_ directory: JournalDirectory, _ options: JournalOptions) throws(JournalError) -> Journal {
        switch try storage({ () throws(StorageError) in try options.storage.kind(of: directory.path) }) {
        case .directory: break
        case .file, .other: throw directory.notAJournal
        case nil:
            guard options.createIfMissing && options.expectedHead == nil else { throw notFound(directory) }
            try storage { () throws(StorageError) in
                do throws(StorageError) {
                    try options.storage.createDirectory(directory.path)
                } catch  where error.kind == .alreadyExists {
                    // Another writer came first; the lock decides between the two.
                }
            }
        }
        // Looked at before the lock file is made, so that a directory of somebody else stays untouched.
        let first = try directory.list()
        if !first.isJournal {
            if first.hasForeign { throw directory.notAJournal }
            guard options.createIfMissing && options.expectedHead == nil else { throw notFound(directory) }
        }
        guard let lock = try storage({ () throws(StorageError) in try options.storage.lock(directory.lockPath) }) else {
            throw JournalError(.locked, "The journal is open for writing elsewhere.", path: directory.path)
        }
        do throws(JournalError) {
            return try open(locked: directory, options, lock)
        } catch {
            lock.unlock()
            throw error
        }
    }

    /// Opens the journal in a directory for reading.
    ///
    /// Writes nothing at all, not even a lock file.
    ///
    /// While a writer has it open, a `.synced` journal shows what is durable and a `.written` one all that is valid, as of now. Without a
    /// writer the journal is recovered in memory, under the same rules and with the same refusals as for writing; what it shows beyond the
    /// attested position (``RecoveryReport/recoveredPositions``) was whole on the disk, but only a writer makes it durable.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory.
    ///   - options: Of which `storage` and `expectedHead` matter.
    /// - Throws: `notAJournal`, `newerVersion`, `notFound`, `accessDenied`, `damaged`, `headMismatch`, `ioFailed`.
    /// - Complexity: As ``open(_:options:)``.
    public static func openReadOnly(_ directory: String, options: JournalOptions = JournalOptions()) throws(JournalError) -> Journal {
        let directory = JournalDirectory(directory, options.storage)
        try checkReadable(directory)
        // A writer may come or go while the files are read; what then looks wrong is read again under the new circumstances.
        var attempts = 8
        while true {
            let live = try isLocked(directory)
            do throws(JournalError) {
                let request = Recovery.Request(
                    directory: directory, mode: .read, expectedHead: options.expectedHead, hasLiveWriter: live)
                let recovery = try Recovery(request)
                return Journal(recovery, directory: directory, options: options, durability: recovery.slots.newest.durability, lock: nil)
            } catch {
                attempts -= 1
                let isPassing = error.code == .damaged || error.code == .ioFailed || error.code == .notFound
                let hasWriter = try isLocked(directory)
                guard attempts > 0, isPassing, live || hasWriter else { throw error }
            }
        }
    }

    /// Throws unless there is a journal, as far as names tell.
    static func checkReadable(_ directory: JournalDirectory) throws(JournalError) {
        switch try storage({ () throws(StorageError) in try directory.storage.kind(of: directory.path) }) {
        case .directory: break
        case .file, .other: throw directory.notAJournal
        case nil: throw notFound(directory)
        }
        let listing = try directory.list()
        if listing.isJournal { return }
        throw listing.hasForeign ? directory.notAJournal : notFound(directory)
    }

    static func isLocked(_ directory: JournalDirectory) throws(JournalError) -> Bool {
        try storage { () throws(StorageError) in
            if try directory.storage.isLocked(directory.lockPath) { return true }
            return try directory.storage.isLocked(directory.file(DirectoryListing.durableName))
        }
    }

    private static func notFound(_ directory: JournalDirectory) -> JournalError {
        JournalError(.notFound, "There is no journal at the path.", path: directory.path)
    }

    private static func open(
        locked directory: JournalDirectory, _ options: JournalOptions, _ lock: any StorageLock
    ) throws(JournalError) -> Journal {
        var listing = try directory.list()
        // Whoever gave the files their names may have been killed before it made the names durable, also where the slots say clean: those of
        // a new journal do before its first segment has a name. Nothing may be built on a file that a power cut can still take away.
        try storage { () throws(StorageError) in try options.storage.syncDirectory(directory.path) }
        let repairs = Repairs(directory: directory)
        let created = try create(directory, options, &listing)
        // The lock file is a name that can be removed by hand; the durable file cannot be without losing the journal, so it is locked as well.
        guard
            let second = try storage({ () throws(StorageError) in try options.storage.lock(directory.file(DirectoryListing.durableName)) })
        else {
            throw JournalError(.locked, "The journal is open for writing elsewhere.", path: directory.path)
        }
        let lock = WriterLock(lock, second)
        var recovery = try Recovery(
            Recovery.Request(directory: directory, mode: .readWrite, expectedHead: options.expectedHead, hasLiveWriter: false))
        recovery.report.wasCreated = created
        recovery.report.removedFiles = try repairs.removeTemporaries(listing)
        if !recovery.report.wasClean { try repairs.settle(&recovery) }
        let journal = Journal(recovery, directory: directory, options: options, durability: options.durability, lock: lock)
        try journal.begin(afterCleanClose: recovery.report.wasClean, isSealed: recovery.isLastSealed)
        return journal
    }

    /// Makes what is missing of a new journal: the durable file, then the first segment.
    ///
    /// True when anything was made. A journal without a segment was never open, so nobody has a head of it: where one is expected, or nothing
    /// is to be made, it stays as it is, and recovery says what is wrong.
    private static func create(
        _ directory: JournalDirectory, _ options: JournalOptions, _ listing: inout DirectoryListing
    ) throws(JournalError) -> Bool {
        if !listing.segments.isEmpty { return false }
        var entropy = EntropyPool(options.entropy)
        if !listing.hasDurable {
            // Also when the directory was there: a crash may have come before its name was made durable.
            try storage { () throws(StorageError) in try options.storage.syncDirectory(directory.parent) }
            let id = JournalID.random(&entropy)
            let slot = DurableSlot(
                sequence: 0, position: 0, chain: Chain.start(id), journal: id, durability: options.durability, isClean: true)
            _ = try directory.make(DirectoryListing.durableName, DurableSlot.file(of: slot)).take()
        }
        let slots = try DurableSlots(directory, .readWrite)
        guard slots.newest.position == 0 else {
            throw JournalError(
                .damaged, "The journal's segments are missing.", path: directory.path, positions: 1...slots.newest.position)
        }
        guard options.createIfMissing && options.expectedHead == nil else { return false }
        _ = try NewSegment(
            in: directory, journal: slots.newest.journal, first: 1, chain: Chain.start(slots.newest.journal), &entropy
        ).take()
        listing = try directory.list()
        return true
    }

    /// Marks the journal open, and where it has to, makes durable what recovery found and begins a new segment.
    ///
    /// It has to after anything but a clean close, because the end of the old segment may still have sectors in it that were written and not
    /// synced; and behind a footer, which ends a copy that was cut off.
    private func begin(afterCleanClose isClean: Bool, isSealed: Bool) throws(JournalError) {
        try sync.withLock { (sync) throws(JournalError) in
            try change { (state) throws(JournalError) in
                try sync.write(slot(state.lastPosition, state.lastChain, isClean: false))
                if isClean && !isSealed { return }
                try sync.syncSlots()
                let segment = try NewSegment(
                    in: directory, journal: id, first: state.lastPosition + 1, chain: state.lastChain, &state.entropy
                ).take()
                state.goOn(in: segment, allocated: segment.end)
            }
        }
    }

    func slot(_ position: Position, _ chain: UInt64, isClean: Bool) -> DurableSlot {
        DurableSlot(sequence: 0, position: position, chain: chain, journal: id, durability: durability, isClean: isClean)
    }
}

extension Journal {
    /// Makes everything durable, marks the journal closed in good order, gives back unused space and releases the lock.
    ///
    /// The second time it does nothing. Without it, as after a crash, the next opening recovers. Reads end with `closed` afterwards.
    ///
    /// - Throws: The error that stopped the journal, now or earlier; it is closed and unlocked all the same.
    public func close() throws(JournalError) {
        // After the lock has been released, which a follower may ask for at once.
        defer { published.withLock { $0.close() }?.deliver() }
        try sync.withLock { (sync) throws(JournalError) in
            defer { sync.lock?.unlock() }
            try change { (state) throws(JournalError) in
                if state.isClosed { return }
                state.isClosed = true
                if isReadOnly { return }
                if let failure = state.failure { throw failure }
                try state.writePending()
                let active = state.active
                let start = ContinuousClock.now
                do throws(JournalError) {
                    try storage { () throws(StorageError) in
                        try active.file.sync()
                        // Truncated after the sync, and synced again: a clean mark says that the file ends where the commits do.
                        try active.file.truncate(to: active.end)
                        try active.file.sync()
                    }
                    state.allocated = active.end
                    try attest(&state, &sync, isClean: true, since: start)
                } catch {
                    state.stop(error)
                    throw state.failure ?? error
                }
            }
        }
    }
}

/// The two locks that a writer holds: of the lock file and of the durable file.
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

/// How a journal is opened.
public struct JournalOptions: Sendable {
    /// When an append counts as durable.
    ///
    /// The journal does not remember a choice: each opening makes its own.
    public var durability: Durability
    /// The size in bytes at which a new segment file is begun; taken as the nearer bound when outside ``JournalLimits/segmentBytes``.
    public var segmentSize: UInt64
    /// What the journal's files are on.
    public var storage: any JournalStorage
    /// Where random bytes come from.
    public var entropy: any EntropySource
    /// A head taken earlier, which the journal must contain; opening refuses (`headMismatch`) when it does not.
    public var expectedHead: JournalHead?
    /// Whether opening for writing makes the journal when there is none.
    public var createIfMissing: Bool
    /// How long after a sync, if none follows it, the note of what was synced is synced itself; nil for not before the next rotation,
    /// ``Journal/synchronize()`` or ``Journal/close()``.
    ///
    /// The one thing that a journal does by the clock; nil makes a run on a simulated disk follow from its seed.
    public var idleDelay: Duration?
    /// Where a journal leads the syncs that tasks wait for, and a store on it wakes its followers and writes its checkpoints; nil for threads of their own.
    ///
    /// These are the places where tasks meet: with an executor that runs one step at a time in an order that follows from a seed, as `SeededExecutor` of `ChatTesting`
    /// does, so does a concurrent history. A sync blocks the executor's thread for as long as it takes.
    public var executor: (any TaskExecutor)?

    /// How long opening for writing waits while another writer has the journal; not at all where it is zero or less.
    ///
    /// The wait blocks the thread, asks for the lock again at intervals of at most 50 ms, and ignores the cancellation of a task. When the time is over, opening
    /// throws `locked`.
    public var lockTimeout: Duration

    /// Makes options; every one has a safe default.
    public init(
        durability: Durability = .synced, segmentSize: UInt64 = 128 << 20, storage: any JournalStorage = FileStorage(),
        entropy: any EntropySource = SystemEntropy(), expectedHead: JournalHead? = nil, createIfMissing: Bool = true,
        idleDelay: Duration? = .milliseconds(100), executor: (any TaskExecutor)? = nil,
        lockTimeout: Duration = .zero
    ) {
        self.durability = durability
        self.segmentSize = segmentSize
        self.storage = storage
        self.entropy = entropy
        self.expectedHead = expectedHead
        self.createIfMissing = createIfMissing
        self.idleDelay = idleDelay
        self.executor = executor
        self.lockTimeout = lockTimeout
    }
}
