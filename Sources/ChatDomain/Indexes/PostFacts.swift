import Columns
import Primitives

/// The constant facts about messages, or about replies, by dense index.
package struct PostFacts: Equatable, Sendable {
    /// The position of the event that posted it.
    var positions = PackedColumn<Position>()
    /// The index of a message's thread, or of a reply's message.
    var parents = PackedColumn<UInt32>()
    /// The author's index shifted left by one; bit 0 is set if an import posted it.
    var authors = PackedColumn<UInt32>()

    /// Creates empty columns.
    package init() {}

    /// The number of posts.
    package var count: Int { positions.count }

    /// Appends the next post.
    ///
    /// - Parameter place: For a message the index of its thread, for a reply the index of its
    ///   message.
    mutating func append(at position: Position, place: Int, author: Int, isImported: Bool) {
        positions.append(position)
        parents.append(UInt32(truncatingIfNeeded: place))
        authors.append(UInt32(truncatingIfNeeded: author) << 1 | (isImported ? 1 : 0))
    }

    /// The position of the event that posted it.
    package func position(_ post: Int) -> Position { positions[post] }

    /// The index of a message's thread, or of a reply's message.
    package func parent(_ post: Int) -> Int { Int(parents[post]) }

    /// The index of the author.
    package func author(_ post: Int) -> Int { Int(authors[post] >> 1) }

    /// The index of the author, and whether an import posted it.
    package func authorship(_ post: Int) -> (author: Int, isImported: Bool) {
        let word = authors[post]
        return (Int(word >> 1), word & 1 != 0)
    }

    /// Returns the number of posts at or before a position.
    ///
    /// - Complexity: O(1) if the position is not before the last post, otherwise O(log *n*).
    package func count(through position: Position) -> Int {
        // The common case: every post is at or before the position.
        if let last = positions.last, last <= position { return positions.count }
        return (0..<positions.count).partitioningIndex { positions[$0] > position }
    }
}

extension PostFacts {
    func write(to writer: inout ColumnWriter) {
        positions.write(to: &writer)
        parents.write(to: &writer)
        authors.write(to: &writer)
    }

    /// Reads the facts of `count` posts.
    init(from reader: inout ColumnReader, count: Int) throws(ColumnError) {
        positions = try PackedColumn(from: &reader, atMost: count)
        parents = try PackedColumn(from: &reader, atMost: count)
        authors = try PackedColumn(from: &reader, atMost: count)
        try require(
            positions.count == count && parents.count == count && authors.count == count, "\(positions.count) posts for \(count) ids")
    }

    /// Throws unless positions ascend up to `head` and all parents and authors exist.
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
        try parents.check(below: placeCount)
        try authors.check(below: authorCount << 1)
    }
}
