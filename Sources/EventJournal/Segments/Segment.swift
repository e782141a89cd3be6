import Primitives

/// The state of a segment in memory.
struct Segment {
    let name: String
    var header: SegmentHeader
    /// The seed of the commits' checksums, from the header: bytes of another file are no commits.
    let framingSeed: UInt32
    var file: any StorageFile
    var index: SparseIndex
    /// The last position in the segment; one less than its first if the segment is empty.
    var lastPosition: Position
    /// The offset after the last valid commit.
    var end: UInt64

    init(name: String, header: SegmentHeader, file: any StorageFile) {
        self.name = name
        self.header = header
        self.file = file
        framingSeed = header.framingSeed
        index = SparseIndex()
        lastPosition = header.firstPosition - 1
        end = UInt64(SegmentHeader.size)
    }

    var isEmpty: Bool { end == UInt64(SegmentHeader.size) }

    /// The number of bytes of the commits, without header and unused space.
    var commitBytes: UInt64 { end - UInt64(SegmentHeader.size) }

    /// Returns the segment's footer.
    ///
    /// `chain` is the value after its last record.
    func footer(_ chain: UInt64) -> [UInt8] {
        SegmentFooter.encoded(index, lastPosition: lastPosition, chain: chain, seed: framingSeed)
    }

    /// Writes the footer after the synced commits, truncates the file after it and syncs the file.
    ///
    /// If the write fails, removes the partial footer, so that the next opening need not
    /// distinguish it from damage.
    func seal(_ chain: UInt64) throws(StorageError) {
        let fileEnd: UInt64
        do throws(StorageError) {
            fileEnd = try writeFooter(chain)
        } catch {
            truncateToCommits()
            throw error
        }
        try file.truncate(to: fileEnd)
        try file.sync()
    }

    /// Writes the footer after the commits, and returns the offset after it.
    @discardableResult
    func writeFooter(_ chain: UInt64) throws(StorageError) -> UInt64 {
        let bytes = footer(chain)
        try bytes.withBytes { (span) throws(StorageError) in try file.write(span, at: end) }
        return end + UInt64(bytes.count)
    }

    /// Truncates the file after the valid commits.
    ///
    /// Ignores errors, because the earlier failure is reported.
    private func truncateToCommits() {
        do throws(StorageError) {
            try file.truncate(to: end)
            // Without a sync, a power failure could undo the truncation, and a partial write inside
            // a sector looks like damage.
            try file.sync()
        } catch {
            // The next opening handles the remaining bytes.
        }
    }
}

/// The start of a segment, which identifies its records in every generation and file.
struct SegmentStart {
    let position: Position
    /// The chain value before the first record.
    let chain: UInt64
    /// The number of times the segment's file has been replaced to erase content.
    let generation: UInt32

    init(_ header: SegmentHeader) {
        self.init(header.firstPosition, chain: header.chain, generation: header.generation)
    }

    init(_ position: Position, chain: UInt64, generation: UInt32 = 0) {
        self.position = position
        self.chain = chain
        self.generation = generation
    }
}

/// A segment that does not have its final name yet.
struct TemporarySegment {
    let header: SegmentHeader
    let file: TemporaryFile

    /// Creates an empty, synced segment under a temporary name.
    ///
    /// `prepare` may reserve space in it.
    init(
        in directory: JournalDirectory, journal: JournalID, first: Position, chain: UInt64,
        _ entropy: inout EntropyPool,
        prepare: (any StorageFile) throws(JournalError) -> Void = { (_) in }
    ) throws(JournalError) {
        header = SegmentHeader(journal: journal, firstPosition: first, chain: chain, salt: entropy.next())
        file = try directory.createTemporaryFile(JournalFileName.segment(first), header.encoded(), prepare: prepare)
    }

    /// Renames the segment durably to its final name.
    func publish() throws(JournalError) -> Segment {
        Segment(name: file.name, header: header, file: try file.publish())
    }
}

/// A segment's file and its header.
struct SegmentFile {
    /// The segment without any known records.
    var segment: Segment
    let size: UInt64

    /// Opens the segment that begins at `first` and checks its header.
    ///
    /// - Throws: `damaged`, `newerVersion`, or the storage's errors, such as `ioFailed`.
    init(_ directory: JournalDirectory, first: Position, _ mode: StorageOpenMode, journal: JournalID)
        throws(JournalError)
    {
        let name = JournalFileName.segment(first)
        let path = directory.file(name)
        let (file, size, bytes) = try Self.open(name, in: directory, mode)
        func damaged(_ message: String) -> JournalError {
            JournalError(
                .damaged, message, path: path, segment: name, bytes: 0..<UInt64(SegmentHeader.size),
                positions: first...first)
        }
        guard size <= Self.maximumSize else { throw damaged("The file is longer than any segment.") }
        guard size >= UInt64(SegmentHeader.size) else { throw damaged("The file ends inside the segment's header.") }
        let header: SegmentHeader
        do throws(SegmentHeader.Problem) {
            header = try SegmentHeader(decoding: bytes)
        } catch {
            switch error {
            case .newerVersion(let version):
                throw JournalError(
                    .newerVersion, "The segment has format version \(version), which is newer than this library.",
                    path: path, segment: name
                )
            case .notASegment: throw damaged("Not a segment: the file begins with other bytes.")
            case .checksum: throw damaged("The checksum of the segment's header does not fit.")
            case .invalid:
                throw damaged("The segment's header has a valid checksum, but its fields contradict one another.")
            }
        }
        guard header.journal == journal else { throw damaged("The segment belongs to the journal \(header.journal).") }
        guard header.firstPosition == first else {
            throw damaged("The segment begins at position \(header.firstPosition), not at the one in its name.")
        }
        segment = Segment(name: name, header: header, file: file)
        self.size = size
    }

    /// The maximum size of a segment's file: offsets within a segment have 32 bits.
    static let maximumSize = UInt64(UInt32.max)

    /// Opens a segment's file, and reads its size and the bytes of its header.
    ///
    /// If the file ends inside the header, zeros take the place of the missing bytes.
    static func open(
        _ name: String, in directory: JournalDirectory, _ mode: StorageOpenMode
    ) throws(JournalError) -> (file: any StorageFile, size: UInt64, header: [UInt8]) {
        try convertingStorageErrors { () throws(StorageError) in
            let file = try directory.storage.open(directory.file(name), mode)
            var bytes = [UInt8](repeating: 0, count: SegmentHeader.size)
            _ = try file.fill(&bytes, 0..<SegmentHeader.size, from: 0)
            return (file, try file.size(), bytes)
        }
    }

    /// Returns the frame and the offset of the footer at the end of the file, or nil.
    func footer() throws(JournalError) -> (header: CommitHeader, offset: UInt64)? {
        try convertingErrors(of: SegmentFooter.find(in: segment.file, size: size, seed: segment.framingSeed))
    }

    /// Returns whether the file ends in a valid footer at the end of the scan.
    func isSealed(at scan: SegmentScan) throws(JournalError) -> Bool {
        guard let footer = scan.footer, size == scan.segment.end + UInt64(footer.length) else { return false }
        return try convertingStorageErrors { () throws(StorageError) in
            try SegmentFooter.index(
                of: footer, at: scan.segment.end, in: segment.file, firstPosition: segment.header.firstPosition)
        } != nil
    }
}
