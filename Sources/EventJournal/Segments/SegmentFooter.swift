import Primitives

/// The end of a sealed segment: an index of its records, framed as a commit without records.
///
/// See Format.md for the layout. A footer is written after all records before it were synced, so a
/// valid footer attests the whole segment. It repeats information of the records to speed up
/// opening: a reader with a damaged footer reads the records instead.
enum SegmentFooter {
    /// The size of the frame and of the repeated length at the end.
    static let minimumSize = CommitHeader.size + 4
    static let entrySize = 12

    /// Returns the footer of a segment with these records.
    static func encoded(_ index: SparseIndex, lastPosition: Position, chain: UInt64, seed: UInt32) -> [UInt8] {
        let length = minimumSize + index.entries.count * entrySize
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
            length: UInt32(length), recordCount: 0, firstPosition: lastPosition + 1, syncedPosition: lastPosition,
            chain: chain,
            recordsCRC: bytes.withBytes(CommitHeader.size..<length) { CRC32C.checksum(of: $0) }
        ).encode(into: &bytes, seed: seed)
        return bytes
    }

    /// Returns the frame and the offset of the footer at the end of a file.
    ///
    /// Returns nil if the file does not end with a footer with a valid frame. Reads the frame
    /// alone, independent of the segment's length.
    static func find(in file: any StorageFile, size: UInt64, seed: UInt32) throws(StorageError) -> (
        header: CommitHeader, offset: UInt64
    )? {
        guard size >= UInt64(SegmentHeader.size + minimumSize) else { return nil }
        var bytes = [UInt8](repeating: 0, count: CommitHeader.size)
        guard try file.fill(&bytes, 0..<4, from: size - 4) else { return nil }
        let length = bytes.withBytes(0..<4) { $0.integer(at: 0, as: UInt32.self) }
        guard UInt64(length) <= size - UInt64(SegmentHeader.size), Int(length) >= minimumSize else { return nil }
        let offset = size - UInt64(length)
        guard try file.fill(&bytes, 0..<CommitHeader.size, from: offset),
            let header = bytes.withBytes(0..<CommitHeader.size, { CommitHeader(decoding: $0, at: 0, seed: seed) }),
            header.isFooter,
            header.length == length
        else { return nil }
        return (header, offset)
    }

    /// Returns the index in the footer at `offset`, or nil if the footer is damaged.
    ///
    /// - Complexity: Allocates the length of the footer, at most ``JournalLimits/commitBytes``.
    static func index(
        of header: CommitHeader, at offset: UInt64, in file: any StorageFile, firstPosition: Position
    ) throws(StorageError) -> SparseIndex? {
        guard header.isFooter, header.firstPosition >= firstPosition else { return nil }
        let count = Int(header.length) - CommitHeader.size
        var bytes = [UInt8](repeating: 0, count: count)
        guard try file.fill(&bytes, 0..<count, from: offset + UInt64(CommitHeader.size)) else { return nil }
        let entries = bytes.withBytes(0..<count) { span -> [SparseIndex.Entry]? in
            guard CRC32C.checksum(of: span) == header.recordsCRC,
                span.integer(at: count - 4, as: UInt32.self) == header.length
            else {
                return nil
            }
            return stride(from: 0, to: count - 4, by: entrySize).map { place in
                SparseIndex.Entry(
                    relativePosition: span.integer(at: place), offset: span.integer(at: place + 4),
                    recordsLeft: span.integer(at: place + 8)
                )
            }
        }
        return entries.flatMap { SparseIndex($0, end: offset, recordCount: header.firstPosition - firstPosition) }
    }
}
