import ChatDomain

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
        for index in 0..<count {
            var link = links[index]
            try require(Int(link) <= index, "a link leads forward")
            try require(positions[index] >= versions.last?.position ?? 1, "the positions of versions go back")
            append(values[index], at: positions[index], to: &link)
        }
        try require(versions.last?.position ?? 0 <= head, "a version after \(head)")
    }

    /// Throws unless every value is smaller than a bound.
    func check(below bound: Int) throws(ColumnError) {
        for version in versions where version.value >= bound { throw ColumnError("the value \(version.value), where there are \(bound)") }
    }

    /// Throws unless a chain's newest link is one that there is, or none.
    func check(_ newest: Link) throws(ColumnError) {
        if Int(newest) > versions.count { throw ColumnError("the link \(newest), where there are \(versions.count)") }
    }
}
