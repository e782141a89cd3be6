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
        case .file, .other: throw notAJournal(directory)
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
            if first.hasForeign { throw notAJournal(directory) }
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
        case .file, .other: throw notAJournal(directory)
        case nil: throw notFound(directory)
        }
        let listing = try directory.list()
        if listing.isJournal { return }
        throw listing.hasForeign ? notAJournal(directory) : notFound(directory)
    }

    static func isLocked(_ directory: JournalDirectory) throws(JournalError) -> Bool {
        try storage { () throws(StorageError) in
            if try directory.storage.isLocked(directory.lockPath) { return true }
            return try directory.storage.isLocked(directory.file(DirectoryListing.durableName))
        }
    }

    private static func notAJournal(_ directory: JournalDirectory) -> JournalError {
        JournalError(.notAJournal, "There is something else than a journal at the path.", path: directory.path)
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
        _ = try makeSegment(
            in: directory, journal: slots.newest.journal, first: 1, chain: Chain.start(slots.newest.journal), &entropy
        ).take()
        listing = try directory.list()
        return true
    }

    /// Makes an empty segment, whole and synced, which gets its name when it is taken; `prepare` may reserve space in it.
    static func makeSegment(
        in directory: JournalDirectory, journal: JournalID, first: Position, chain: UInt64, _ entropy: inout EntropyPool,
        prepare: (any StorageFile) throws(JournalError) -> Void = { (_) in }
    ) throws(JournalError) -> NewSegment {
        let header = SegmentHeader(journal: journal, firstPosition: first, chain: chain, salt: entropy.next())
        let file = try directory.make(DirectoryListing.segmentName(first), header.encoded(), prepare: prepare)
        return NewSegment(header: header, file: file)
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
                let segment = try Self.makeSegment(
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

/// A segment that has not got its name yet.
struct NewSegment {
    let header: SegmentHeader
    let file: NewFile

    /// Gives it its name, durably.
    func take() throws(JournalError) -> Segment {
        Segment(name: file.name, header: header, file: try file.take())
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
