/// Where the bytes of columns go: a file, or a digest.
package protocol ColumnSink: AnyObject {
    /// Takes the next bytes; all blocks but the last have ``ColumnWriter/blockByteCount`` of them.
    func write(_ block: [UInt8])
}

/// Where the bytes of columns come from.
package protocol ColumnSource: AnyObject {
    /// How many bytes there are in all.
    var byteCount: Int { get }

    /// Puts the next bytes, which nothing has changed since they were written, at the beginning of a block.
    ///
    /// - Parameter block: Has room for ``ColumnWriter/blockByteCount`` bytes and 64 more, which the source may use.
    /// - Returns: How many they are; 0 at the end.
    /// - Throws: ``ColumnError`` if they cannot be read or are not what was written.
    func read(into block: inout [UInt8]) throws(ColumnError) -> Int
}

/// What can be written as columns and made of them again.
package protocol ColumnCoded {
    /// Writes all of it.
    func write(to writer: inout ColumnWriter)

    /// Reads what ``write(to:)`` wrote.
    ///
    /// Numbers that lead to other parts of it are checked; those that lead elsewhere their owner checks.
    ///
    /// - Throws: ``ColumnError`` if the bytes are anything else.
    init(from reader: inout ColumnReader) throws(ColumnError)
}

/// Why bytes are not the columns that they should be.
@usableFromInline package struct ColumnError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence for people.
    @usableFromInline package var description: String

    @inlinable package init(_ description: String) { self.description = description }
}

/// Throws an error with a sentence unless a condition holds.
package func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(ColumnError) {
    if !condition { throw ColumnError(message()) }
}

/// An element whose bytes in memory can be written and read as they are: integers of fixed width alone, and no padding between or after them.
package protocol PlainElement: BitwiseCopyable, Sendable {}

extension UInt8: PlainElement {}
extension UInt32: PlainElement {}
extension UInt64: PlainElement {}
extension UInt128: PlainElement {}
