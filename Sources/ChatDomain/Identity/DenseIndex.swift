package import Columns

/// Numbers ids of one type: a typed face of a table of numbers.
package struct DenseIndex<ID: EntityID>: Equatable, Sendable {
    private var table = IDTable()

    package init() {}

    /// How many ids there are.
    package var count: Int { table.count }

    /// The id with a number.
    package func id(_ number: Int) -> ID { ID(bits: table.id(number)) }

    /// Finds the number of an id.
    package func find(_ id: ID) -> Int? { table.find(id.bits) }

    /// Reads ahead what looking up some ids is going to read.
    func warm(_ ids: [UInt128]) { table.warm(ids) }

    /// Gives an id its number: the one it has, or the next.
    package mutating func insert(_ id: ID) -> (number: Int, isNew: Bool) { table.insert(id.bits) }

    /// Looks up ids, one after the other and faster than one alone, and gives some of them a number if they have none; returns the number + 1 of each, 0 for one that
    /// has none.
    mutating func lookUp(_ ids: [UInt128], inserting: [Bool]) -> [UInt32] { table.lookUp(ids, inserting: inserting) }
}

extension DenseIndex: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try IDTable(from: &reader) }
}
