import Primitives

extension JournalID {
    /// Returns a new id: a UUID of version 4, variant 10 (RFC 9562 section 5.4).
    package static func random(_ entropy: inout EntropyPool) -> JournalID {
        let bits: UInt128 = entropy.next()
        let version: UInt128 = 0xF << 76
        let variant: UInt128 = 0x3 << 62
        return JournalID(bits: bits & ~(version | variant) | 0x4 << 76 | 0x2 << 62)
    }
}
