/// The chain value: a 64-bit checksum over all records from the first on, one step a record.
///
/// It depends on nothing but the journal's id and the records' original CRCs, so that a record whose content is erased later does not
/// change it, nor a copy in other segments. Each step is a bijection of the value before (exclusive or, multiplication by an odd number,
/// exclusive or with its own upper half) and of the CRC, so a single wrong record always shows.
enum Chain {
    /// The odd number of the step: 2^64 divided by the golden ratio.
    static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always)
    static func step(_ value: UInt64, _ input: UInt64) -> UInt64 {
        let product = (value ^ input) &* multiplier
        return product ^ (product >> 32)
    }

    @inline(__always)
    static func step(_ value: UInt64, record crc: UInt32) -> UInt64 {
        step(value, UInt64(crc))
    }

    /// The value before the first record: the step applied to 0 with the id's first eight bytes as a big-endian number, then with its last.
    static func start(_ journal: JournalID) -> UInt64 {
        step(step(0, UInt64(truncatingIfNeeded: journal.bits >> 64)), UInt64(truncatingIfNeeded: journal.bits))
    }
}
