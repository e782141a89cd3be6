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
    ///   for the source.
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
