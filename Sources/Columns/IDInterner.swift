/// Interns 128-bit ids: assigns dense indexes from 0 in order of insertion.
///
/// Not generic, like ``PairInterner`` and ``SubsetInterner``, so that its code is specialized once,
/// in this module.
public struct IDInterner: Equatable, Sendable {
    var table = KeyTable<Column<UInt128>>()

    /// Creates an empty table.
    public init() {}

    /// The number of ids.
    public var count: Int { table.keys.count }

    /// Returns the id with an index.
    public func id(_ index: Int) -> UInt128 { table.keys[index] }

    /// Returns the index of an id, or nil.
    public func find(_ id: UInt128) -> Int? { table.find(id) }

    /// Looks up the ids of a group together, so that their cache misses overlap.
    ///
    /// Mutating, because each key that is found continues the growth of the table, as an insertion
    /// does.
    public mutating func find(_ group: inout KeyGroup<UInt128>) { table.find(&group) }

    /// Returns the index of an id, assigning the next one if the id is new.
    public mutating func insert(_ id: UInt128) -> (index: Int, isNew: Bool) { table.insert(id) }

    /// Reserves capacity in an empty table; otherwise does nothing.
    public mutating func reserve(_ count: Int) { table.reserve(count) }

    /// Removes the slots of a copy that is only written.
    ///
    /// A later insertion into the original then copies no slots. Afterwards the copy can no longer
    /// find or insert ids.
    public mutating func removeSlots() { table.removeSlots() }
}

extension IDInterner: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try KeyTable(from: &reader) }
}
