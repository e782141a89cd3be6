import Primitives

/// One run of a backup.
///
/// A segment is synced under a temporary name, renamed, and only then attested by a slot. So the
/// destination's segments are always a prefix of the source's history, and its slots never attest
/// more than the segments contain.
struct Backup {
    private let source: BackupSource
    private var target: BackupTarget
    private var report: BackupReport

    private init(_ source: BackupSource, _ target: BackupTarget) {
        self.source = source
        self.target = target
        report = BackupReport(head: JournalHead(journal: source.journal, position: 0, chain: Chain.start(source.journal)))
    }

    /// Copies the missing segments to a directory.
    static func run(_ source: BackupSource, to directory: JournalDirectory) throws(JournalError) -> BackupReport {
        var backup = Backup(source, try BackupTarget(directory, of: source))
        defer { backup.target.unlock() }
        try backup.checkHistory()
        try backup.copy()
        return backup.report
    }

    /// Throws unless the destination contains a prefix of the source's history, in segments with
    /// the same starts.
    private func checkHistory() throws(JournalError) {
        let path = target.directory.path
        guard target.lastPosition <= source.limit else {
            throw JournalError(
                .headMismatch, "The copy goes up to position \(target.lastPosition), beyond the position to copy to.", path: path,
                positions: (source.limit + 1)...target.lastPosition)
        }
        guard try source.chain(after: target.lastPosition) == target.chain else {
            throw JournalError(
                .headMismatch, "The copy's history differs from the journal's at position \(target.lastPosition).", path: path,
                positions: target.lastPosition...target.lastPosition)
        }
        let present = target.segments.filter { !$0.isEmpty }
        let isAligned =
            present.count <= source.segments.count
            && present.indices.allSatisfy { index in
                let (copy, original) = (present[index], source.segments[index])
                return copy.start.position == original.start.position
                    && (copy.lastPosition == original.lastPosition
                        || index == present.count - 1 && copy.lastPosition < original.lastPosition)
            }
        guard isAligned else {
            throw JournalError(
                .headMismatch, "The copy cannot be continued: its segments start at other positions than the journal's.", path: path)
        }
    }

    private mutating func copy() throws(JournalError) {
        let wanted = source.segmentsToCopy
        var isComplete = target.isCleanlyClosed && target.segments.count == wanted.count && target.lastPosition == source.limit
        var isPresent: [Bool] = []
        for segment in wanted {
            isPresent.append(try self.isPresent(segment, isLast: segment.start.position == wanted.last?.start.position))
            isComplete = isComplete && isPresent.last == true
        }
        if !isComplete { try target.prepare() }
        if let last = target.segments.last, last.isEmpty, !wanted.contains(where: { $0.start.position == last.start.position }) {
            try target.removeEmptySegment()
        }
        for (segment, isPresent) in zip(wanted, isPresent) {
            if isPresent {
                report.skippedSegments.append(segment.name)
            } else {
                try copy(try source.load(segment), isLast: segment.start.position == wanted.last?.start.position)
            }
        }
        if !target.isCleanlyClosed { try target.attest(target.lastPosition, target.chain) }
        report.head = JournalHead(journal: source.journal, position: target.lastPosition, chain: target.chain)
    }

    /// Returns the index of the copied segment that starts at a position, or nil.
    private func index(of position: Position) -> Int? { target.segments.firstIndex { $0.start.position == position } }

    /// Whether a segment's copy is complete and durable: sealed if another one follows it,
    /// otherwise cleanly closed.
    private func isPresent(_ segment: SegmentReference, isLast: Bool) throws(JournalError) -> Bool {
        guard let index = index(of: segment.start.position) else { return false }
        let reference = target.segments[index]
        guard isLast ? index == target.segments.count - 1 && target.isCleanlyClosed : target.isSealed(reference) else { return false }
        let (copy, original) = (try target.load(reference), try source.load(segment))
        return copy.header == original.header && copy.lastPosition == original.lastPosition && copy.end == original.end
    }

    private mutating func copy(_ segment: Segment, isLast: Bool) throws(JournalError) {
        let index = index(of: segment.header.firstPosition)
        var present: Segment?
        if let index { present = try target.load(target.segments[index]) }
        var writer: SegmentWriter
        let isContinued: Bool
        if let index, case .last(let present) = target.segments[index], target.isCleanlyClosed, present.header == segment.header {
            writer = SegmentWriter(continuing: present, in: target.directory, chain: target.chain)
            isContinued = true
        } else {
            writer = try SegmentWriter(creating: segment.header, in: target.directory)
            isContinued = false
        }
        do throws(JournalError) {
            try source.copy(segment, to: &writer)
            guard writer.byteCount > 0 || !isLast else {
                report.skippedSegments.append(segment.name)
                return
            }
            try writer.finish(sealed: !isLast)
        } catch {
            writer.abandon()
            throw error
        }
        let isRewritten = !isContinued && present.map { $0.header.generation != segment.header.generation } == true
        if isRewritten { report.rewrittenSegments.append(segment.name) } else { report.copiedSegments.append(segment.name) }
        report.bytesCopied += writer.byteCount
        // The slots do not change for a segment before the last one.
        if writer.lastPosition >= target.lastPosition { try target.attest(writer.lastPosition, writer.chain) }
    }
}

/// A journal as of the start of its backup.
///
/// The segments may grow during the backup; they are read up to their ends at the start.
struct BackupSource {
    let journal: JournalID
    let directory: JournalDirectory
    /// All segments; the end of the last one may be beyond the limit.
    let segments: [SegmentReference]
    /// Opened separately from the journal's segments, to read segments that an erasure has
    /// replaced.
    let sealed: SealedSegments
    /// The last position that may be copied.
    let limit: Position
    /// The durable head at the start of the backup.
    let head: JournalHead

    /// The segments to copy: the first one, and all others that start within the limit.
    var segmentsToCopy: ArraySlice<SegmentReference> { segments.prefix { $0.start.position <= max(1, limit) } }

    /// Opens a segment, which is read up to its end at the start of the backup.
    func load(_ segment: SegmentReference) throws(JournalError) -> Segment { try segment.load(sealed) }

    /// Returns the chain value after a position within the limit, or nil if no commit ends there.
    ///
    /// - Complexity: Reads at most one segment, up to the position.
    func chain(after position: Position) throws(JournalError) -> UInt64? {
        if position == head.position { return head.chain }
        if let next = segments.first(where: { $0.start.position == position + 1 }) { return next.start.chain }
        guard let segment = segments.last(where: { $0.start.position <= position }) else { return nil }
        var visitor = BoundaryVisitor(limit: position)
        let reader = try read(try load(segment), from: nil, &visitor)
        return reader.position == position + 1 ? reader.chain : nil
    }

    /// Copies the commits of a segment up to the limit, starting at the writer's position.
    ///
    /// - Throws: `damaged` with the location when the bytes are not as written, and the errors of
    ///   the writer.
    func copy(_ segment: Segment, to writer: inout SegmentWriter) throws(JournalError) {
        var visitor = CopyingVisitor(writer: writer, limit: limit)
        defer { writer = visitor.writer }
        _ = try read(segment, from: writer, &visitor)
        if let failure = visitor.failure { throw failure }
    }

    private func read<Visitor: CommitVisitor>(
        _ segment: Segment, from writer: SegmentWriter?, _ visitor: inout Visitor
    ) throws(JournalError) -> CommitReader {
        var reader = CommitReader(
            segment, from: writer?.end ?? UInt64(SegmentHeader.size),
            position: (writer?.lastPosition).map { $0 + 1 } ?? segment.header.firstPosition, chain: writer?.chain ?? segment.header.chain,
            end: segment.end)
        _ = try reader.readRequired(through: segment.lastPosition, of: directory, &visitor)
        return reader
    }
}

/// Ends a read before the first commit that ends beyond a position.
private struct BoundaryVisitor: CommitVisitor {
    let limit: Position

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool { header.lastPosition <= limit }
}

/// Passes the commits up to a position to a writer.
private struct CopyingVisitor: CommitVisitor {
    var writer: SegmentWriter
    let limit: Position
    var failure: JournalError?

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool { failure == nil && header.lastPosition <= limit }

    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool {
        writer.add(bytes, layout)
        return true
    }

    mutating func end(_ header: CommitHeader, at offset: UInt64) {
        do throws(JournalError) { try writer.finishCommit() } catch { failure = error }
    }
}

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
    /// - Throws: `notAJournal`, `locked`, `sameDirectory`, `headMismatch` (another journal),
    ///   `damaged`, `newerVersion` and the errors of the storage.
    init(_ directory: JournalDirectory, of source: BackupSource) throws(JournalError) {
        let journal = source.journal
        self.directory = directory
        self.journal = journal
        chain = Chain.start(journal)
        sealed = SealedSegments(directory, journal)
        switch try convertingStorageErrors({ () throws(StorageError) in try directory.storage.kind(of: directory.path) }) {
        case .directory: break
        case .file, .other: throw directory.notAJournal
        case nil: try convertingStorageErrors { () throws(StorageError) in try directory.storage.createDirectory(directory.path) }
        }
        let first = try directory.list()
        if !first.isJournal && first.hasForeignFiles { throw directory.notAJournal }
        locks = [try Self.lock(directory, besides: source.directory)]
        let listing = try directory.list()
        hasDurable = listing.hasDurableFile
        temporaries = listing.temporaryFiles
        guard listing.isJournal else { return }
        if hasDurable { locks.append(try Self.lock(directory, DirectoryListing.durableName)) }
        let slots = try DurableSlots(directory, .readWrite)
        self.slots = slots
        guard slots.newest.journal == journal else {
            throw JournalError(
                .headMismatch, "The destination is the journal \(slots.newest.journal), not \(journal).", path: directory.path)
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

    /// Locks the destination, unless it is the directory of the journal itself.
    ///
    /// A comparison of paths or storages does not suffice: a link may lead to the same directory,
    /// and equal paths may be on two disks. But locking one directory locks the other only if they
    /// are the same.
    private static func lock(_ directory: JournalDirectory, besides source: JournalDirectory) throws(JournalError) -> any StorageLock {
        let lock = try lock(directory, DirectoryListing.lockName)
        guard try isHeld(source) else { return lock }
        // Held while this lock is held, and free without it: the same directory. Held without this
        // lock: the source has a writer of its own, so it is another directory.
        lock.unlock()
        let wasHeld = try isHeld(source)
        let again = try Self.lock(directory, DirectoryListing.lockName)
        let isHeldAgain = try isHeld(source)
        if wasHeld || !isHeldAgain { return again }
        throw JournalError(.sameDirectory, "The destination is the journal itself.", path: directory.path)
    }

    private static func isHeld(_ source: JournalDirectory) throws(JournalError) -> Bool {
        try convertingStorageErrors { () throws(StorageError) in try source.storage.isLocked(source.lockPath) }
    }

    private static func lock(_ directory: JournalDirectory, _ name: String) throws(JournalError) -> any StorageLock {
        guard let lock = try convertingStorageErrors({ () throws(StorageError) in try directory.storage.lock(directory.file(name)) }) else {
            throw JournalError(.locked, "The copy is open for writing elsewhere.", path: directory.path)
        }
        return lock
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
        try convertingStorageErrors { () throws(StorageError) in
            for name in temporaries { try directory.storage.remove(directory.file(name)) }
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
        try convertingStorageErrors { () throws(StorageError) in try directory.storage.syncDirectory(directory.parent) }
        let slot = DurableSlot(sequence: 0, position: 0, chain: chain, journal: journal, durability: .synced, isClean: true)
        _ = try directory.createTemporaryFile(DirectoryListing.durableName, DurableSlot.file(of: slot)).publish()
        locks.append(try Self.lock(directory, DirectoryListing.durableName))
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
        let (bytes, file, offset) = (slot.encoded(), slots.file, slot.offset)
        try convertingStorageErrors { () throws(StorageError) in
            try bytes.withBytes(0..<DurableSlot.size) { (span) throws(StorageError) in try file.write(span, at: offset) }
            try file.sync()
        }
        slots.newest = slot
        self.slots = slots
        (lastPosition, self.chain, isCleanlyClosed) = (position, chain, true)
    }
}

/// A segment of a journal that is copied or copied to, and how to open it.
enum SegmentReference {
    /// A segment with a successor; its file is opened when needed.
    case sealed(SegmentStart, next: SegmentStart)
    /// The last segment.
    case last(Segment)

    /// All segments of a journal.
    static func all(_ starts: [SegmentStart], _ last: Segment) -> [SegmentReference] {
        let followers = starts.dropFirst() + [SegmentStart(last.header)]
        return zip(starts, followers).map { SegmentReference.sealed($0, next: $1) } + [.last(last)]
    }

    var start: SegmentStart {
        switch self {
        case .sealed(let start, _): start
        case .last(let segment): SegmentStart(segment.header)
        }
    }

    /// The last position in the segment; one less than its first position when it is empty.
    var lastPosition: Position {
        switch self {
        case .sealed(_, let next): next.position - 1
        case .last(let segment): segment.lastPosition
        }
    }

    var isEmpty: Bool { lastPosition < start.position }

    var name: String { DirectoryListing.segmentName(start.position) }

    /// Opens the segment.
    func load(_ sealed: SealedSegments) throws(JournalError) -> Segment {
        switch self {
        case .sealed(let start, let next): try sealed.segment(from: start, to: next)
        case .last(let segment): segment
        }
    }
}
