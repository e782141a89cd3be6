import Primitives

/// A search for valid commit headers after damage.
///
/// The search examines each possible start of a commit: it jumps from a valid header to the end of
/// its commit, skips zeros, and otherwise advances byte by byte. The salt in the framing CRC
/// prevents the content of records from being mistaken for commits.
struct CommitSearch {
    private var window: FileWindow
    private let seed: UInt32
    private let size: UInt64
    /// The search ignores headers of commits up to this position.
    private let last: Position
    private var offset: UInt64

    /// Creates a search from an offset for the headers of commits after a position.
    init(_ file: any StorageFile, seed: UInt32, after last: Position, from offset: UInt64, size: UInt64) {
        window = FileWindow(file)
        self.seed = seed
        self.size = size
        self.last = last
        self.offset = offset
    }

    /// Creates a search for the headers of commits after the known ones of a segment.
    init(_ segment: Segment, from offset: UInt64, size: UInt64) {
        self.init(segment.file, seed: segment.framingSeed, after: segment.lastPosition, from: offset, size: size)
    }

    /// Returns the next valid header and its offset, or nil at the end of the file.
    mutating func next() throws(JournalError) -> (offset: UInt64, header: CommitHeader)? {
        while offset < size, size - offset >= UInt64(CommitHeader.size) {
            let start = offset
            let available = try convertingErrors(of: window.load(at: start, needed: CommitHeader.size, bound: size))
            guard available >= CommitHeader.size else { return nil }
            let (passed, header) = window.withBytes(from: offset) { bytes in find(bytes) }
            offset += passed
            if let header {
                let found = offset
                offset += UInt64(header.length)
                return (found, header)
            }
        }
        return nil
    }

    /// Returns the number of bytes without a header, and the header after them.
    private func find(_ bytes: RawSpan) -> (UInt64, CommitHeader?) {
        var cursor = 0
        while cursor + CommitHeader.size <= bytes.byteCount {
            let length: UInt32 = bytes.integer(at: cursor)
            if length == 0 {
                // The first nonzero byte of a commit's length is one of its four bytes.
                cursor = max(cursor + 1, bytes.firstNonzero(from: cursor) - 3)
                continue
            }
            if length <= JournalLimits.commitBytes, length >= CommitHeader.minimumCommitLength,
                let header = CommitHeader(decoding: bytes, at: cursor, seed: seed), header.isPlausible,
                header.firstPosition > last
            {
                return (UInt64(cursor), header)
            }
            cursor += 1
        }
        return (UInt64(cursor), nil)
    }
}
