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
            let available = try convertingStorageErrors { () throws(StorageError) in
                try window.load(at: start, needed: CommitHeader.size, bound: size)
            }
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
                let header = CommitHeader(decoding: bytes, at: cursor, seed: seed), header.isPlausible, header.firstPosition > last
            {
                return (UInt64(cursor), header)
            }
            cursor += 1
        }
        return (UInt64(cursor), nil)
    }
}

/// The trustworthy records of a commit with a valid header.
///
/// A record is trustworthy if its checksum matches and its number in the commit is certain. The
/// number is certain up to the first record with a wrong checksum. After it the number is certain
/// only if the lengths of all records add up to the commit's length, because the wrong record's
/// lengths may be wrong.
struct SalvagedCommit {
    /// The location of a record in the commit.
    struct RecordExtent {
        /// The offset of the record's bytes; the range is empty if they are unknown.
        var offset: UInt32 = 0
        var length: UInt32 = 0
        /// Whether the record is trustworthy.
        var isValid = false

        var range: Range<Int> { Int(offset)..<(Int(offset) + Int(length)) }
    }

    /// The records of the commit, in order.
    private(set) var records: [RecordExtent] = []
    /// The problem of the lost records, or nil if the commit is intact.
    private(set) var problem: CommitProblem.Kind?

    /// Whether the commit is as written.
    var isIntact: Bool { problem == nil }

    /// Checks the records of a commit.
    ///
    /// `bytes` begin with its header and end with it or with the file.
    init(_ header: CommitHeader, _ bytes: RawSpan) {
        let count = Int(header.recordCount)
        let end = min(bytes.byteCount, Int(header.length))
        let commit = bytes.extracting(0..<end)
        var cursor = CommitHeader.size
        var recordsCRC: UInt32 = 0
        var firstLost: Int?
        while records.count < count {
            guard case .record(let layout) = RecordLayout.decode(commit, at: cursor) else { break }
            let record = commit.extracting(cursor..<(cursor + layout.length))
            let stored: UInt32 = record.integer(at: 0)
            recordsCRC = CRC32C.checksum(of: stored, continuing: recordsCRC)
            let isValid = CRC32C.checksum(of: record.extracting(4..<layout.length)) == stored
            if !isValid && firstLost == nil { firstLost = records.count }
            records.append(RecordExtent(offset: UInt32(cursor), length: UInt32(layout.length), isValid: isValid))
            cursor += layout.length
        }
        let isAligned = records.count == count && cursor == Int(header.length)
        if !isAligned {
            problem = end < Int(header.length) ? .commitTruncated : .recordFraming
            if let firstLost { records.removeLast(records.count - firstLost) }
        } else if firstLost != nil {
            problem = .recordChecksum
        } else if recordsCRC != header.recordsCRC {
            // Each record is a written one, but does not belong to this commit.
            problem = .commitChecksum
            records.removeAll()
        }
        records += repeatElement(RecordExtent(), count: count - records.count)
    }
}
