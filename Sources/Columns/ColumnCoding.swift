/// A destination for the bytes of columns: a file or a digest.
package protocol ColumnSink: AnyObject {
    /// Writes the next bytes.
    ///
    /// All blocks except the last have ``ColumnWriter/blockByteCount`` bytes.
    func write(_ block: [UInt8])
}

/// A source for the bytes of columns.
package protocol ColumnSource: AnyObject {
    /// The total number of bytes.
    var byteCount: Int { get }

    /// Reads the next bytes into the beginning of a block and verifies them.
    ///
    /// - Parameter block: Has ``ColumnWriter/blockByteCount`` bytes and 64 more as scratch space
    ///   for the source. The source of a checkpoint reads the block's checksum there.
    /// - Returns: The number of bytes read, or 0 at the end.
    /// - Throws: ``ColumnError`` if the bytes cannot be read or were changed since they were
    ///   written.
    func read(into block: inout [UInt8]) throws(ColumnError) -> Int
}

/// A type that can be written as columns and read back.
package protocol ColumnCoded {
    /// Writes the value.
    func write(to writer: inout ColumnWriter)

    /// Reads a value that ``write(to:)`` wrote.
    ///
    /// Checks references within the value. The caller checks references to other values.
    ///
    /// - Throws: ``ColumnError`` if the bytes are not valid.
    init(from reader: inout ColumnReader) throws(ColumnError)
}

/// An error for bytes that are not valid columns.
@usableFromInline package struct ColumnError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description for people.
    @usableFromInline package var description: String

    /// Creates an error with a description.
    @inlinable package init(_ description: String) { self.description = description }
}

/// Throws an error with the message unless a condition holds.
package func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(ColumnError) {
    if !condition { throw ColumnError(message()) }
}

/// An element whose bytes in memory can be written and read unchanged.
///
/// Conforming types are integers of fixed width without padding.
package protocol PlainElement: BitwiseCopyable, Sendable {}

extension UInt8: PlainElement {}
extension UInt32: PlainElement {}
extension UInt64: PlainElement {}
extension UInt128: PlainElement {}

/// Reads the bytes of a ``ColumnWriter``.
///
/// Checks every count against the remaining bytes before it allocates memory.
package struct ColumnReader {
    let source: any ColumnSource
    var block = [UInt8](repeating: 0, count: ColumnWriter.blockByteCount + 64)
    /// The unread range of the block.
    var unread = 0..<0
    /// The number of remaining bytes, including those of the block.
    var remainingByteCount: Int

    /// Creates a reader of a source.
    package init(_ source: any ColumnSource) {
        self.source = source
        remainingByteCount = source.byteCount
    }

    /// Throws unless all bytes have been read.
    package func checkEnd() throws(ColumnError) {
        try require(remainingByteCount == 0, "\(remainingByteCount) bytes are left over")
    }

    /// Reads one number.
    package mutating func read<Value: PlainElement>(_ type: Value.Type = Value.self) throws(ColumnError) -> Value {
        let values: [Value] = try readArray(1)
        return values[0]
    }

    /// Reads a count of elements that take at least one byte each.
    package mutating func readCount() throws(ColumnError) -> Int {
        let count: UInt64 = try read()
        try require(count <= UInt64(remainingByteCount), "a count of \(count) with \(remainingByteCount) bytes left")
        return Int(count)
    }

    /// Reads a Boolean, stored as 0 or 1.
    package mutating func readFlag() throws(ColumnError) -> Bool {
        let value: UInt8 = try read()
        try require(value <= 1, "a flag is \(value)")
        return value == 1
    }

    /// Reads a text or nil for each of `count` rows.
    package mutating func readTexts(_ count: Int) throws(ColumnError) -> [String?] {
        let lengths: [UInt32] = try readArray(count)
        var texts: [String?] = []
        texts.reserveCapacity(count)
        for length in lengths {
            guard length != .max else {
                texts.append(nil)
                continue
            }
            guard let text = try readText(Int(length)) else { throw ColumnError("a text is not UTF-8") }
            texts.append(text)
        }
        return texts
    }

    /// Throws unless enough bytes remain for `count` elements.
    func checkRemaining(_ count: Int, of size: Int) throws(ColumnError) {
        let (byteCount, overflows) = count.multipliedReportingOverflow(by: size)
        try require(
            !overflows && byteCount <= remainingByteCount,
            "\(count) elements of \(size) bytes with \(remainingByteCount) bytes left")
    }

    /// Loads the next block if the current one has been read.
    mutating func load() throws(ColumnError) {
        guard unread.isEmpty else { return }
        let count = try source.read(into: &block)
        try require(count > 0 && count <= block.count, "the bytes end too early")
        unread = 0..<count
    }
}

/// Writes columns as little-endian bytes, in blocks.
package struct ColumnWriter {
    /// The size of a block, which fits in the processor's cache.
    package static let blockByteCount = 1 << 18

    /// Whether only the logical content is written, for a digest.
    ///
    /// Excludes random seeds and the layout in memory.
    package let isCanonical: Bool
    let sink: any ColumnSink
    var block: [UInt8] = []

    /// Creates a writer to a sink.
    package init(_ sink: any ColumnSink, isCanonical: Bool = false) {
        self.sink = sink
        self.isCanonical = isCanonical
        block.reserveCapacity(Self.blockByteCount)
    }

    /// Passes the remaining bytes to the sink.
    package mutating func flush() {
        if !block.isEmpty { sink.write(block) }
        block.removeAll(keepingCapacity: true)
    }

    /// Writes one number.
    package mutating func write<Value: PlainElement>(_ value: Value) { write([value]) }

    /// Writes a count as 64 bits.
    package mutating func write(_ count: Int) { write(UInt64(count)) }

    /// Writes a Boolean as 0 or 1.
    package mutating func write(_ flag: Bool) { write(flag ? 1 : 0 as UInt8) }

    /// Writes one number per row.
    @inlinable package mutating func write<Value: PlainElement>(_ rows: Range<Int>, _ value: (Int) -> Value) {
        var values: [Value] = []
        values.reserveCapacity(Swift.min(rows.count, 4_096))
        for row in rows {
            values.append(value(row))
            if values.count == 4_096 {
                write(values)
                values.removeAll(keepingCapacity: true)
            }
        }
        write(values)
    }

    /// Writes a text or nil for each row: first all lengths in UTF-8 bytes, then all bytes.
    package mutating func write(_ rows: Range<Int>, text: (Int) -> String?) {
        write(rows) { text($0).map { UInt32(truncatingIfNeeded: $0.utf8.count) } ?? .max }
        for row in rows { if let text = text(row) { write(Array(text.utf8)) } }
    }
}
