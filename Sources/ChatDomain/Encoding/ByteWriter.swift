/// Appends the primitive values of the event encoding to a byte array.
struct ByteWriter {
    var bytes: [UInt8] = []

    /// 16 bytes for each UUID, its first byte first (RFC 9562); all of an event's at once, because each call looks whether the array has room.
    mutating func write<let count: Int>(ids: [count of UInt128]) {
        var ids = ids
        for index in ids.indices { ids[index] = ids[index].bigEndian }
        bytes.append(bytesOf: ids)
    }

    /// The eight bytes of a number, least significant first.
    mutating func write(littleEndian value: UInt64) { bytes.append(bytesOf: value.littleEndian) }

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
