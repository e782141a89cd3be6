/// Interns pairs of numbers, such as user and thread: assigns dense indexes from 0.
///
/// The order is that of insertion.
public struct PairInterner: Equatable, Sendable {
    /// The key interleaves the bits of both numbers: small numbers give a small key, which packs
    /// well.
    var table = KeyTable<PackedColumn<UInt64>>()

    /// Creates an empty index.
    public init() {}

    /// The number of pairs.
    public var count: Int { table.keys.count }

    /// Returns the pair with an index.
    public func pair(_ index: Int) -> (first: Int, second: Int) {
        let key = table.keys[index]
        return (Int(Self.compactBits(of: key >> 1)), Int(Self.compactBits(of: key)))
    }

    /// Returns the index of a pair, or nil.
    public func find(_ first: Int, _ second: Int) -> Int? { table.find(Self.key(first, second)) }

    /// Looks up the pairs of a group, as ``key(_:_:)``, together, so that their cache misses
    /// overlap.
    ///
    /// Mutating, because each key that is found continues the growth of the table, as an insertion
    /// does.
    public mutating func find(_ group: inout KeyGroup<UInt64>) { table.find(&group) }

    /// Returns the index of a pair, assigning the next one if the pair is new.
    public mutating func insert(_ first: Int, _ second: Int) -> (index: Int, isNew: Bool) {
        table.insert(Self.key(first, second))
    }

    /// Reserves capacity in an empty index; otherwise does nothing.
    public mutating func reserve(_ count: Int) { table.reserve(count) }

    /// Removes the slots of a copy that is only written.
    ///
    /// A later insertion into the original then copies no slots. Afterwards the copy can no longer
    /// find or insert pairs.
    public mutating func removeSlots() { table.removeSlots() }

    /// Returns the key of a pair.
    ///
    /// - Precondition: Both numbers are at least 0 and less than 2^32. Only debug builds check it.
    @inlinable public static func key(_ first: Int, _ second: Int) -> UInt64 {
        assert(first >> 32 == 0 && second >> 32 == 0)
        return spreadBits(UInt64(first)) << 1 | spreadBits(UInt64(second))
    }

    /// Inserts a 0 before each of the lower 32 bits.
    @inlinable static func spreadBits(_ number: UInt64) -> UInt64 {
        var bits = number & 0xFFFF_FFFF
        bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
        bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits << 2) & 0x3333_3333_3333_3333
        return (bits | bits << 1) & 0x5555_5555_5555_5555
    }

    private static func compactBits(of key: UInt64) -> UInt64 {
        var bits = key & 0x5555_5555_5555_5555
        bits = (bits | bits >> 1) & 0x3333_3333_3333_3333
        bits = (bits | bits >> 2) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits >> 4) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits >> 8) & 0x0000_FFFF_0000_FFFF
        return (bits | bits >> 16) & 0xFFFF_FFFF
    }
}

extension PairInterner: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try KeyTable(from: &reader) }

    /// Throws unless the numbers of every pair are less than the bounds.
    package func check(firstBelow first: Int, secondBelow second: Int) throws(ColumnError) {
        for index in 0..<count {
            let pair = pair(index)
            if pair.first >= first || pair.second >= second {
                throw ColumnError("the pair \(pair) is out of range for \(first) and \(second) rows")
            }
        }
    }
}
