/// Interns 128-bit ids: each gets a dense index, from 0 in the order in which they come.
///
/// Not generic, as ``PairIndex`` and ``SubsetIndex`` are not, so that its code is made here, once,
/// for this type.
public struct IDTable: Equatable, Sendable {
    var table = KeyTable<Column<UInt128>>()

    /// Makes an empty table.
    public init() {}

    /// How many ids there are.
    public var count: Int { table.keys.count }

    /// The id with an index.
    public func id(_ index: Int) -> UInt128 { table.keys[index] }

    /// Finds the index of an id.
    public func find(_ id: UInt128) -> Int? { table.find(id) }

    /// Makes room for so many ids in a table that has none yet.
    public mutating func reserve(_ count: Int) { table.reserve(count) }

    /// Reads what looking up some ids is going to read.
    public func prefetch(_ ids: Span<UInt128>) { table.prefetch(ids) }

    /// Gives an id its index: the one it has, or the next.
    public mutating func insert(_ id: UInt128) -> (index: Int, isNew: Bool) { table.insert(id) }

    /// Looks up ids in their order, faster than one alone, and gives some of them an index if they have none.
    ///
    /// - Parameters:
    ///   - inserting: Which of them; as many as there are ids.
    ///   - entries: At least as many; is given the index + 1 of each, 0 for one that has none.
    public mutating func lookUp(_ ids: [UInt128], inserting: [Bool], into entries: inout [UInt32]) {
        var entries = entries.mutableSpan
        table.lookUp(ids.span, inserting: { inserting[$0] }, into: &entries)
    }

    /// Gives ids in their order an index, faster than one alone: the one that each has, or the next.
    ///
    /// - Parameter entries: At least as many; is given the index + 1 of each.
    public mutating func insert(_ ids: [UInt128], into entries: inout [UInt32]) {
        var entries = entries.mutableSpan
        table.lookUp(ids.span, inserting: { _ in true }, into: &entries)
    }

    /// Removes all but the ids, in a copy that is only written.
    ///
    /// A change of the original then copies no slots.
    public mutating func removeSlots() { table.removeSlots() }
}
