package import Columns

extension PostRow: PlainElement {}

extension PostTable: ColumnCoded {
    package func write(to writer: inout ColumnWriter) {
        ids.write(to: &writer)
        rows.write(to: &writer)
        highWords.write(to: &writer)
    }

    package init(from reader: inout ColumnReader) throws(ColumnError) {
        self.init()
        ids = try IDTable(from: &reader)
        rows = try Column(from: &reader)
        highWords = try HighWords(from: &reader)
        try require(rows.count == ids.count, "\(rows.count) posts for \(ids.count) ids")
    }

    /// Throws unless every post stands after the one before, up to a head, and leads to a place and an author that there are.
    func check(places: Int, authors: Int, head: Position) throws(ColumnError) {
        var largestPlace: UInt32 = 0
        var largestAuthor: UInt32 = 0
        var isAscending = true
        var last: Position = 0
        var number = 0
        rows.forEachPiece { piece in
            for row in piece {
                largestPlace = max(largestPlace, row.place)
                largestAuthor = max(largestAuthor, row.authorAndMarks)
                let position = highWords.join(row.low, at: number)
                isAscending = isAscending && position > last
                last = position
                number += 1
            }
        }
        if count == 0 { return }
        try require(isAscending && last <= head, "the positions of posts do not ascend to \(head)")
        try require(Int(largestPlace) < places && Int(largestAuthor >> 3) < authors, "a post has no place or no author")
    }
}
