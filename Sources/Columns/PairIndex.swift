/// Numbers pairs of numbers (a user and a thread, say) from 0 in the order in which they come, and finds a pair's number.
public struct PairIndex: Equatable, Sendable {
    var table = NumberTable<UInt64>()

    /// Makes an empty index.
    public init() {}

    /// How many pairs there are.
    public var count: Int { table.keys.count }

    /// The pair with a number.
    public func pair(_ number: Int) -> (first: Int, second: Int) {
        let key = table.keys[number]
        return (Int(key >> 32), Int(key & 0xFFFF_FFFF))
    }

    /// Finds the number of a pair.
    public func find(_ first: Int, _ second: Int) -> Int? { table.find(UInt64(first) << 32 | UInt64(second)) }

    /// Gives a pair its number: the one it has, or the next.
    public mutating func insert(_ first: Int, _ second: Int) -> (number: Int, isNew: Bool) {
        table.insert(UInt64(first) << 32 | UInt64(second))
    }
}

/// Numbers some of a list's entries from 0 in the order in which they come: what has to be kept for few of them stands in a column beside it.
public struct SubsetIndex: Equatable, Sendable {
    var table = NumberTable<UInt32>()

    /// Makes an empty index.
    public init() {}

    /// How many entries are numbered.
    public var count: Int { table.keys.count }

    /// Finds the number of an entry.
    public func find(_ entry: Int) -> Int? { table.find(UInt32(truncatingIfNeeded: entry)) }

    /// Gives an entry its number: the one it has, or the next.
    public mutating func insert(_ entry: Int) -> (number: Int, isNew: Bool) { table.insert(UInt32(truncatingIfNeeded: entry)) }
}
