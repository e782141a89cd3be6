/// Interns a subset of a list's entries: assigns dense indexes from 0 in order of insertion.
///
/// Entries are at least 0 and less than 2^32.
///
/// A column by these indexes stores values that only few entries have.
public struct SubsetInterner: Equatable, Sendable {
    var table = KeyTable<PackedColumn<UInt32>>()

    /// Creates an empty index.
    public init() {}

    /// The number of interned entries.
    public var count: Int { table.keys.count }

    /// Returns the entry with an index.
    public func entry(_ index: Int) -> Int { Int(table.keys[index]) }

    /// Returns the index of an entry, or nil.
    public func find(_ entry: Int) -> Int? { table.find(UInt32(truncatingIfNeeded: entry)) }

    /// Returns the index of an entry, assigning the next one if the entry is new.
    public mutating func insert(_ entry: Int) -> (index: Int, isNew: Bool) {
        table.insert(UInt32(truncatingIfNeeded: entry))
    }

    /// Removes the slots of a copy that is only written.
    ///
    /// A later insertion into the original then copies no slots. Afterwards the copy can no longer
    /// find or insert entries.
    public mutating func removeSlots() { table.removeSlots() }
}

extension SubsetInterner: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try KeyTable(from: &reader) }

    /// Throws unless every entry is less than `bound`.
    package func check(below bound: Int) throws(ColumnError) { try table.keys.check(below: bound) }
}
