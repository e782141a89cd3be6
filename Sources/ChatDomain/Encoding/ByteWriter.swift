/// Appends the primitive values of the event encoding to a byte array.
struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func write(_ byte: UInt8) { bytes.append(byte) }

    /// 16 bytes, the UUID's first byte first (RFC 9562).
    mutating func write(_ id: some EntityID) { write(bytesOf: id.bits.bigEndian) }

    /// The low bytes of a number, least significant first.
    mutating func write(littleEndian value: UInt64, byteCount: Int) {
        if byteCount == 8 { return write(bytesOf: value.littleEndian) }
        for index in 0..<byteCount { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }

    /// The bytes of a number in the order in which it is stored.
    private mutating func write<Number: FixedWidthInteger & BitwiseCopyable>(bytesOf number: Number) {
        bytes.append(bytesOf: number)
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
