import Primitives

/// Appends the primitive values of the event encoding to a byte array.
struct ByteWriter {
    var bytes: [UInt8] = []

    /// Appends the 16 bytes of a UUID, most significant byte first (RFC 9562).
    mutating func write(id: UInt128) { bytes.append(bytesOf: id.bigEndian) }

    /// Appends eight bytes, least significant first.
    mutating func write(littleEndian value: UInt64) { bytes.append(bytesOf: value.littleEndian) }

    mutating func write(leb128 value: UInt64) { LEB128.append(value, to: &bytes) }

    mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Appends the number of ranges, then for each the positions between it and the former one, and
    /// its length, less 1.
    mutating func write(_ positions: PositionSet) {
        write(leb128: UInt64(positions.ranges.count))
        var end: Position = 0
        for range in positions.ranges {
            write(leb128: range.lowerBound - end - 1)
            write(leb128: range.upperBound - range.lowerBound)
            end = range.upperBound
        }
    }

    /// Appends the number of users, then their ids.
    mutating func write(_ users: [UserID]) {
        write(leb128: UInt64(users.count))
        for user in users { write(id: user.bits) }
    }

    /// Appends the length in bytes as LEB128, then the UTF-8.
    mutating func write(counted text: String) {
        write(leb128: UInt64(text.utf8.count))
        write(text)
    }
}
