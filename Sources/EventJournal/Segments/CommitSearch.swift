/// A search for valid commit headers where the commits before them cannot be followed.
///
/// It looks at every place where a commit may begin: from one valid header to the end of its commit, else byte by byte, over zeros. The
/// salt in the framing CRC keeps the content of records from being taken for commits.
struct CommitSearch {
    private var window: FileWindow
    private let seed: UInt32
    private let size: UInt64
    /// Headers of commits up to this position are not what is looked for.
    private let last: Position
    private var place: UInt64

    init(_ segment: Segment, from offset: UInt64, size: UInt64) {
        window = FileWindow(segment.file)
        seed = segment.framingSeed
        self.size = size
        last = segment.lastPosition
        place = offset
    }

    /// The next valid header and its offset; nil at the end of the file.
    mutating func next() throws(JournalError) -> (offset: UInt64, header: CommitHeader)? {
        while place < size, size - place >= UInt64(CommitHeader.size) {
            let start = place
            let available = try storage { () throws(StorageError) in
                try window.load(at: start, needed: CommitHeader.size, bound: size)
            }
            guard available >= CommitHeader.size else { return nil }
            let (passed, header) = window.withBytes(from: place) { bytes in find(bytes) }
            place += passed
            if let header {
                let found = place
                place += UInt64(header.length)
                return (found, header)
            }
        }
        return nil
    }

    /// How many bytes hold no header, and the header after them.
    private func find(_ bytes: RawSpan) -> (UInt64, CommitHeader?) {
        var cursor = 0
        while cursor + CommitHeader.size <= bytes.byteCount {
            let length: UInt32 = bytes.integer(at: cursor)
            if length == 0 {
                // The length of a commit has its first nonzero byte within four.
                cursor = max(cursor + 1, bytes.firstNonzero(from: cursor) - 3)
                continue
            }
            if length <= JournalLimits.commitBytes, length >= CommitHeader.smallestCommit,
                let header = CommitHeader(decoding: bytes, at: cursor, seed: seed), header.isPlausible, header.firstPosition > last
            {
                return (UInt64(cursor), header)
            }
            cursor += 1
        }
        return (UInt64(cursor), nil)
    }
}
