import Primitives

/// Appends the primitive values of the event encoding, in memory that it keeps.
@usableFromInline struct ByteWriter {
    /// The written bytes, and room for more: a number is stored in place, because appending a few
    /// bytes to an array costs more than they do.
    @usableFromInline var room = [UInt8](repeating: 0, count: 256)
    /// The number of written bytes.
    @usableFromInline var count = 0

    /// The written bytes.
    var written: ArraySlice<UInt8> { room[..<count] }

    /// A copy of the written bytes.
    var bytes: [UInt8] { Array(written) }

    /// Lends the written bytes.
    @inlinable @inline(__always)
    func withBytes<Result, Failure: Error>(_ body: (RawSpan) throws(Failure) -> Result) throws(Failure) -> Result {
        try room.withBytes(0..<count, body)
    }

    /// Forgets the written bytes.
    mutating func removeAll() { count = 0 }

    /// Makes room for more bytes, and returns their place.
    @inline(__always)
    private mutating func place(of byteCount: Int) -> Int {
        let place = count
        count += byteCount
        if count > room.count { grow() }
        return place
    }

    private mutating func grow() {
        room.append(contentsOf: repeatElement(0, count: max(room.count, count - room.count)))
    }

    /// Appends the 16 bytes of a UUID, most significant byte first (RFC 9562).
    mutating func write(id: UInt128) { room.store(id.byteSwapped, at: place(of: 16)) }

    /// Appends eight bytes, least significant first.
    mutating func write(littleEndian value: UInt64) { room.store(value, at: place(of: 8)) }

    mutating func write(leb128 value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            room.store(UInt8(truncatingIfNeeded: rest) | 0x80, at: place(of: 1))
            rest >>= 7
        }
        room.store(UInt8(truncatingIfNeeded: rest), at: place(of: 1))
    }

    mutating func write(_ bytes: [UInt8]) { room.storeBytes(bytes, 0..<bytes.count, at: place(of: bytes.count)) }

    mutating func write(_ text: String) {
        let text = text.utf8Span
        let place = place(of: text.count)
        // `bytes` is unsafe for elements with padding; bytes have none.
        let bytes = unsafe text.span.bytes
        room.withMutableBytes(place..<count) { $0.storeBytes(bytes, at: 0) }
    }

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
