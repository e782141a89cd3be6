/// The storage of a ``KeyTable``'s keys, by index.
protocol KeyList: Equatable, Sendable {
    associatedtype Key: FixedWidthInteger & UnsignedInteger & Sendable

    init()
    var count: Int { get }
    subscript(index: Int) -> Key { get }
    mutating func append(_ key: Key)
    func write(to writer: inout ColumnWriter)
    init(keysFrom reader: inout ColumnReader) throws(ColumnError)
}

/// Keys without a pattern, such as ids.
extension Column: KeyList where Element: FixedWidthInteger & UnsignedInteger & PlainElement {
    init(keysFrom reader: inout ColumnReader) throws(ColumnError) { try self.init(from: &reader) }
}

/// Keys that are row numbers or pairs of them.
extension PackedColumn: KeyList where Element: PlainElement {
    /// The bound is the limit of a table; the table then requires a slot for every key.
    init(keysFrom reader: inout ColumnReader) throws(ColumnError) {
        try self.init(from: &reader, atMost: Int(UInt32.max))
    }
}
