// The module's only unsafe code: loads from a span, the spans of arrays, and the bytes of integers. `RawSpan` checks the bounds of each; it calls them unsafe because it cannot know
// that every bit pattern is a value of the type, which for integers it is. Byte-wise loops took four times as long in replay.

extension RawSpan {
    @inline(__always)
    func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    @inline(__always)
    func littleEndian64(at offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The text in a range of bytes, nil if they are not UTF-8.
    ///
    /// By way of a span of UTF-8: `String(validating:as:)` is made for any sequence in any encoding, and takes twice as long (146 ns for 92 bytes of ASCII, and 84).
    func text(in range: Range<Int>) -> String? {
        unsafe extracting(range).withUnsafeBytes { bytes in
            unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
                do { return String(copying: try UTF8Span(validating: unsafe bytes.span)) } catch { return nil }
            }
        }
    }

    /// A copy of a range of bytes.
    func array(in range: Range<Int>) -> [UInt8] {
        unsafe extracting(range).withUnsafeBytes { unsafe Array($0) }
    }
}

extension [UInt8] {
    /// Appends the bytes of a number, or of some without padding between them, in the order in which they are stored: one by one they took a third of the encoding.
    @inline(__always)
    mutating func append<Numbers: BitwiseCopyable>(bytesOf numbers: Numbers) {
        unsafe Swift.withUnsafeBytes(of: numbers) { unsafe append(contentsOf: $0) }
    }
}

extension ChatEvent {
    /// Decodes an event from arrays of bytes; the standard library calls their raw spans unsafe for the sake of elements with padding, which bytes have not.
    package init(keptBytes: [UInt8], erasableBytes: [UInt8]?) throws(EventDecodingError) {
        if let erasableBytes {
            try unsafe self.init(kept: keptBytes.span.bytes, erasable: erasableBytes.span.bytes)
        } else {
            try unsafe self.init(kept: keptBytes.span.bytes, erasable: nil)
        }
    }
}
