/// What ends a sealed segment: an index of its records, framed like a commit, but of no records.
///
/// See Format.md for the layout.
///
/// It is written once everything before it is synced, so that a valid one attests the whole segment. It repeats what the records say, for
/// the sake of speed: a reader that finds it damaged reads the records instead.
enum SegmentFooter {
    /// Of the frame and of the length that is repeated at the end.
    static let smallest = CommitHeader.size + 4
    static let entrySize = 12

    /// The footer of a segment with these records.
    static func encoded(_ index: SparseIndex, lastPosition: Position, chain: UInt64, seed: UInt32) -> [UInt8] {
        let length = smallest + index.entries.count * entrySize
        var bytes = [UInt8](repeating: 0, count: length)
        var offset = CommitHeader.size
        for entry in index.entries {
            bytes.store(entry.relativePosition, at: offset)
            bytes.store(entry.offset, at: offset + 4)
            bytes.store(entry.recordsLeft, at: offset + 8)
            offset += entrySize
        }
        bytes.store(UInt32(length), at: offset)
        CommitHeader(
            length: UInt32(length), recordCount: 0, firstPosition: lastPosition + 1, syncedPosition: lastPosition, chain: chain,
            recordsCRC: bytes.withBytes(CommitHeader.size..<length) { CRC32C.checksum(of: $0) }
        ).encode(into: &bytes, seed: seed)
        return bytes
    }

    /// The footer at the end of a file and where it begins; nil when there is none that is valid in itself.
    ///
    /// Reads its frame alone, whatever the segment's length.
    static func find(in file: any StorageFile, size: UInt64, seed: UInt32) throws(StorageError) -> (header: CommitHeader, offset: UInt64)? {
        guard size >= UInt64(SegmentHeader.size + smallest) else { return nil }
        var bytes = [UInt8](repeating: 0, count: CommitHeader.size)
        guard try file.fill(&bytes, 0..<4, from: size - 4) else { return nil }
        let length = bytes.withBytes(0..<4) { $0.integer(at: 0, as: UInt32.self) }
        guard UInt64(length) <= size - UInt64(SegmentHeader.size), Int(length) >= smallest else { return nil }
        let offset = size - UInt64(length)
        guard try file.fill(&bytes, 0..<CommitHeader.size, from: offset),
            let header = bytes.withBytes(0..<CommitHeader.size, { CommitHeader(decoding: $0, at: 0, seed: seed) }), header.isFooter,
            header.length == length
        else { return nil }
        return (header, offset)
    }

    /// The index of the footer that begins at `offset`; nil when its bytes are not those that were written.
    ///
    /// Memory: as much as the footer is long, at most ``JournalLimits/commitBytes``.
    static func index(
        of header: CommitHeader, at offset: UInt64, in file: any StorageFile, firstPosition: Position
    ) throws(StorageError) -> SparseIndex? {
        guard header.isFooter, header.firstPosition >= firstPosition else { return nil }
        let count = Int(header.length) - CommitHeader.size
        var bytes = [UInt8](repeating: 0, count: count)
        guard try file.fill(&bytes, 0..<count, from: offset + UInt64(CommitHeader.size)) else { return nil }
        let entries = bytes.withBytes(0..<count) { span -> [SparseIndex.Entry]? in
            guard CRC32C.checksum(of: span) == header.recordsCRC, span.integer(at: count - 4, as: UInt32.self) == header.length else {
                return nil
            }
            return stride(from: 0, to: count - 4, by: entrySize).map { place in
                SparseIndex.Entry(
                    relativePosition: span.integer(at: place), offset: span.integer(at: place + 4), recordsLeft: span.integer(at: place + 8)
                )
            }
        }
        return entries.flatMap { SparseIndex($0, end: offset, recordCount: header.firstPosition - firstPosition) }
    }
}

extension StorageFile {
    /// Fills a range of an array with the bytes from `offset` on; false when the file ends before.
    func fill(_ bytes: inout [UInt8], _ range: Range<Int>, from offset: UInt64) throws(StorageError) -> Bool {
        let count = try bytes.withMutableBytes(range) { (span) throws(StorageError) in try read(into: &span, at: offset) }
        return count == range.count
    }
}
