/// The chain value: a 64-bit checksum over all records from the first, one step per record.
///
/// It depends on the journal's id and on the records' original CRCs alone. Erasing content or
/// copying records to other segments therefore does not change it. Each step is a bijection of the
/// previous value (exclusive or, multiplication by an odd number, exclusive or with its own upper
/// half) and of the CRC, so it detects every single wrong record.
enum Chain {
    /// The odd multiplier of the step: 2^64 divided by the golden ratio.
    static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always)
    static func step(_ value: UInt64, _ input: UInt64) -> UInt64 {
        let product = (value ^ input) &* multiplier
        return product ^ (product >> 32)
    }

    @inline(__always)
    static func step(_ value: UInt64, record crc: UInt32) -> UInt64 { step(value, UInt64(crc)) }

    /// Returns the value before the first record.
    ///
    /// Applies the step to 0 with the id's first eight bytes as a big-endian number, then with the
    /// last eight.
    static func start(_ journal: JournalID) -> UInt64 {
        step(step(0, UInt64(truncatingIfNeeded: journal.bits >> 64)), UInt64(truncatingIfNeeded: journal.bits))
    }
}
