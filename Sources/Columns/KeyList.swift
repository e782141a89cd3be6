/// What a ``KeyTable`` keeps its keys in, by their index.
protocol KeyList: Equatable, Sendable {
    associatedtype Key: FixedWidthInteger & UnsignedInteger

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

/// Keys that are numbers of rows or are made of them.
extension PackedColumn: KeyList where Element: PlainElement {
    /// However many there are, there is a slot for each, which the table finds out before it goes through them.
    init(keysFrom reader: inout ColumnReader) throws(ColumnError) { try self.init(from: &reader, atMost: Int(UInt32.max)) }
}
