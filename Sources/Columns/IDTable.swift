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

    /// Reads what looking up some ids is going to read.
    public func prefetch(_ ids: Span<UInt128>) { table.prefetch(ids) }

    /// Gives an id its index: the one it has, or the next.
    public mutating func insert(_ id: UInt128) -> (index: Int, isNew: Bool) { table.insert(id) }

    /// Makes room for so many ids where there are none yet.
    public mutating func reserve(_ count: Int) { table.reserve(count) }

    /// Removes all but the ids, in a copy that is only written.
    ///
    /// A change of the original then copies no slots.
    public mutating func removeSlots() { table.removeSlots() }
}
