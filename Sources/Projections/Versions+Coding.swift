import ChatDomain
import Columns

/// The encoding of version histories: positions, previous links and values.
///
/// Jumps and ranks are recomputed when reading, so that a forged file cannot contain wrong ones.
extension Versions {
    func write(to writer: inout ColumnWriter) {
        positions.write(to: &writer)
        previous.write(to: &writer)
        values.write(to: &writer)
    }

    /// Reads versions.
    ///
    /// - Parameters:
    ///   - head: The maximum position.
    ///   - most: The maximum number of versions per event; by default two, a name released and a
    ///     name taken.
    init(from reader: inout ColumnReader, head: Position, perEvent most: Int = 2) throws(ColumnError) {
        self.init()
        positions = try PackedColumn(from: &reader, atMost: min(Int(clamping: head), .max / most) * most)
        previous = try PackedColumn(from: &reader, atMost: count)
        values = try PackedColumn(from: &reader, atMost: count)
        try require(previous.count == count && values.count == count, "\(values.count) versions at \(count) positions")
        try positions.check(ascendingTo: head)
        try require(isEmpty || positions[0] > 0, "a version at position 0")
        // By link, in flat arrays, which are faster to index than columns; entry 0 stands for no
        // link.
        var jumps: [Link] = [0]
        var ranks: [UInt32] = [0]
        jumps.reserveCapacity(count + 1)
        ranks.reserveCapacity(count + 1)
        try previous.forEachPiece { piece throws(ColumnError) in
            for link in piece {
                try require(Int(link) < ranks.count, "a link points forward")
                jumps.append(Self.jump(from: link, jumps, ranks))
                ranks.append(ranks[Int(link)] + 1)
            }
        }
        self.jumps = PackedColumn(jumps.dropFirst())
        self.ranks = PackedColumn(ranks.dropFirst())
    }

    private var isEmpty: Bool { positions.isEmpty }

    /// Returns the jump target of the next link, by the same rule as when appending.
    private static func jump(from newest: Link, _ jumps: [Link], _ ranks: [UInt32]) -> Link {
        let once = jumps[Int(newest)]
        guard once != 0 else { return newest }
        let twice = jumps[Int(once)]
        return ranks[Int(newest)] - ranks[Int(once)] == ranks[Int(once)] - ranks[Int(twice)] ? twice : newest
    }

    /// Throws unless every value is below a bound.
    func check(below bound: Int) throws(ColumnError) { try values.check(below: bound) }

    /// Throws unless a chain's newest link exists or is 0.
    func check(_ newest: Link) throws(ColumnError) {
        if Int(newest) > count { throw ColumnError("link \(newest), but only \(count) exist") }
    }
}
