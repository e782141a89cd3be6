/// A segment as a journal in memory knows it.
struct Segment {
    let name: String
    let header: SegmentHeader
    let framingSeed: UInt32
    var file: any StorageFile
    var index: SparseIndex
    /// The last position in it; one less than its first when it is empty.
    var lastPosition: Position
    /// Where the valid commits end.
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

    /// The bytes that its commits take: all but the header and the space that is not used.
    var commitBytes: UInt64 { end - UInt64(SegmentHeader.size) }

    /// The footer that the segment gets; `chain` is the value after its last record.
    func footer(_ chain: UInt64) -> [UInt8] {
        SegmentFooter.encoded(index, lastPosition: lastPosition, chain: chain, seed: framingSeed)
    }

    /// Writes the footer behind the commits, which have been synced, ends the file there and syncs it.
    ///
    /// What a write that fails has left of the footer is cut off, so that the next opening does not have to tell it from damage.
    func seal(_ chain: UInt64) throws(StorageError) {
        let bytes = footer(chain)
        do throws(StorageError) {
            try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try file.write(span, at: end) }
        } catch {
            cutOff()
            throw error
        }
        try file.truncate(to: end + UInt64(bytes.count))
        try file.sync()
    }

    /// Ends the file where the valid commits do, as well as it can be done after a failure, which is the one to tell.
    private func cutOff() {
        do throws(StorageError) {
            try file.truncate(to: end)
            // Else a power cut could undo the truncation, and half a write inside a sector is not to be told from damage.
            try file.sync()
        } catch {
            // The next opening judges what is there.
        }
    }
}

/// Where a segment begins: what identifies its records, in whichever generation and file.
struct SegmentStart {
    let position: Position
    /// The chain value before the first record.
    let chain: UInt64
    /// How often the segment's file has been replaced by one in which content is erased.
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

/// A segment that has not got its name yet.
struct NewSegment {
    let header: SegmentHeader
    let file: NewFile

    /// Makes an empty segment, whole and synced, which gets its name when it is taken; `prepare` may reserve space in it.
    init(
        in directory: JournalDirectory, journal: JournalID, first: Position, chain: UInt64, _ entropy: inout EntropyPool,
        prepare: (any StorageFile) throws(JournalError) -> Void = { (_) in }
    ) throws(JournalError) {
        header = SegmentHeader(journal: journal, firstPosition: first, chain: chain, salt: entropy.next())
        file = try directory.make(DirectoryListing.segmentName(first), header.encoded(), prepare: prepare)
    }

    /// Gives it its name, durably.
    func take() throws(JournalError) -> Segment {
        Segment(name: file.name, header: header, file: try file.take())
    }
}

/// A segment's file with the header that it begins with.
struct SegmentFile {
    /// With no record known of it yet.
    var segment: Segment
    let size: UInt64

    /// Opens the segment that begins at `first` and checks what its header says about itself.
    ///
    /// - Throws: `damaged`, `newerVersion`, `ioFailed` and the like.
    init(_ directory: JournalDirectory, first: Position, _ mode: StorageOpenMode, journal: JournalID) throws(JournalError) {
        let name = DirectoryListing.segmentName(first)
        let path = directory.file(name)
        var bytes = [UInt8](repeating: 0, count: SegmentHeader.size)
        let (file, size) = try storage { () throws(StorageError) in
            let file = try directory.storage.open(path, mode)
            _ = try file.fill(&bytes, 0..<SegmentHeader.size, from: 0)
            return (file, try file.size())
        }
        func damaged(_ message: String) -> JournalError {
            JournalError(.damaged, message, path: path, segment: name, bytes: 0..<UInt64(SegmentHeader.size), positions: first...first)
        }
        // Offsets within a segment are kept in 32 bits.
        guard size <= UInt64(UInt32.max) else { throw damaged("The file is longer than any segment.") }
        guard size >= UInt64(SegmentHeader.size) else { throw damaged("The file ends inside the segment's header.") }
        let header: SegmentHeader
        do throws(SegmentHeader.Problem) {
            header = try bytes.withBytes(0..<SegmentHeader.size) { (span) throws(SegmentHeader.Problem) in
                try SegmentHeader(decoding: span)
            }
        } catch {
            switch error {
            case .newerVersion(let version):
                throw JournalError(.newerVersion, "The segment is of version \(version) of the format.", path: path, segment: name)
            case .notASegment: throw damaged("The file does not begin as a segment does.")
            case .checksum: throw damaged("The checksum of the segment's header does not fit.")
            case .invalid: throw damaged("The segment's header is valid in itself but its fields contradict one another.")
            }
        }
        guard header.journal == journal else { throw damaged("The segment belongs to the journal \(header.journal).") }
        guard header.firstPosition == first else { throw damaged("The segment begins at \(header.firstPosition), not as its name says.") }
        segment = Segment(name: name, header: header, file: file)
        self.size = size
    }

    /// The frame of the footer at the end of the file and where it begins, if there is one.
    func footer() throws(JournalError) -> (header: CommitHeader, offset: UInt64)? {
        try storage { () throws(StorageError) in
            try SegmentFooter.find(in: segment.file, size: size, seed: segment.framingSeed)
        }
    }

    /// Whether the file ends in the footer at which a scan of it has ended, all of it as it was written.
    func isSealed(at scan: SegmentScan) throws(JournalError) -> Bool {
        guard let footer = scan.footer, size == scan.segment.end + UInt64(footer.length) else { return false }
        return try storage { () throws(StorageError) in
            try SegmentFooter.index(of: footer, at: scan.segment.end, in: segment.file, firstPosition: segment.header.firstPosition)
        } != nil
    }
}
