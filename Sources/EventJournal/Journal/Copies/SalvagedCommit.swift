/// Which records of a commit with a valid header can be believed.
///
/// A record is believed when its checksum fits and its number in the commit is certain: up to the first one whose checksum does not fit it
/// is; after that one, whose lengths may be wrong, only if the lengths of all records add up to the commit's.
struct SalvagedCommit {
    /// Where a record is in the commit.
    struct Place {
        /// Its bytes; empty when they are not known.
        var offset: UInt32 = 0
        var length: UInt32 = 0
        /// Whether it can be believed.
        var isValid = false

        var range: Range<Int> { Int(offset)..<(Int(offset) + Int(length)) }
    }

    /// Each record of the commit, in order.
    private(set) var records: [Place] = []
    /// What is wrong with those that are lost; nil when all is well.
    private(set) var problem: CommitProblem.Kind?

    /// Whether the commit is as it was written.
    var isWhole: Bool { problem == nil }

    /// Judges the records of a commit; `bytes` begin with its header and end with it or with the file.
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
            records.append(Place(offset: UInt32(cursor), length: UInt32(layout.length), isValid: isValid))
            cursor += layout.length
        }
        let isAligned = records.count == count && cursor == Int(header.length)
        if !isAligned {
            problem = end < Int(header.length) ? .commitTruncated : .recordFraming
            if let firstLost { records.removeLast(records.count - firstLost) }
        } else if firstLost != nil {
            problem = .recordChecksum
        } else if recordsCRC != header.recordsCRC {
            // Each record is one that was written, but not in this place.
            problem = .commitChecksum
            records.removeAll()
        }
        records += repeatElement(Place(), count: count - records.count)
    }
}
