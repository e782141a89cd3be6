import Primitives

/// The 40 bytes before the records of a commit.
///
/// See Format.md for the layout.
struct CommitHeader: Equatable {
    static let size = 40
    static let minimumCommitLength = size + JournalLimits.minimumRecordLength

    /// The length of the whole commit in bytes, header included.
    var length: UInt32
    var recordCount: UInt32
    var firstPosition: Position
    /// The last synced position when the commit was written.
    ///
    /// Recovery relies on this attestation.
    var syncedPosition: Position
    /// The chain value after the commit's last record.
    var chain: UInt64
    /// The CRC over the records' stored CRCs, four bytes each, in order.
    var recordsCRC: UInt32

    /// The position of the last record.
    ///
    /// `isPlausible` guarantees that the commit has a record.
    var lastPosition: Position { firstPosition &+ UInt64(recordCount) &- 1 }

    /// Stores the header at `offset` of `bytes`.
    ///
    /// `seed` is the segment's framing seed.
    func encode(into bytes: inout [UInt8], at offset: Int = 0, seed: UInt32) {
        bytes.store(length, at: offset)
        bytes.store(recordCount, at: offset + 4)
        bytes.store(firstPosition, at: offset + 8)
        bytes.store(syncedPosition, at: offset + 16)
        bytes.store(chain, at: offset + 24)
        bytes.store(recordsCRC, at: offset + 32)
        bytes.store(
            bytes.withBytes(offset..<(offset + 36)) { CRC32C.checksum(of: $0, continuing: seed) }, at: offset + 36)
    }

    /// Whether the fields are within the bounds of a commit.
    ///
    /// Later arithmetic relies on these bounds.
    var isPlausible: Bool {
        length <= JournalLimits.commitBytes && recordCount >= 1 && firstPosition >= 1 && syncedPosition < firstPosition
            && UInt64(length) >= UInt64(Self.size) + UInt64(recordCount) * UInt64(JournalLimits.minimumRecordLength)
            && !firstPosition.addingReportingOverflow(UInt64(recordCount)).overflow
    }

    /// Whether the header is the frame of a segment's footer; see ``SegmentFooter``.
    var isFooter: Bool {
        recordCount == 0 && firstPosition >= 1 && syncedPosition == firstPosition - 1
            && length <= JournalLimits.commitBytes
            && Int(length) >= SegmentFooter.minimumSize
            && (Int(length) - SegmentFooter.minimumSize) % SegmentFooter.entrySize == 0
    }
}

extension CommitHeader {
    /// Reads the header at `offset` of `bytes`, or returns nil if its CRC does not match.
    ///
    /// `bytes` must contain the whole header.
    init?(decoding bytes: RawSpan, at offset: Int, seed: UInt32) {
        let crc = CRC32C.checksum(of: bytes.extracting(offset..<(offset + 36)), continuing: seed)
        guard crc == bytes.integer(at: offset + 36, as: UInt32.self) else { return nil }
        length = bytes.integer(at: offset)
        recordCount = bytes.integer(at: offset + 4)
        firstPosition = bytes.integer(at: offset + 8)
        syncedPosition = bytes.integer(at: offset + 16)
        chain = bytes.integer(at: offset + 24)
        recordsCRC = bytes.integer(at: offset + 32)
    }
}
