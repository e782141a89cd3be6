// Unsafe: a `RawSpan` cannot know that every bit pattern is a value of the loaded type, and the
// standard library offers loads, stores and copies of spans only in forms that are unsafe for types
// other than integers. Each use here loads, stores or copies integers or bytes, inside bounds that
// the span or a precondition checks. Loops over single bytes are slower.
//
// Inlinable, because most callers are in loops over records in other modules.

extension RawSpan {
    /// Returns the byte at an offset.
    ///
    /// Traps outside the span, as an array does.
    @inlinable @inline(__always)
    package func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// Returns the little-endian integer at an offset.
    ///
    /// Traps if it is not completely inside the span.
    @inlinable @inline(__always)
    package func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type = Value.self)
        -> Value
    {
        unsafe Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }

    /// Whether every byte is zero.
    ///
    /// - Complexity: O(*n*), eight bytes per step.
    @inlinable
    package var isZero: Bool { firstNonzero(from: 0) == byteCount }

    /// Returns the offset of the first nonzero byte from `start`, or the count.
    @inlinable
    package func firstNonzero(from start: Int) -> Int {
        var offset = start
        while offset + 8 <= byteCount {
            if integer(at: offset, as: UInt64.self) != 0 { break }
            offset += 8
        }
        while offset < byteCount && byte(at: offset) == 0 { offset += 1 }
        return offset
    }

    /// The offset after the last nonzero byte, or 0.
    @inlinable
    package var countWithoutTrailingZeros: Int {
        var end = byteCount
        while end >= 8 && integer(at: end - 8, as: UInt64.self) == 0 { end -= 8 }
        while end > 0 && byte(at: end - 1) == 0 { end -= 1 }
        return end
    }

    /// Appends the bytes to an array.
    @inlinable
    package func append(to array: inout [UInt8]) {
        unsafe withUnsafeBytes { source in unsafe array.append(contentsOf: source) }
    }

    /// Returns the bytes as a new array.
    @inlinable
    package func toArray() -> [UInt8] { unsafe withUnsafeBytes { source in unsafe [UInt8](source) } }

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
}

extension MutableRawSpan {
    /// Stores a byte at an offset.
    ///
    /// Traps outside the span.
    @inlinable @inline(__always)
    package mutating func storeByte(_ value: UInt8, at offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }

    /// Stores bytes at an offset.
    ///
    /// Traps if they do not fit.
    @inlinable
    package mutating func storeBytes(_ source: RawSpan, at offset: Int) {
        precondition(offset >= 0 && source.byteCount <= byteCount - offset)
        unsafe withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { from in
                // The precondition makes both regions valid for the count.
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<(offset + from.count)]).copyMemory(
                    from: from)
            }
        }
    }

    /// Sets a range to zero.
    ///
    /// Traps if it is not inside the span.
    @inlinable
    package mutating func zero(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount)
        unsafe withUnsafeMutableBytes { target in
            _ = unsafe UnsafeMutableRawBufferPointer(rebasing: target[range]).initializeMemory(
                as: UInt8.self, repeating: 0)
        }
    }
}

extension [UInt8] {
    /// Calls a closure with the bytes, which are valid only during the call.
    @inlinable @inline(__always)
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // `bytes` is unsafe for elements with padding; bytes have none.
        let bytes = unsafe span.bytes
        return try body(bytes)
    }

    /// Calls a closure with the bytes of a range.
    ///
    /// Traps if the range is not inside the array.
    @inlinable @inline(__always)
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe span.bytes
        return try body(bytes.extracting(range))
    }

    /// Calls a closure with the writable bytes of a range.
    ///
    /// Traps if the range is not inside the array.
    @inlinable
    package mutating func withMutableBytes<Result: ~Copyable, Failure: Error>(
        _ range: Range<Int>, _ body: (inout MutableRawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var whole = mutableSpan
        // `mutableBytes` is unsafe for elements with invalid bit patterns; bytes have none.
        var bytes = unsafe whole.mutableBytes
        #if compiler(>=6.3)
            var part = bytes._mutatingExtracting(range)
        #else
            var part = bytes.extracting(range)
        #endif
        return try body(&part)
    }

    /// Stores a little-endian integer at an offset.
    ///
    /// Traps if it does not fit.
    @inlinable
    package mutating func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
        precondition(offset >= 0 && MemoryLayout<Value>.size <= count - offset)
        unsafe withUnsafeMutableBytes { target in
            unsafe target.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
        }
    }

    /// Stores a range of another array at an offset.
    ///
    /// Traps if it does not fit.
    @inlinable
    package mutating func storeBytes(_ source: [UInt8], _ range: Range<Int>, at offset: Int) {
        withMutableBytes(0..<count) { target in
            source.withBytes(range) { bytes in target.storeBytes(bytes, at: offset) }
        }
    }

    /// Appends the bytes of a number, or of several numbers without padding, as stored in memory.
    @inlinable @inline(__always)
    package mutating func append<Numbers: BitwiseCopyable>(bytesOf numbers: Numbers) {
        unsafe Swift.withUnsafeBytes(of: numbers) { unsafe append(contentsOf: $0) }
    }
}
