/// Appends the primitive values of the event encoding to a byte array.
struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func write(_ byte: UInt8) { bytes.append(byte) }

    /// 16 bytes, the UUID's first byte first (RFC 9562).
    mutating func write(_ id: some EntityID) {
        write(bigEndian: UInt64(truncatingIfNeeded: id.bits >> 64))
        write(bigEndian: UInt64(truncatingIfNeeded: id.bits))
    }

    private mutating func write(bigEndian value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    /// The low bytes of a number, least significant first.
    mutating func write(littleEndian value: UInt64, byteCount: Int) {
        for index in 0..<byteCount { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }

    /// LEB128: seven bits a byte, least significant first, the high bit set on all but the last.
    mutating func write(leb128 value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// The length in bytes as LEB128, and the UTF-8.
    mutating func write(counted text: String) {
        write(leb128: UInt64(text.utf8.count))
        write(text)
    }
}
