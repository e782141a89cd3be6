package import Columns

/// Interns ids of one type: a typed wrapper of ``IDInterner``.
package struct TypedIDInterner<ID: EntityID>: Equatable, Sendable {
    private var table = IDInterner()

    /// Creates an empty index.
    package init() {}

    /// The number of ids.
    package var count: Int { table.count }

    /// Returns the id with an index.
    package func id(_ index: Int) -> ID { ID(bits: table.id(index)) }

    /// Returns the index of an id, or nil.
    package func find(_ id: ID) -> Int? { table.find(id.bits) }

    /// Looks up the ids of a group together, so that their cache misses overlap.
    package mutating func find(_ group: inout KeyGroup<UInt128>) { table.find(&group) }

    /// Returns the index of an id, assigning the next one if the id is new.
    package mutating func insert(_ id: ID) -> (index: Int, isNew: Bool) { table.insert(id.bits) }

    /// Visits the ids.
    package mutating func visit(_ visitor: inout ColumnVisitor) throws(ColumnError) { try table.visit(&visitor) }
}
