/// Interns pairs of numbers (a user and a thread, say): each gets a dense index, from 0 in the
/// order in which they come.
public struct PairIndex: Equatable, Sendable {
    /// The key of a pair has the bits of both by turns, so that small numbers make a small key,
    /// which is packed.
    var table = KeyTable<PackedColumn<UInt64>>()

    /// Makes an empty index.
    public init() {}

    /// How many pairs there are.
    public var count: Int { table.keys.count }

    /// The pair with an index.
    public func pair(_ index: Int) -> (first: Int, second: Int) {
        let key = table.keys[index]
        return (Int(Self.everyOtherBit(of: key >> 1)), Int(Self.everyOtherBit(of: key)))
    }

    /// Finds the index of a pair.
    public func find(_ first: Int, _ second: Int) -> Int? { table.find(Self.key(first, second)) }

    /// Reads what looking up some pairs is going to read.
    public func prefetch(_ pairs: [(first: Int, second: Int)]) {
        let keys = pairs.map { Self.key($0.first, $0.second) }
        table.prefetch(keys.span)
    }

    /// Gives a pair its index: the one it has, or the next.
    public mutating func insert(_ first: Int, _ second: Int) -> (index: Int, isNew: Bool) {
        table.insert(Self.key(first, second))
    }

    /// Makes room for so many pairs where there are none yet.
    public mutating func reserve(_ count: Int) { table.reserve(count) }

    /// Removes all but the pairs, in a copy that is only written.
    ///
    /// A change of the original then copies no slots.
    public mutating func removeSlots() { table.removeSlots() }

    private static func key(_ first: Int, _ second: Int) -> UInt64 { spread(UInt64(first)) << 1 | spread(UInt64(second)) }

    /// Puts a 0 before each of the lower 32 bits.
    private static func spread(_ number: UInt64) -> UInt64 {
        var bits = number & 0xFFFF_FFFF
        bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
        bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits << 2) & 0x3333_3333_3333_3333
        return (bits | bits << 1) & 0x5555_5555_5555_5555
    }

    private static func everyOtherBit(of key: UInt64) -> UInt64 {
        var bits = key & 0x5555_5555_5555_5555
        bits = (bits | bits >> 1) & 0x3333_3333_3333_3333
        bits = (bits | bits >> 2) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits >> 4) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits >> 8) & 0x0000_FFFF_0000_FFFF
        return (bits | bits >> 16) & 0xFFFF_FFFF
    }
}

/// Interns some of a list's entries, in the order in which they come: what has to be kept for few
/// of them stands in a column beside it.
public struct SubsetIndex: Equatable, Sendable {
    var table = KeyTable<PackedColumn<UInt32>>()

    /// Makes an empty index.
    public init() {}

    /// How many entries have an index.
    public var count: Int { table.keys.count }

    /// Finds the index of an entry.
    public func find(_ entry: Int) -> Int? { table.find(UInt32(truncatingIfNeeded: entry)) }

    /// Gives an entry its index: the one it has, or the next.
    public mutating func insert(_ entry: Int) -> (index: Int, isNew: Bool) { table.insert(UInt32(truncatingIfNeeded: entry)) }

    /// Removes all but the entries, in a copy that is only written.
    ///
    /// A change of the original then copies no slots.
    public mutating func removeSlots() { table.removeSlots() }
}
