import ChatDomain
import Columns

/// The positions, the links back and the values; jumps and ranks follow from the links, so that none that leads astray can come from a file.
extension Versions {
    func write(to writer: inout ColumnWriter) {
        writer.write(versions.count)
        writer.write(versions.indices) { versions[$0].position }
        writer.write(versions.indices) { versions[$0].previous }
        writer.write(versions.indices) { versions[$0].value }
    }

    /// Reads versions.
    ///
    /// - Parameter head: No version is later.
    init(from reader: inout ColumnReader, head: Position) throws(ColumnError) {
        self.init()
        let count = try reader.readCount()
        let positions: [Position] = try reader.readArray(count)
        let links: [Link] = try reader.readArray(count)
        let values: [Value] = try reader.readArray(count)
        // By link, in flat arrays, because a column is looked up in two steps; of 0, which is none, both are 0.
        var jumps: [Link] = [0]
        var ranks: [UInt32] = [0]
        jumps.reserveCapacity(count + 1)
        ranks.reserveCapacity(count + 1)
        var last: Position = 1
        for index in 0..<count {
            let previous = links[index]
            try require(Int(previous) <= index, "a link leads forward")
            try require(positions[index] >= last, "the positions of versions go back")
            last = positions[index]
            jumps.append(Self.jump(from: previous, jumps, ranks))
            ranks.append(ranks[Int(previous)] + 1)
        }
        try require(count == 0 || last <= head, "a version after \(head)")
        versions = Column(count: count) { rows in
            rows.map { index in
                Version(
                    position: positions[index], previous: links[index], jump: jumps[index + 1], rank: ranks[index + 1],
                    value: values[index])
            }
        }
    }

    /// Where the link after this one jumps to, by the same rule as for a version that is appended.
    private static func jump(from newest: Link, _ jumps: [Link], _ ranks: [UInt32]) -> Link {
        let once = jumps[Int(newest)]
        guard once != 0 else { return newest }
        let twice = jumps[Int(once)]
        return ranks[Int(newest)] - ranks[Int(once)] == ranks[Int(once)] - ranks[Int(twice)] ? twice : newest
    }

    /// Throws unless every value is smaller than a bound.
    func check(below bound: Int) throws(ColumnError) {
        var largest: Value = 0
        versions.forEachPiece { piece in for version in piece { largest = max(largest, version.value) } }
        if largest >= bound, !versions.isEmpty { throw ColumnError("the value \(largest), where there are \(bound)") }
    }

    /// Throws unless a chain's newest link is one that there is, or none.
    func check(_ newest: Link) throws(ColumnError) {
        if Int(newest) > versions.count { throw ColumnError("the link \(newest), where there are \(versions.count)") }
    }
}
