import Columns

extension PostTable {
    func write(to writer: inout ColumnWriter) {
        positions.write(to: &writer)
        places.write(to: &writer)
        authorsAndMarks.write(to: &writer)
    }

    /// Reads so many posts.
    init(from reader: inout ColumnReader, count: Int) throws(ColumnError) {
        positions = try PackedColumn(from: &reader, atMost: count)
        places = try PackedColumn(from: &reader, atMost: count)
        authorsAndMarks = try PackedColumn(from: &reader, atMost: count)
        try require(
            positions.count == count && places.count == count && authorsAndMarks.count == count,
            "\(positions.count) posts for \(count) ids")
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
