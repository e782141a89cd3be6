package import Columns

extension PostTable: ColumnCoded {
    package func write(to writer: inout ColumnWriter) {
        ids.write(to: &writer)
        positions.write(to: &writer)
        places.write(to: &writer)
        authorsAndMarks.write(to: &writer)
    }

    package init(from reader: inout ColumnReader) throws(ColumnError) {
        self.init()
        ids = try IDTable(from: &reader)
        positions = try PackedColumn(from: &reader, atMost: ids.count)
        places = try PackedColumn(from: &reader, atMost: ids.count)
        authorsAndMarks = try PackedColumn(from: &reader, atMost: ids.count)
        try require(
            positions.count == ids.count && places.count == ids.count && authorsAndMarks.count == ids.count,
            "\(positions.count) posts for \(ids.count) ids")
    }

    /// Throws unless every post stands after the one before, up to a head, and leads to a place and an author that there are.
    func check(places placeCount: Int, authors: Int, head: Position) throws(ColumnError) {
        var last: Position = 0
        var isAscending = true
        positions.forEachPiece { piece in
            for position in piece {
                isAscending = isAscending && position > last
                last = position
            }
        }
        try require(isAscending && last <= head, "the positions of posts do not ascend to \(head)")
        try places.check(below: placeCount)
        try authorsAndMarks.check(below: authors << 3)
    }
}
