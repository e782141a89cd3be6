/// Numbers ids from 0 in the order in which they come, and finds an id's number.
///
/// A typed face of ``IDTable``, which does the work; inlinable, so that other modules do not pay for the generic.
package struct DenseIndex<ID: EntityID>: Equatable, Sendable {
    @usableFromInline var table = IDTable()

    @inlinable package init() {}

    /// How many ids there are.
    @inlinable package var count: Int { table.count }

    /// The id with a number.
    @inlinable package func id(_ number: Int) -> ID { ID(bits: table.key(number)) }

    /// Finds the number of an id.
    @inlinable package func find(_ id: ID) -> Int? { table.find(id.bits) }

    /// Gives an id its number: the one it has, or the next.
    @inlinable package mutating func insert(_ id: ID) -> (number: Int, isNew: Bool) { table.insert(id.bits) }
}
