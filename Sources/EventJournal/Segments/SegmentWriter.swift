/// Writes the segments of a copy: commits of stored records, framed anew, in a new file aside or after the commits of one that is there.
///
/// Records keep their bytes, salt, state and checksums; what is made here is what frames them. A commit attests as synced what the writer
/// was given, not what the source attested: a power cut may take some of the commits that were written since.
struct SegmentWriter {
    /// The space for finished commits before they are written.
    private static let chunk = 1 << 20

    /// The segment as far as its commits are finished.
    private(set) var segment: Segment
    /// The chain value after the finished commits.
    private(set) var chain: UInt64

    private let directory: JournalDirectory
    private let isNew: Bool
    /// Where the writer began: nothing before it is touched.
    private let start: UInt64
    private let syncedPosition: Position
    /// The finished commits that are not yet written, and the one in the making.
    private var framer = CommitFramer()

    /// Begins a new segment, in a file aside.
    init(creating header: SegmentHeader, in directory: JournalDirectory) throws(JournalError) {
        let name = DirectoryListing.segmentName(header.firstPosition)
        let file = try storage { () throws(StorageError) in try directory.storage.open(directory.file(name + Self.suffix), .create) }
        self.init(Segment(name: name, header: header, file: file), in: directory, isNew: true, header.chain)
        let bytes = header.encoded()
        try storage { () throws(StorageError) in
            try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try file.write(span, at: 0) }
        }
    }

    /// Goes on after the last commit of a segment, whose file ends there and is durable.
    init(continuing segment: Segment, in directory: JournalDirectory, chain: UInt64) {
        self.init(segment, in: directory, isNew: false, chain)
    }

    private init(_ segment: Segment, in directory: JournalDirectory, isNew: Bool, _ chain: UInt64) {
        self.segment = segment
        self.chain = chain
        self.directory = directory
        self.isNew = isNew
        start = segment.end
        syncedPosition = segment.lastPosition
    }

    private static let suffix = DirectoryListing.temporarySuffix

    /// The name of the segment.
    var name: String { segment.name }
    /// The last position of the finished commits.
    var lastPosition: Position { segment.lastPosition }
    /// The offset after the finished commits.
    var end: UInt64 { segment.end }

    /// How many bytes of the segment this writer has made, those of unfinished commits not counted.
    var byteCount: UInt64 { end - (isNew ? 0 : start) }

    /// The length of the commit in the making.
    var commitLength: Int { framer.commitLength }

    // MARK: Commits

    /// Adds a record, as it is stored, to the commit in the making.
    mutating func add(_ record: RawSpan, _ layout: RecordLayout) { framer.add(record, layout, after: chain) }

    /// Frames the records since the last finished commit; nothing happens if there are none.
    mutating func finishCommit() throws(JournalError) {
        framer.finishCommit(behind: &segment, &chain, synced: syncedPosition)
        if framer.byteCount >= Self.chunk { try flush() }
    }

    private mutating func flush() throws(JournalError) {
        if framer.isEmpty { return }
        try storage { () throws(StorageError) in try framer.write(to: segment.file, endingAt: end) }
    }

    // MARK: The end

    /// Makes the segment durable under its name; `sealed` says that another one follows it.
    mutating func finish(sealed: Bool) throws(JournalError) {
        try finishCommit()
        try flush()
        if sealed { try seal() }
        let (file, name) = (segment.file, segment.name)
        try storage { () throws(StorageError) in
            try file.sync()
            guard isNew else { return }
            try directory.storage.rename(directory.file(name + Self.suffix), to: directory.file(name))
            try directory.storage.syncDirectory(directory.path)
        }
    }

    /// Writes the footer; behind commits in their place only once they are durable.
    private func seal() throws(JournalError) {
        let bytes = segment.footer(chain)
        try storage { () throws(StorageError) in
            if !isNew { try segment.file.sync() }
            try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try segment.file.write(span, at: end) }
        }
    }

    /// Takes back what was written, as far as the storage lets it: what stays is a file that nobody reads, or commits that nothing attests.
    func abandon() {
        do throws(StorageError) {
            if isNew {
                try directory.storage.remove(directory.file(name + Self.suffix))
            } else {
                try segment.file.truncate(to: start)
                try segment.file.sync()
            }
        } catch {
            // The failure that led here is the one to tell; recovery copes with what is left.
        }
    }
}
