/// The destination of a backup, locked during the run.
///
/// The initializer creates at most the directory and a lock file. So the run knows whether the copy
/// can be continued before it changes the copy.
struct BackupTarget {
    let directory: JournalDirectory
    let journal: JournalID
    /// The segments of the copy, in order.
    private(set) var segments: [SegmentReference] = []
    /// The last position of the copy and the chain value after it.
    private(set) var lastPosition: Position = 0
    private(set) var chain: UInt64
    /// Whether the copy was cleanly closed and its last file ends at the last commit.
    ///
    /// Commits can then be added in place.
    private(set) var isCleanlyClosed = false
    private let hasDurable: Bool
    private let temporaries: [String]
    /// The names of the segments whose footers cannot be read.
    private var damagedFooters: [String] = []
    private let sealed: SealedSegments
    private var slots: DurableSlots?
    private var locks: [any StorageLock]

    /// Locks the destination and reads its state.
    ///
    /// - Throws: `notAJournal`, `locked`, `sameDirectory`, `copy` and `moved` (the directory has a
    ///   role), `headMismatch` (another journal), `damaged`, `newerVersion` and the errors of the
    ///   storage.
    init(_ directory: JournalDirectory, of source: any BackupSource) throws(JournalError) {
        let journal = source.journal
        self.directory = directory
        self.journal = journal
        chain = Chain.start(journal)
        sealed = SealedSegments(directory, journal)
        if try !directory.exists(orThrow: directory.notAJournal) {
            try convertingErrors(of: directory.storage.createDirectory(directory.path))
        }
        let first = try directory.list()
        if !first.isJournal && first.hasForeignFiles { throw directory.notAJournal }
        locks = [try Self.lock(directory, besides: source.directory)]
        if let found = try directory.readRole() { throw JournalError(found.role, path: directory.path) }
        let listing = try directory.list()
        hasDurable = listing.hasDurableFile
        temporaries = listing.temporaryFiles
        guard listing.isJournal else { return }
        if hasDurable { locks.append(try Self.lock(directory, JournalFileName.durable)) }
        let slots = try DurableSlots(directory, .readWrite)
        self.slots = slots
        guard slots.newest.journal == journal else {
            throw JournalError(
                .headMismatch, "The destination is the journal \(slots.newest.journal), not \(journal).",
                path: directory.path)
        }
        // An earlier backup was interrupted before its first segment.
        if listing.segments.isEmpty && slots.newest.position == 0 { return }
        let recovery = try Recovery(
            Recovery.Request(directory: directory, mode: .readWrite, expectedHead: nil, hasLiveWriter: false))
        segments = SegmentReference.all(recovery.sealedStarts, recovery.lastSegment)
        if recovery.isLastSealed, let last = segments.popLast() {
            segments.append(.sealed(last.start, next: SegmentStart(recovery.lastPosition + 1, chain: recovery.chain)))
        }
        damagedFooters = recovery.report.damagedFooters
        lastPosition = recovery.lastPosition
        chain = recovery.chain
        isCleanlyClosed = recovery.report.wasClean
    }

    /// Locks the destination, unless it is the directory of the log itself.
    ///
    /// A comparison of paths or storages does not suffice: a link may lead to the same directory,
    /// and equal paths may be on two disks. But locking one directory locks the other only if they
    /// are the same.
    private static func lock(_ directory: JournalDirectory, besides source: JournalDirectory?) throws(JournalError)
        -> any StorageLock
    {
        let lock = try lock(directory, JournalFileName.lock)
        guard let source, try isHeld(source) else { return lock }
        // The source's lock is held while this lock is held. The outcome:
        //
        // | without this lock | with it again | the source                                |
        // | free              | held          | is the same directory                     |
        // | free              | free          | is another one, whose writer has closed   |
        // | held              | either        | is another one, with a writer of its own  |
        lock.unlock()
        let wasHeld = try isHeld(source)
        let again = try Self.lock(directory, JournalFileName.lock)
        let isHeldAgain = try isHeld(source)
        if wasHeld || !isHeldAgain { return again }
        throw JournalError(.sameDirectory, "The destination is the journal itself.", path: directory.path)
    }

    private static func isHeld(_ source: JournalDirectory) throws(JournalError) -> Bool {
        try convertingErrors(of: source.storage.isLocked(source.lockPath))
    }

    private static func lock(_ directory: JournalDirectory, _ name: String) throws(JournalError) -> any StorageLock {
        try directory.lock(name, orThrow: "The copy is open for writing elsewhere.")
    }

    func unlock() {
        for lock in locks.reversed() { lock.unlock() }
    }

    /// Opens a segment of the copy.
    func load(_ segment: SegmentReference) throws(JournalError) -> Segment { try segment.load(sealed) }

    /// Whether a segment ends with a readable footer.
    func isSealed(_ segment: SegmentReference) -> Bool {
        if case .sealed = segment { return !damagedFooters.contains(segment.name) }
        return false
    }

    // MARK: Changes

    /// Syncs the names, removes temporary files, and creates a missing durable file that attests
    /// nothing.
    mutating func prepare() throws(JournalError) {
        let directory = directory
        // The journal may have erased content since this copy was opened.
        try directory.removeCopiesOfContent()
        try convertingStorageErrors { () throws(StorageError) in
            // Segments are replaced, so no order of the copy is known to be carried out.
            if try directory.storage.kind(of: directory.file(JournalFileName.erased)) != nil {
                try directory.storage.remove(directory.file(JournalFileName.erased))
                try directory.storage.syncDirectory(directory.path)
            }
            // The temporary files of checkpoints are gone already.
            for name in temporaries where try directory.storage.kind(of: directory.file(name)) != nil {
                try directory.storage.remove(directory.file(name))
            }
        }
        guard !hasDurable else {
            // A run that was killed may have renamed a segment or written its footer without the
            // sync.
            let last = try segments.last.map { (segment) throws(JournalError) in try load(segment) }
            return try convertingStorageErrors { () throws(StorageError) in
                try last?.file.sync()
                try directory.storage.syncDirectory(directory.path)
            }
        }
        try convertingErrors(of: directory.storage.syncDirectory(directory.parent))
        let slot = DurableSlot(
            sequence: 0, position: 0, chain: chain, journal: journal, durability: .synced, isClean: true)
        _ = try directory.createTemporaryFile(JournalFileName.durable, DurableSlot.file(of: slot)).publish()
        locks.append(try Self.lock(directory, JournalFileName.durable))
        slots = try DurableSlots(directory, .readWrite)
    }

    /// Removes the last segment, which is empty: a writer that opened the copy created it.
    mutating func removeEmptySegment() throws(JournalError) {
        guard let segment = segments.popLast() else { return }
        let directory = directory
        try convertingStorageErrors { () throws(StorageError) in
            try directory.storage.remove(directory.file(segment.name))
            try directory.storage.syncDirectory(directory.path)
        }
        isCleanlyClosed = false
    }

    /// Writes a slot that attests the segments' history and marks the copy as cleanly closed.
    mutating func attest(_ position: Position, _ chain: UInt64) throws(JournalError) {
        guard var slots else { return }
        var slot = slots.newest
        slot.sequence &+= 1
        (slot.position, slot.chain, slot.durability, slot.isClean) = (position, chain, .synced, true)
        try slot.write(to: slots.file)
        try convertingErrors(of: slots.file.sync())
        slots.newest = slot
        self.slots = slots
        (lastPosition, self.chain, isCleanlyClosed) = (position, chain, true)
    }
}
