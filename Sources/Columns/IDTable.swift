/// Numbers 128-bit ids from 0 in the order in which they come, and finds an id's number.
///
/// Not generic, as ``PairIndex`` and ``SubsetIndex`` are not, so that its code is made here, once, for this type.
public struct IDTable: Equatable, Sendable {
    var table = NumberTable<Column<UInt128>>()

    /// Makes an empty table.
    public init() {}

    /// How many ids there are.
    public var count: Int { table.keys.count }

    /// The id with a number.
    public func id(_ number: Int) -> UInt128 { table.keys[number] }

    /// Finds the number of an id.
    public func find(_ id: UInt128) -> Int? { table.find(id) }

    /// Makes room for so many ids in a table that has none yet.
    public mutating func reserve(_ count: Int) { table.reserve(count) }

    /// Reads ahead what looking up some ids is going to read.
    public func warm(_ ids: [UInt128]) { table.warm(ids) }

    /// Gives an id its number: the one it has, or the next.
    public mutating func insert(_ id: UInt128) -> (number: Int, isNew: Bool) { table.insert(id) }

    /// Looks up ids, one after the other and faster than one alone, and gives some of them a number if they have none.
    ///
    /// - Parameter inserting: Which of them; as many as there are ids.
    /// - Returns: The number + 1 of each, 0 for one that has none.
    public mutating func lookUp(_ ids: [UInt128], inserting: [Bool]) -> [UInt32] { table.lookUp(ids) { inserting[$0] } }
}
