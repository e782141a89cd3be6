import Columns

/// What never changes of the messages, or of the replies, by their dense indexes.
package struct PostFacts: Equatable, Sendable {
    var positions = PackedColumn<Position>()
    var places = PackedColumn<UInt32>()
    /// The author's index, shifted over the bit that says whether an import posted it.
    var authors = PackedColumn<UInt32>()

    package init() {}

    /// The number of posts.
    package var count: Int { positions.count }

    /// Adds the next post.
    ///
    /// - Parameter place: The index of the thread of a message, of the message of a reply.
    mutating func append(at position: Position, place: Int, author: Int, isImported: Bool) {
        positions.append(position)
        places.append(UInt32(truncatingIfNeeded: place))
        authors.append(UInt32(truncatingIfNeeded: author) << 1 | (isImported ? 1 : 0))
    }

    /// The position of the event that posted it.
    package func position(_ post: Int) -> Position { positions[post] }

    /// The index of the thread of a message, of the message of a reply.
    package func place(_ post: Int) -> Int { Int(places[post]) }

    /// The index of the author.
    package func author(_ post: Int) -> Int { Int(authors[post] >> 1) }

    /// The index of the author, and whether an import posted it.
    package func origin(_ post: Int) -> (author: Int, isImported: Bool) {
        let word = authors[post]
        return (Int(word >> 1), word & 1 != 0)
    }

    /// The number of posts up to a position: O(log *n*).
    package func count(through position: Position) -> Int {
        // Nearly always all of them.
        if let last = positions.last, last <= position { return positions.count }
        return partition(positions.count) { positions[$0] > position }
    }
}

extension PostFacts {
    func write(to writer: inout ColumnWriter) {
        positions.write(to: &writer)
        places.write(to: &writer)
        authors.write(to: &writer)
    }

    /// Reads the facts of so many posts.
    init(from reader: inout ColumnReader, count: Int) throws(ColumnError) {
        positions = try PackedColumn(from: &reader, atMost: count)
        places = try PackedColumn(from: &reader, atMost: count)
        authors = try PackedColumn(from: &reader, atMost: count)
        try require(
            positions.count == count && places.count == count && authors.count == count, "\(positions.count) posts for \(count) ids")
    }

    /// Throws unless every post stands after the one before, up to a head, and leads to a place and an author that exist.
    func check(places placeCount: Int, authors authorCount: Int, head: Position) throws(ColumnError) {
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
        try authors.check(below: authorCount << 1)
    }
}
