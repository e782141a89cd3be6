package import Columns

/// Interns ids of one type: a typed face of an ``IDTable``.
package struct DenseIndex<ID: EntityID>: Equatable, Sendable {
    private var table = IDTable()

    package init() {}

    /// How many ids there are.
    package var count: Int { table.count }

    /// The id with an index.
    package func id(_ index: Int) -> ID { ID(bits: table.id(index)) }

    /// Finds the index of an id.
    package func find(_ id: ID) -> Int? { table.find(id.bits) }

    /// Reads what looking up some ids is going to read.
    package func prefetch(_ ids: Span<UInt128>) { table.prefetch(ids) }

    /// Gives an id its index: the one it has, or the next.
    package mutating func insert(_ id: ID) -> (index: Int, isNew: Bool) { table.insert(id.bits) }

    /// Removes all but the ids, in a copy that is only written.
    ///
    /// A change of the original then copies no slots.
    package mutating func removeSlots() { table.removeSlots() }
}

extension DenseIndex: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try IDTable(from: &reader) }
}
