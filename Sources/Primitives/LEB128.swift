/// Unsigned LEB128: seven bits per byte, lowest first, with the top bit set in all but the last
/// byte.
///
/// Only the shortest form is valid, so each value has one encoding.
///
/// Usable from inlinable code, because events and records are decoded in loops in other modules.
@usableFromInline
package enum LEB128 {
    /// The outcome of decoding.
    @frozen @usableFromInline
    package enum Decoding {
        /// A value, and the offset after it.
        case value(UInt64, next: Int)
        /// The bytes end before the value.
        case incomplete
        /// The bytes are not the shortest form of a value within the limit.
        case invalid
    }

    /// Decodes a value of at most `limit`.
    @inlinable @inline(__always)
    package static func decode(_ bytes: RawSpan, at offset: Int, limit: UInt64 = .max) -> Decoding {
        // Nearly all values have one or two bytes, which need no loop.
        if offset < bytes.byteCount {
            let first = UInt64(bytes.byte(at: offset))
            if first < 0x80, first <= limit { return .value(first, next: offset + 1) }
            if first >= 0x80, offset + 1 < bytes.byteCount {
                let second = UInt64(bytes.byte(at: offset + 1))
                let value = first & 0x7F | second << 7
                if second > 0, second < 0x80, value <= limit { return .value(value, next: offset + 2) }
            }
        }
        return decodeAny(bytes, at: offset, limit: limit)
    }

    @usableFromInline
    static func decodeAny(_ bytes: RawSpan, at offset: Int, limit: UInt64) -> Decoding {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        var next = offset
        // A byte whose bits are all beyond the limit makes the form invalid.
        while shift == 0 || limit >> shift != 0 {
            guard next < bytes.byteCount else { return .incomplete }
            let byte = bytes.byte(at: next)
            let bits = UInt64(byte & 0x7F)
            guard (bits << shift) >> shift == bits else { return .invalid }
            value |= bits << shift
            next += 1
            if byte < 0x80 {
                guard byte != 0 || shift == 0, value <= limit else { return .invalid }
                return .value(value, next: next)
            }
            shift += 7
        }
        return .invalid
    }

    /// Appends the shortest form of a value.
    @inlinable
    package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Stores the shortest form of a value at an offset and returns the offset after it.
    @inlinable
    package static func store(_ value: UInt64, to bytes: inout MutableRawSpan, at offset: Int) -> Int {
        var rest = value
        var offset = offset
        while rest >= 0x80 {
            bytes.storeByte(UInt8(truncatingIfNeeded: rest) | 0x80, at: offset)
            offset += 1
            rest >>= 7
        }
        bytes.storeByte(UInt8(truncatingIfNeeded: rest), at: offset)
        return offset + 1
    }

    /// Returns the number of bytes of the shortest form.
    @inlinable @inline(__always)
    package static func size(_ value: UInt64) -> Int { (70 - (value | 1).leadingZeroBitCount) / 7 }
}
