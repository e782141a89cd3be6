/// Writes the segments of a copy: commits of stored records, framed anew, in a new file aside or after the commits of one that is there.
///
/// Records keep their bytes, salt, state and checksums; what is made here is what frames them. A commit attests as synced what the writer
/// was given, not what the source attested: a power cut may take some of the commits that were written since.
struct SegmentWriter {
    /// The space for finished commits before they are written.
    private static let chunk = 1 << 20

    let header: SegmentHeader
    let name: String
    /// The last position of the finished commits, and the chain value and the offset after it.
    private(set) var lastPosition: Position
    private(set) var chain: UInt64
    private(set) var end: UInt64

    private let directory: JournalDirectory
    private let file: any StorageFile
    private let seed: UInt32
    private let isNew: Bool
    /// Where the writer began: nothing before it is touched.
    private let start: UInt64
    private let syncedPosition: Position
    /// The entries of the footer for all finished commits.
    private var index: SparseIndex
    /// The finished commits that are not yet written, then the one in the making.
    private var buffer: [UInt8] = []
    private var commitStart = 0
    private var commitChain: UInt64
    private var recordsCRC: UInt32 = 0
    private var recordCount: UInt32 = 0
    /// Where the records of the commit in the making begin, for the index: the offset from the commit's first byte, and the records before.
    private var boundaries: [(offset: Int, records: UInt32)] = []

    /// Begins a new segment, in a file aside.
    init(creating header: SegmentHeader, in directory: JournalDirectory) throws(JournalError) {
        self.init(
            header, in: directory, isNew: true, after: header.firstPosition - 1, header.chain, UInt64(SegmentHeader.size),
            index: SparseIndex(),
            file: try storage { () throws(StorageError) in
                try directory.storage.open(directory.file(DirectoryListing.segmentName(header.firstPosition) + Self.suffix), .create)
            })
        let bytes = header.encoded()
        let file = file
        try storage { () throws(StorageError) in
            try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try file.write(span, at: 0) }
        }
    }

    /// Goes on after the last commit of a segment, whose file ends there and is durable.
    init(continuing segment: Segment, in directory: JournalDirectory, chain: UInt64) {
        self.init(
            segment.header, in: directory, isNew: false, after: segment.lastPosition, chain, segment.end, index: segment.index,
            file: segment.file)
    }

    private init(
        _ header: SegmentHeader, in directory: JournalDirectory, isNew: Bool, after position: Position, _ chain: UInt64, _ end: UInt64,
        index: SparseIndex, file: any StorageFile
    ) {
        self.header = header
        name = DirectoryListing.segmentName(header.firstPosition)
        lastPosition = position
        self.chain = chain
        self.end = end
        self.directory = directory
        self.file = file
        seed = header.framingSeed
        self.isNew = isNew
        start = end
        syncedPosition = position
        self.index = index
        commitChain = chain
    }

    private static let suffix = DirectoryListing.temporarySuffix

    /// How many bytes of the segment this writer has made, those of unfinished commits not counted.
    var byteCount: UInt64 { end - (isNew ? 0 : start) }

    /// The length of the commit in the making.
    var commitLength: Int { recordCount == 0 ? 0 : buffer.count - commitStart }

    // MARK: Commits

    /// Forgets the records since the last finished commit.
    mutating func dropCommit() {
        buffer.removeLast(buffer.count - commitStart)
        (commitChain, recordsCRC, recordCount) = (chain, 0, 0)
        boundaries.removeAll(keepingCapacity: true)
    }

    /// Adds a record, as it is stored, to the commit in the making.
    mutating func add(_ record: RawSpan, _ layout: RecordLayout) {
        if recordCount == 0 { buffer += [UInt8](repeating: 0, count: CommitHeader.size) }
        boundaries.append((buffer.count - commitStart, recordCount))
        let stored: UInt32 = record.integer(at: 0)
        recordsCRC = CRC32C.checksum(of: stored, continuing: recordsCRC)
        commitChain = Chain.step(commitChain, record: layout.originalCRC(record, at: 0, stored: stored))
        record.append(to: &buffer)
        recordCount += 1
    }

    /// Frames the records since the last finished commit; nothing happens if there are none.
    mutating func finishCommit() throws(JournalError) {
        guard recordCount > 0 else { return }
        let length = buffer.count - commitStart
        let commit = CommitHeader(
            length: UInt32(length), recordCount: recordCount, firstPosition: lastPosition + 1, syncedPosition: syncedPosition,
            chain: commitChain, recordsCRC: recordsCRC)
        var bytes = [UInt8](repeating: 0, count: CommitHeader.size)
        commit.encode(into: &bytes, seed: seed)
        buffer.copy(bytes, 0..<CommitHeader.size, to: commitStart)
        note(commit)
        (lastPosition, chain, commitStart) = (commit.lastPosition, commitChain, buffer.count)
        end += UInt64(length)
        (recordsCRC, recordCount) = (0, 0)
        if buffer.count >= Self.chunk { try flush() }
    }

    private mutating func note(_ commit: CommitHeader) {
        let relative = commit.firstPosition - header.firstPosition
        index.note(relative, at: end, recordsLeft: 0)
        for (offset, records) in boundaries {
            index.note(relative + UInt64(records), at: end + UInt64(offset), recordsLeft: commit.recordCount - records)
        }
        boundaries.removeAll(keepingCapacity: true)
    }

    private mutating func flush() throws(JournalError) {
        guard commitStart > 0 else { return }
        let (file, offset, count) = (file, end - UInt64(commitStart), commitStart)
        try storage { () throws(StorageError) in
            try buffer.withBytes(0..<count) { (span) throws(StorageError) in try file.write(span, at: offset) }
        }
        buffer.removeAll(keepingCapacity: buffer.count <= 2 * Self.chunk)
        commitStart = 0
    }

    // MARK: The end

    /// Makes the segment durable under its name; `sealed` says that another one follows it.
    mutating func finish(sealed: Bool) throws(JournalError) {
        try finishCommit()
        try flush()
        if sealed { try seal() }
        let file = file
        try storage { () throws(StorageError) in
            try file.sync()
            guard isNew else { return }
            try directory.storage.rename(directory.file(name + Self.suffix), to: directory.file(name))
            try directory.storage.syncDirectory(directory.path)
        }
    }

    /// Writes the footer; behind commits in their place only once they are durable.
    private func seal() throws(JournalError) {
        let bytes = SegmentFooter.encoded(index, lastPosition: lastPosition, chain: chain, seed: seed)
        try storage { () throws(StorageError) in
            if !isNew { try file.sync() }
            try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try file.write(span, at: end) }
        }
    }

    /// Takes back what was written, as far as the storage lets it: what stays is a file that nobody reads, or commits that nothing attests.
    func abandon() {
        do throws(StorageError) {
            if isNew {
                try directory.storage.remove(directory.file(name + Self.suffix))
            } else {
                try file.truncate(to: start)
                try file.sync()
            }
        } catch {
            // The failure that led here is the one to tell; recovery copes with what is left.
        }
    }
}
