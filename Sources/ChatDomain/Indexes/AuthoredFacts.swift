import Columns
import Primitives

/// The constant facts about messages, replies or custom events, by dense index.
///
/// An entity's parent is the thread of a message or a custom event, or the message of a reply.
package struct AuthoredFacts: Equatable, Sendable {
    /// The positions of the events that created the entities.
    var positions = PackedColumn<Position>()
    /// The indexes of the parents.
    var parents = PackedColumn<UInt32>()
    /// The authors' indexes shifted left by one; bit 0 is set for an entity of an import.
    var authors = PackedColumn<UInt32>()

    /// Creates empty columns.
    package init() {}

    /// The number of entities.
    package var count: Int { positions.count }

    /// Appends the facts about the next entity.
    mutating func append(at position: Position, parent: Int, author: Int, isImported: Bool) {
        positions.append(position)
        parents.append(UInt32(truncatingIfNeeded: parent))
        authors.append(UInt32(truncatingIfNeeded: author) << 1 | (isImported ? 1 : 0))
    }

    /// Returns the position of the event that created an entity.
    package func position(_ index: Int) -> Position { positions[index] }

    /// Returns the index of the parent of an entity.
    package func parent(_ index: Int) -> Int { Int(parents[index]) }

    /// Returns the index of the author of an entity.
    package func author(_ index: Int) -> Int { Int(authors[index] >> 1) }

    /// Returns the index of the author of an entity, and whether an import created it.
    package func authorship(_ index: Int) -> (author: Int, isImported: Bool) {
        let word = authors[index]
        return (Int(word >> 1), word & 1 != 0)
    }

    /// Returns the number of entities that were created at or before a position.
    ///
    /// - Complexity: O(1) if the position is not before the last entity, otherwise O(log *n*).
    package func count(through position: Position) -> Int {
        // The common case: every entity was created at or before the position.
        if let last = positions.last, last <= position { return positions.count }
        return (0..<positions.count).partitioningIndex { positions[$0] > position }
    }
}

extension AuthoredFacts {
    /// Visits the facts about `count` entities.
    mutating func visit(_ visitor: inout ColumnVisitor, count: Int) throws(ColumnError) {
        try positions.visit(&visitor, rows: count)
        try parents.visit(&visitor, rows: count)
        try authors.visit(&visitor, rows: count)
    }

    /// Throws unless positions ascend up to `head` and all parents and authors exist.
    func check(parents parentCount: Int, authors authorCount: Int, head: Position) throws(ColumnError) {
        var last: Position = 0
        var isAscending = true
        positions.forEachPiece { piece in
            for position in piece {
                isAscending = isAscending && position > last
                last = position
            }
        }
        try require(isAscending && last <= head, "the positions of entities do not ascend to \(head)")
        try parents.check(below: parentCount)
        try authors.check(below: authorCount << 1)
    }
}
