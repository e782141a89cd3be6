// Unsafe: a `RawSpan` cannot know that every bit pattern is a value of the loaded type. For
// integers this holds, and the span checks the bounds of every access. Loops over single bytes are
// much slower in a replay.

extension RawSpan {
    /// Returns the byte at an offset.
    @inlinable @inline(__always)
    package func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// Returns the little-endian number in the eight bytes at an offset.
    @inlinable @inline(__always)
    package func littleEndian64(at offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Returns the text in a range of bytes, or nil if they are not UTF-8.
    ///
    /// Uses a span of UTF-8, because `String(validating:as:)` is generic over encodings and slower.
    package func text(in range: Range<Int>) -> String? {
        unsafe extracting(range).withUnsafeBytes { bytes in
            unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
                do { return String(copying: try UTF8Span(validating: unsafe bytes.span)) } catch { return nil }
            }
        }
    }

    /// Returns a copy of a range of bytes.
    package func array(in range: Range<Int>) -> [UInt8] {
        unsafe extracting(range).withUnsafeBytes { unsafe Array($0) }
    }
}

extension [UInt8] {
    /// Appends the bytes of a number, or of several numbers without padding, as stored in memory.
    @inlinable @inline(__always)
    package mutating func append<Numbers: BitwiseCopyable>(bytesOf numbers: Numbers) {
        unsafe Swift.withUnsafeBytes(of: numbers) { unsafe append(contentsOf: $0) }
    }

    /// Calls a closure with the bytes as a raw span, which is valid only during the call.
    @inlinable
    package func withRawSpan<Value, Failure: Error>(_ body: (RawSpan) throws(Failure) -> Value) throws(Failure) -> Value {
        let span = span
        return try body(unsafe span.bytes)
    }
}
