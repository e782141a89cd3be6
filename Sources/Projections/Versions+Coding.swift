import ChatDomain
import Columns

/// The positions, the links back and the values; jumps and ranks follow from the links, so that none that leads astray can come from a file.
extension Versions {
    func write(to writer: inout ColumnWriter) {
        positions.write(to: &writer)
        previous.write(to: &writer)
        values.write(to: &writer)
    }

    /// Reads versions.
    ///
    /// - Parameters:
    ///   - head: No version is later.
    ///   - most: How many an event adds at most; by default two: a name that becomes free, and one that is taken.
    init(from reader: inout ColumnReader, head: Position, perEvent most: Int = 2) throws(ColumnError) {
        self.init()
        positions = try PackedColumn(from: &reader, atMost: min(Int(clamping: head), .max / most) * most)
        previous = try PackedColumn(from: &reader, atMost: count)
        values = try PackedColumn(from: &reader, atMost: count)
        try require(previous.count == count && values.count == count, "\(values.count) versions at \(count) positions")
        try positions.check(ascendingTo: head)
        try require(isEmpty || positions[0] > 0, "a version of position 0")
        // By link, in flat arrays, because a column is looked up in two steps; of 0, which is none, both are 0.
        var jumps: [Link] = [0]
        var ranks: [UInt32] = [0]
        jumps.reserveCapacity(count + 1)
        ranks.reserveCapacity(count + 1)
        try previous.forEachPiece { piece throws(ColumnError) in
            for link in piece {
                try require(Int(link) < ranks.count, "a link leads forward")
                jumps.append(Self.jump(from: link, jumps, ranks))
                ranks.append(ranks[Int(link)] + 1)
            }
        }
        self.jumps = PackedColumn(jumps.dropFirst())
        self.ranks = PackedColumn(ranks.dropFirst())
    }

    private var isEmpty: Bool { positions.isEmpty }

    /// Where the link after this one jumps to, by the same rule as for a version that is appended.
    private static func jump(from newest: Link, _ jumps: [Link], _ ranks: [UInt32]) -> Link {
        let once = jumps[Int(newest)]
        guard once != 0 else { return newest }
        let twice = jumps[Int(once)]
        return ranks[Int(newest)] - ranks[Int(once)] == ranks[Int(once)] - ranks[Int(twice)] ? twice : newest
    }

    /// Throws unless every value is smaller than a bound.
    func check(below bound: Int) throws(ColumnError) { try values.check(below: bound) }

    /// Throws unless a chain's newest link is one that there is, or none.
    func check(_ newest: Link) throws(ColumnError) {
        if Int(newest) > count { throw ColumnError("the link \(newest), where there are \(count)") }
    }
}
