/// Reads the primitive values of the event encoding; every error bears the part and the offset at which the bytes are wrong.
///
/// A reader keeps an offset, not the bytes: they are passed to each call, so that nothing outlives the buffer they lie in.
struct ByteReader {
    let part: EventDecodingError.Part
    var offset = 0

    init(_ part: EventDecodingError.Part) { self.part = part }

    func error(_ problem: EventDecodingError.Problem, at offset: Int? = nil) -> EventDecodingError {
        EventDecodingError(part: part, offset: offset ?? self.offset, problem: problem)
    }

    /// Steps over a count of bytes that must be there, and gives the offset of the first.
    @inline(__always)
    private mutating func take(_ count: Int, of bytes: RawSpan) throws(EventDecodingError) -> Int {
        guard bytes.byteCount - offset >= count else { throw error(.tooShort) }
        defer { offset += count }
        return offset
    }

    @inline(__always)
    mutating func byte(_ bytes: RawSpan) throws(EventDecodingError) -> UInt8 {
        bytes.byte(at: try take(1, of: bytes))
    }

    /// The bits of an id.
    @inline(__always)
    mutating func bits(_ bytes: RawSpan) throws(EventDecodingError) -> UInt128 {
        let start = try take(16, of: bytes)
        let high = bytes.littleEndian64(at: start).byteSwapped
        let low = bytes.littleEndian64(at: start + 8).byteSwapped
        return UInt128(high) << 64 | UInt128(low)
    }

    @inline(__always)
    mutating func littleEndian(_ byteCount: Int, _ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        let start = try take(byteCount, of: bytes)
        if byteCount == 8 { return bytes.littleEndian64(at: start) }
        // One load where the part goes on far enough, which all but the shortest do.
        if bytes.byteCount - start >= 8 { return bytes.littleEndian64(at: start) & (1 << UInt64(8 * byteCount) - 1) }
        var value: UInt64 = 0
        for index in 0..<byteCount { value |= UInt64(bytes.byte(at: start + index)) << UInt64(8 * index) }
        return value
    }

    @inline(__always)
    mutating func leb128(_ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        // Two bytes hold nearly every number that there is, and need no loop.
        if bytes.byteCount - offset > 1 {
            let (first, second) = (UInt64(bytes.byte(at: offset)), UInt64(bytes.byte(at: offset + 1)))
            if first < 0x80 {
                offset += 1
                return first
            }
            if second > 0, second < 0x80 {
                offset += 2
                return first & 0x7F | second << 7
            }
        }
        return try anyLEB128(bytes)
    }

    private mutating func anyLEB128(_ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        let start = offset
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte(bytes)
            // The tenth byte has room for one bit, and a last byte of zero would be a second way to write the same number.
            guard shift < 63 || next <= 1, next != 0 || shift == 0 else { throw error(.malformedNumber, at: start) }
            value |= UInt64(next & 0x7F) << shift
            if next & 0x80 == 0 { return value }
        }
        throw error(.malformedNumber, at: start)
    }

    /// Text of so many bytes.
    mutating func text(_ count: Int, _ bytes: RawSpan) throws(EventDecodingError) -> String {
        let start = try take(count, of: bytes)
        guard let text = bytes.text(in: start..<start + count) else { throw error(.invalidUTF8, at: start) }
        return text
    }

    /// Text up to the end.
    mutating func remainingText(_ bytes: RawSpan) throws(EventDecodingError) -> String {
        try text(bytes.byteCount - offset, bytes)
    }

    /// Text whose length stands before it.
    mutating func countedText(_ bytes: RawSpan) throws(EventDecodingError) -> String {
        let count = try leb128(bytes)
        guard let count = Int(exactly: count) else { throw error(.tooShort) }
        return try text(count, bytes)
    }
}
