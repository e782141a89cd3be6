import Primitives

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
