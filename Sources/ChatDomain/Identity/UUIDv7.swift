extension EntityID {
    /// Makes a UUIDv7 (RFC 9562 section 5.7) from a time and random bits, which the caller draws.
    ///
    /// - Parameters:
    ///   - time: The moment that the id bears; its low 48 bits of milliseconds since 1970 are used.
    ///   - random: 128 random bits, of which 74 are used.
    public init(version7At time: Timestamp, random: UInt128) {
        let milliseconds = UInt128(UInt64(bitPattern: time.millisecondsSince1970) & 0xFFFF_FFFF_FFFF)
        let versioned: UInt128 = 0x7000_8000_0000_0000_0000
        let randomMask: UInt128 = 0x0FFF_3FFF_FFFF_FFFF_FFFF
        self.init(bits: milliseconds << 80 | versioned | random & randomMask)
    }
}
