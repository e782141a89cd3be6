import Primitives

/// Writes the segments of a copy: stored records in newly framed commits.
///
/// The writer appends to a new, temporary file or after the commits of an existing segment. Records
/// keep their bytes, salt, state and checksums. Commits attest the synced position that the writer
/// received, not that of the source, because a power failure may lose some of the new commits.
struct SegmentWriter {
    /// The size at which the buffered commits are written.
    private static let flushThreshold = 1 << 20

    /// The segment with its finished commits.
    private(set) var segment: Segment
    /// The chain value after the finished commits.
    private(set) var chain: UInt64

    private let directory: JournalDirectory
    private let isNew: Bool
    /// The offset of the first new byte; earlier bytes stay unchanged.
    private let start: UInt64
    private let syncedPosition: Position
    /// Called before commits are written.
    private let willWrite: () throws(JournalError) -> Void
    /// The finished commits that are not yet written, and the unfinished one.
    private var framer = CommitFramer()

    /// Begins a new segment in a temporary file.
    ///
    /// - Parameter willWrite: Called after commits were added, and before they are written.
    init(
        creating header: SegmentHeader, in directory: JournalDirectory,
        willWrite: @escaping () throws(JournalError) -> Void = {}
    ) throws(JournalError) {
        let name = JournalFileName.segment(header.firstPosition)
        let file = try convertingErrors(of: directory.storage.open(directory.file(name + Self.suffix), .create))
        self.init(Segment(name: name, header: header, file: file), in: directory, isNew: true, header.chain, willWrite)
        let bytes = header.encoded()
        do throws(JournalError) {
            try convertingErrors(of: bytes.withBytes { (span) throws(StorageError) in try file.write(span, at: 0) })
        } catch {
            abandon()
            throw error
        }
    }

    /// Continues after the last commit of a durable segment whose file ends there.
    init(
        continuing segment: Segment, in directory: JournalDirectory, chain: UInt64,
        willWrite: @escaping () throws(JournalError) -> Void
    ) {
        self.init(segment, in: directory, isNew: false, chain, willWrite)
    }

    private init(
        _ segment: Segment, in directory: JournalDirectory, isNew: Bool, _ chain: UInt64,
        _ willWrite: @escaping () throws(JournalError) -> Void
    ) {
        self.segment = segment
        self.chain = chain
        self.directory = directory
        self.isNew = isNew
        start = segment.end
        syncedPosition = segment.lastPosition
        self.willWrite = willWrite
    }

    private static let suffix = JournalFileName.temporarySuffix

    /// The name of the segment.
    var name: String { segment.name }
    /// The last position of the finished commits.
    var lastPosition: Position { segment.lastPosition }
    /// The offset after the finished commits.
    var end: UInt64 { segment.end }

    /// The number of bytes of the segment that this writer has created, without the unfinished
    /// commit.
    var byteCount: UInt64 { end - (isNew ? 0 : start) }

    /// The length of the unfinished commit in bytes.
    var commitLength: Int { framer.commitLength }

    // MARK: Commits

    /// Adds a stored record to the unfinished commit.
    mutating func add(_ record: RawSpan, _ layout: RecordLayout) { framer.add(record, layout, after: chain) }

    /// Frames the records since the last finished commit.
    ///
    /// Does nothing if none were added.
    mutating func finishCommit() throws(JournalError) {
        framer.finishCommit(behind: &segment, &chain, synced: syncedPosition)
        if framer.byteCount >= Self.flushThreshold { try flush() }
    }

    private mutating func flush() throws(JournalError) {
        if framer.isEmpty { return }
        try willWrite()
        try convertingErrors(of: framer.write(to: segment.file, endingAt: end))
    }

    // MARK: The end

    /// Makes the segment durable under its name.
    ///
    /// - Parameters:
    ///   - sealed: Whether another segment follows.
    ///   - generation: The generation of a new segment; nil for that of the header.
    mutating func finish(sealed: Bool, generation: UInt32? = nil) throws(JournalError) {
        try finishCommit()
        try flush()
        if isNew, let generation, generation != segment.header.generation { try setGeneration(generation) }
        if sealed { try writeFooter() }
        let (file, name) = (segment.file, segment.name)
        try convertingStorageErrors { () throws(StorageError) in
            try file.sync()
            guard isNew else { return }
            try directory.storage.rename(directory.file(name + Self.suffix), to: directory.file(name))
            try directory.storage.syncDirectory(directory.path)
        }
    }

    private mutating func setGeneration(_ generation: UInt32) throws(JournalError) {
        segment.header.generation = generation
        let (file, bytes) = (segment.file, segment.header.encoded())
        try convertingErrors(of: bytes.withBytes { (span) throws(StorageError) in try file.write(span, at: 0) })
    }

    /// Writes the footer.
    ///
    /// Existing segments are synced first, because a footer attests their commits.
    private func writeFooter() throws(JournalError) {
        try convertingStorageErrors { () throws(StorageError) in
            if !isNew { try segment.file.sync() }
            try segment.writeFooter(chain)
        }
    }

    /// Removes the written bytes as far as the storage permits.
    ///
    /// On failure, the rest is an unused file, or commits that no file attests.
    func abandon() {
        do throws(StorageError) {
            if isNew {
                try directory.storage.remove(directory.file(name + Self.suffix))
            } else {
                try segment.file.truncate(to: start)
                try segment.file.sync()
            }
        } catch {
            // The caller reports the earlier failure; recovery handles the remaining bytes.
        }
    }
}
