/// The limits of the format.
///
/// A reader rejects lengths beyond them, so that a damaged length cannot make it allocate memory.
public enum JournalLimits {
    /// The maximum length of a record's kept part, in bytes.
    public static let keptBytes = 65_000
    /// The maximum length of a record's erasable part, in bytes.
    public static let erasableBytes = 1_048_576
    /// The maximum length of a stored commit, in bytes, including all headers and salt.
    public static let commitBytes = 64 << 20
    /// The maximum number of bytes of a ledger of erasures.
    public static let ledgerBytes = 256 << 20
    /// The valid segment sizes, in bytes; a size outside the range is clamped to it.
    public static let segmentBytes: ClosedRange<UInt64> = 512...(1 << 30)

    /// Returns the valid segment size that is nearest to a size.
    static func segmentBytes(nearestTo size: UInt64) -> UInt64 {
        min(max(size, segmentBytes.lowerBound), segmentBytes.upperBound)
    }

    static let recordSaltByteCount = MemoryLayout<RecordSalt>.size
    /// CRC, two one-byte lengths, salt.
    static let minimumRecordLength = 4 + 1 + 1 + recordSaltByteCount
}
