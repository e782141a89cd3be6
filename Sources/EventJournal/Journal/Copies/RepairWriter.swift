/// Writes the journal that a repair makes: records as they come, in commits and segments of its own.
struct RepairWriter {
    /// The length at which a commit is ended inside one of the source's.
    private static let commitBytes = 1 << 20

    let directory: JournalDirectory
    let journal: JournalID
    private let segmentSize: UInt64
    private var entropy: EntropyPool
    private let lock: any StorageLock
    private var writer: SegmentWriter?
    private var names: [String] = []
    private var placeholder: [UInt8] = []
    /// The kept part of the last record.
    private(set) var previousKept: [UInt8] = []
    /// The last position, and the chain value after it.
    private(set) var lastPosition: Position = 0
    private(set) var chain: UInt64

    /// Takes an empty directory, or makes it.
    init(_ directory: JournalDirectory, _ options: RepairOptions) throws(JournalError) {
        self.directory = directory
        segmentSize = min(max(options.segmentSize, JournalLimits.segmentBytes.lowerBound), JournalLimits.segmentBytes.upperBound)
        entropy = EntropyPool(options.entropy)
        switch try storage({ () throws(StorageError) in try directory.storage.kind(of: directory.path) }) {
        case .directory: break
        case .file, .other: throw Self.notEmpty(directory)
        case nil: try storage { () throws(StorageError) in try directory.storage.createDirectory(directory.path) }
        }
        guard try storage({ () throws(StorageError) in try directory.storage.list(directory.path) }).isEmpty else {
            throw Self.notEmpty(directory)
        }
        guard let lock = try storage({ () throws(StorageError) in try directory.storage.lock(directory.lockPath) }) else {
            throw JournalError(.locked, "Somebody else writes to the destination.", path: directory.path)
        }
        self.lock = lock
        journal = JournalID.random(&entropy)
        chain = Chain.start(journal)
        try storage { () throws(StorageError) in try directory.storage.syncDirectory(directory.parent) }
    }

    private static func notEmpty(_ directory: JournalDirectory) -> JournalError {
        JournalError(.notEmpty, "There is something at the destination.", path: directory.path)
    }

    /// Adds a record as it is stored.
    mutating func add(_ record: RawSpan) throws(JournalError) {
        guard case .record(let layout) = RecordLayout.decode(record, at: 0) else {
            preconditionFailure("only records that were read are written")
        }
        let length = UInt64(record.byteCount)
        if let writer {
            let commit = UInt64(writer.commitLength)
            if commit > 0, commit + length > UInt64(Self.commitBytes) || writer.end + commit + length > segmentSize {
                try finishCommit()
            }
        }
        if let writer, writer.commitLength == 0, writer.end > UInt64(SegmentHeader.size),
            writer.end + UInt64(CommitHeader.size) + length > segmentSize
        {
            try finishSegment(sealed: true)
        }
        if writer == nil { try beginSegment() }
        writer?.add(record, layout)
        lastPosition += 1
        previousKept.removeAll(keepingCapacity: true)
        record.extracting(layout.kept).append(to: &previousKept)
    }

    /// Adds a whole record with this kept part and nothing erasable.
    mutating func addPlaceholder(_ kept: [UInt8]) throws(JournalError) {
        guard kept.count <= JournalLimits.keptBytes else {
            throw JournalError(.tooLarge, "A placeholder has \(kept.count) bytes; at most \(JournalLimits.keptBytes) are allowed.")
        }
        placeholder.removeAll(keepingCapacity: true)
        placeholder += [0, 0, 0, 0]
        LEB128.append(UInt32(kept.count), to: &placeholder)
        LEB128.append(UInt32(RecordContentState.whole.rawValue), to: &placeholder)
        placeholder += kept
        let salt = placeholder.count
        placeholder += [UInt8](repeating: 0, count: JournalLimits.recordSalt)
        placeholder.store(entropy.next() as RecordSalt, at: salt)
        placeholder.store(placeholder.withBytes(4..<placeholder.count) { CRC32C.checksum(of: $0) }, at: 0)
        let bytes = placeholder
        try bytes.withBytes(0..<bytes.count) { (span) throws(JournalError) in try add(span) }
    }

    /// Ends a commit of the source's.
    mutating func finishCommit() throws(JournalError) { try writer?.finishCommit() }

    /// Makes a journal of what was written, closed in good order.
    mutating func finish() throws(JournalError) {
        if writer == nil { try beginSegment() }
        try finishSegment(sealed: false)
        let slot = DurableSlot(sequence: 0, position: lastPosition, chain: chain, journal: journal, durability: .synced, isClean: true)
        _ = try directory.make(DirectoryListing.durableName, DurableSlot.file(of: slot)).take()
        lock.unlock()
    }

    /// Removes what was written, as far as the storage lets it: without a durable file it is no journal.
    mutating func abandon() {
        writer?.abandon()
        // The lock file as well: a destination with anything in it would be refused the next time.
        for name in names + [DirectoryListing.lockName] {
            do throws(StorageError) {
                try directory.storage.remove(directory.file(name))
            } catch {
                // The failure that led here is the one to tell.
            }
        }
        lock.unlock()
    }

    private mutating func beginSegment() throws(JournalError) {
        let header = SegmentHeader(journal: journal, firstPosition: lastPosition + 1, chain: chain, salt: entropy.next())
        writer = try SegmentWriter(creating: header, in: directory)
    }

    private mutating func finishSegment(sealed: Bool) throws(JournalError) {
        guard var segment = writer else { return }
        try segment.finish(sealed: sealed)
        chain = segment.chain
        names.append(segment.name)
        writer = nil
    }
}

extension JournalID {
    /// A new id: a UUID of version 4, variant 10 (RFC 9562 section 5.4).
    static func random(_ entropy: inout EntropyPool) -> JournalID {
        let bits: UInt128 = entropy.next()
        let version: UInt128 = 0xF << 76
        let variant: UInt128 = 0x3 << 62
        return JournalID(bits: bits & ~(version | variant) | 0x4 << 76 | 0x2 << 62)
    }
}
