/// The destination of a backup, held for as long as it runs.
///
/// A value that has been made has changed nothing but a lock file: whether the copy may be continued is known before it is touched.
struct BackupTarget {
    let directory: JournalDirectory
    let journal: JournalID
    /// The segments of the copy, in order.
    private(set) var segments: [SegmentReference] = []
    /// The last position of the copy and the chain value after it.
    private(set) var lastPosition: Position = 0
    private(set) var chain: UInt64
    /// Whether the copy was closed in good order and its last segment's file ends with the commits: then it can be added to in place.
    private(set) var isSettled = false
    private let hasDurable: Bool
    private let temporaries: [String]
    /// The names of the segments whose footers cannot be read.
    private var damagedFooters: [String] = []
    private let sealed: SealedSegments
    private var slots: DurableSlots?
    private var locks: [any StorageLock]

    /// Takes the destination and reads what is there.
    ///
    /// - Throws: `notAJournal`, `locked`, `sameDirectory`, `headMismatch` (another journal), `damaged`, `newerVersion` and the storage's
    ///   failures.
    init(_ directory: JournalDirectory, of source: BackupSource) throws(JournalError) {
        let journal = source.journal
        self.directory = directory
        self.journal = journal
        chain = Chain.start(journal)
        sealed = SealedSegments(directory, journal)
        switch try storage({ () throws(StorageError) in try directory.storage.kind(of: directory.path) }) {
        case .directory: break
        case .file, .other: throw Self.notAJournal(directory)
        case nil: try storage { () throws(StorageError) in try directory.storage.createDirectory(directory.path) }
        }
        let first = try directory.list()
        if !first.isJournal && first.hasForeign { throw Self.notAJournal(directory) }
        locks = [try Self.lock(directory, besides: source.directory)]
        let listing = try directory.list()
        hasDurable = listing.hasDurable
        temporaries = listing.temporaries
        guard listing.isJournal else { return }
        if hasDurable { locks.append(try Self.lock(directory, DirectoryListing.durableName)) }
        let slots = try DurableSlots(directory, .readWrite)
        self.slots = slots
        guard slots.newest.journal == journal else {
            throw JournalError(
                .headMismatch, "The destination is the journal \(slots.newest.journal), not \(journal).", path: directory.path)
        }
        // A copy that was cut off before its first segment.
        if listing.segments.isEmpty && slots.newest.position == 0 { return }
        let recovery = try Recovery(
            Recovery.Request(directory: directory, mode: .readWrite, expectedHead: nil, hasLiveWriter: false))
        segments = SegmentReference.all(recovery.sealedStarts, recovery.last)
        if recovery.isLastSealed, let last = segments.popLast() {
            segments.append(.sealed(last.start, next: SegmentStart(recovery.lastPosition + 1, chain: recovery.chain)))
        }
        damagedFooters = recovery.report.damagedFooters
        lastPosition = recovery.lastPosition
        chain = recovery.chain
        isSettled = recovery.report.wasClean
    }

    /// Takes the lock of the destination, unless that is the directory of the journal itself.
    ///
    /// Paths do not tell, nor do storages: a link leads elsewhere, and one name may be on two disks. But a lock that is taken at one place
    /// is held at the other only if the two are one.
    private static func lock(_ directory: JournalDirectory, besides source: JournalDirectory) throws(JournalError) -> any StorageLock {
        let lock = try lock(directory, DirectoryListing.lockName)
        guard try isHeld(source) else { return lock }
        // It may be that of the journal's writer, who does not come and go with this one.
        lock.unlock()
        let wasHeld = try isHeld(source)
        let again = try Self.lock(directory, DirectoryListing.lockName)
        let isHeldAgain = try isHeld(source)
        if wasHeld || !isHeldAgain { return again }
        throw JournalError(.sameDirectory, "The destination is the journal itself.", path: directory.path)
    }

    private static func isHeld(_ source: JournalDirectory) throws(JournalError) -> Bool {
        try storage { () throws(StorageError) in try source.storage.isLocked(source.lockPath) }
    }

    private static func lock(_ directory: JournalDirectory, _ name: String) throws(JournalError) -> any StorageLock {
        guard let lock = try storage({ () throws(StorageError) in try directory.storage.lock(directory.file(name)) }) else {
            throw JournalError(.locked, "The copy is open for writing elsewhere.", path: directory.path)
        }
        return lock
    }

    private static func notAJournal(_ directory: JournalDirectory) -> JournalError {
        JournalError(.notAJournal, "There is something else than a journal at the path.", path: directory.path)
    }

    func unlock() {
        for lock in locks.reversed() { lock.unlock() }
    }

    /// Opens a segment of the copy.
    func load(_ segment: SegmentReference) throws(JournalError) -> Segment { try segment.load(sealed) }

    /// Whether a segment ends in a footer that can be read.
    func isSealed(_ segment: SegmentReference) -> Bool {
        if case .sealed = segment { return !damagedFooters.contains(segment.name) }
        return false
    }

    // MARK: Changes

    /// Makes the destination ready: its names durable, nothing left over, and a durable file that attests nothing if there was none.
    mutating func prepare() throws(JournalError) {
        let directory = directory
        try storage { () throws(StorageError) in
            for name in temporaries { try directory.storage.remove(directory.file(name)) }
        }
        guard !hasDurable else {
            // A run that was killed may have renamed a segment, or given one its footer, and not come to the sync.
            let last = try segments.last.map { (segment) throws(JournalError) in try load(segment) }
            return try storage { () throws(StorageError) in
                try last?.file.sync()
                try directory.storage.syncDirectory(directory.path)
            }
        }
        try storage { () throws(StorageError) in try directory.storage.syncDirectory(directory.parent) }
        let slot = DurableSlot(sequence: 0, position: 0, chain: chain, journal: journal, durability: .synced, isClean: true)
        _ = try directory.make(DirectoryListing.durableName, DurableSlot.file(of: slot)).take()
        locks.append(try Self.lock(directory, DirectoryListing.durableName))
        slots = try DurableSlots(directory, .readWrite)
    }

    /// Removes the last segment, which has no commits: whoever opened the copy for writing began it.
    mutating func removeEmptySegment() throws(JournalError) {
        guard let segment = segments.popLast() else { return }
        let directory = directory
        try storage { () throws(StorageError) in
            try directory.storage.remove(directory.file(segment.name))
            try directory.storage.syncDirectory(directory.path)
        }
        isSettled = false
    }

    /// Attests, in the durable file, a history that the segments hold, as that of a journal closed in good order.
    mutating func attest(_ position: Position, _ chain: UInt64) throws(JournalError) {
        guard var slots else { return }
        var slot = slots.newest
        slot.sequence &+= 1
        (slot.position, slot.chain, slot.durability, slot.isClean) = (position, chain, .synced, true)
        let (bytes, file, offset) = (slot.encoded(), slots.file, slot.offset)
        try storage { () throws(StorageError) in
            try bytes.withBytes(0..<DurableSlot.size) { (span) throws(StorageError) in try file.write(span, at: offset) }
            try file.sync()
        }
        slots.newest = slot
        self.slots = slots
        (lastPosition, self.chain, isSettled) = (position, chain, true)
    }
}

extension DurableSlot {
    /// The bytes of a durable file in which both slots say the same, numbered 1 and 2.
    static func file(of slot: DurableSlot) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: fileSize)
        for sequence in 1...2 as ClosedRange<UInt64> {
            var slot = slot
            slot.sequence = sequence
            bytes.copy(slot.encoded(), 0..<size, to: Int(slot.offset))
        }
        return bytes
    }
}
