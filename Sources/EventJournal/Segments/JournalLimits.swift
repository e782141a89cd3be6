/// The bounds of the format; a reader refuses what is beyond them, so that a damaged length cannot make it take memory.
public enum JournalLimits {
    /// The longest kept part of a record, in bytes.
    public static let keptBytes = 65_000
    /// The longest erasable part of a record, in bytes.
    public static let erasableBytes = 1_048_576
    /// The longest commit as stored, in bytes: header, record headers, salt and all.
    public static let commitBytes = 64 << 20
    /// The sizes that a segment may be asked to have, in bytes; others are taken as the nearer bound.
    public static let segmentBytes: ClosedRange<UInt64> = 512...(1 << 30)

    static let recordSalt = MemoryLayout<RecordSalt>.size
    /// CRC, two one-byte lengths, salt.
    static let smallestRecord = 4 + 1 + 1 + recordSalt
}
