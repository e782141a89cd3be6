import Primitives

/// Reads the primitive values of the event encoding.
///
/// Every error contains the part and the offset of the invalid bytes. The reader keeps an offset
/// and receives the bytes with each call, so that nothing outlives their buffer.
struct ByteReader {
    let part: EventDecodingError.Part
    var offset = 0

    init(_ part: EventDecodingError.Part) { self.part = part }

    func error(_ problem: EventDecodingError.Problem, at offset: Int? = nil) -> EventDecodingError {
        EventDecodingError(part: part, offset: offset ?? self.offset, problem: problem)
    }

    /// Advances by `count` bytes, which must exist, and returns the offset of the first.
    @inline(__always)
    private mutating func advance(_ count: Int, of bytes: RawSpan) throws(EventDecodingError) -> Int {
        guard bytes.byteCount - offset >= count else { throw error(.tooShort) }
        defer { offset += count }
        return offset
    }

    @inline(__always)
    mutating func byte(_ bytes: RawSpan) throws(EventDecodingError) -> UInt8 {
        bytes.byte(at: try advance(1, of: bytes))
    }

    /// Reads the bits of an id.
    @inline(__always)
    mutating func bits(_ bytes: RawSpan) throws(EventDecodingError) -> UInt128 {
        let start = try advance(16, of: bytes)
        let high = bytes.integer(at: start, as: UInt64.self).byteSwapped
        let low = bytes.integer(at: start + 8, as: UInt64.self).byteSwapped
        return UInt128(high) << 64 | UInt128(low)
    }

    @inline(__always)
    mutating func littleEndian(_ byteCount: Int, _ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        let start = try advance(byteCount, of: bytes)
        if byteCount == 8 { return bytes.integer(at: start) }
        // One eight-byte load, unless the value is at the end of the part.
        if bytes.byteCount - start >= 8 {
            return bytes.integer(at: start, as: UInt64.self) & (1 << UInt64(8 * byteCount) - 1)
        }
        var value: UInt64 = 0
        for index in 0..<byteCount { value |= UInt64(bytes.byte(at: start + index)) << UInt64(8 * index) }
        return value
    }

    @inline(__always)
    mutating func leb128(_ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        switch LEB128.decode(bytes, at: offset) {
        case .value(let value, let next):
            offset = next
            return value
        case .incomplete: throw error(.tooShort, at: bytes.byteCount)
        case .invalid: throw error(.malformedNumber)
        }
    }

    /// Reads a number that satisfies a condition.
    mutating func number(_ bytes: RawSpan, _ isValid: (UInt64) -> Bool) throws(EventDecodingError) -> UInt64 {
        let start = offset
        let value = try leb128(bytes)
        guard isValid(value) else { throw error(.invalidNumber, at: start) }
        return value
    }

    /// Reads a set of positions, which is not empty.
    mutating func positions(_ bytes: RawSpan) throws(EventDecodingError) -> PositionSet {
        let count = try number(bytes) { $0 > 0 }
        var ranges: [ClosedRange<Position>] = []
        var end: Position = 0
        for index in 0..<count {
            let place = offset
            // Ranges that touch would be one range.
            let gap = try number(bytes) { index == 0 || $0 > 0 }
            let length = try leb128(bytes)
            let (lower, overflows) = end.addingReportingOverflow(gap)
            let (upper, alsoOverflows) = lower.addingReportingOverflow(length)
            guard !overflows, !alsoOverflows, upper < Position(Int.max) else { throw error(.invalidNumber, at: place) }
            ranges.append(lower + 1...upper + 1)
            end = upper + 1
        }
        return PositionSet(ranges)
    }

    /// Reads the number of ids of a list, which is not empty and within the bytes.
    mutating func listCount(_ bytes: RawSpan) throws(EventDecodingError) -> Int {
        let count = try number(bytes) { $0 > 0 }
        guard count <= UInt64(bytes.byteCount - offset) / 16 else { throw error(.tooShort) }
        return Int(count)
    }

    /// Reads a list of users, which is not empty.
    mutating func users(_ bytes: RawSpan) throws(EventDecodingError) -> [UserID] {
        let count = try listCount(bytes)
        var users: [UserID] = []
        users.reserveCapacity(count)
        for _ in 0..<count { users.append(UserID(bits: try bits(bytes))) }
        return users
    }

    /// Reads text of `count` bytes.
    mutating func text(_ count: Int, _ bytes: RawSpan) throws(EventDecodingError) -> String {
        let start = try advance(count, of: bytes)
        guard let text = bytes.text(in: start..<start + count) else { throw error(.invalidUTF8, at: start) }
        return text
    }

    /// Reads text up to the end of the bytes.
    mutating func remainingText(_ bytes: RawSpan) throws(EventDecodingError) -> String {
        try text(bytes.byteCount - offset, bytes)
    }

    /// Reads text that follows its length.
    mutating func countedText(_ bytes: RawSpan) throws(EventDecodingError) -> String {
        let count = try leb128(bytes)
        guard let count = Int(exactly: count) else { throw error(.tooShort) }
        return try text(count, bytes)
    }
}
