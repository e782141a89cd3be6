package import Columns
import Primitives

/// Entities that an event creates and that have an author, by dense index: their ids and the constant
/// facts about them.
///
/// An entity's parent is the thread of a message or a custom event, the message of a reply, or the
/// ``PostKey/number`` of the post of an edit.
package struct AuthoredTable: Equatable, Sendable {
    /// The ids.
    package internal(set) var ids = IDInterner()
    /// The positions of the events that created the entities.
    var positions = PackedColumn<Position>()
    /// The indexes of the parents.
    var parents = PackedColumn<UInt32>()
    /// The authors' indexes shifted left by one; bit 0 is set for an entity of an import.
    var authors = PackedColumn<UInt32>()

    /// Creates an empty table.
    package init() {}

    /// The number of entities.
    package var count: Int { positions.count }

    /// Returns the id of an entity.
    package func id(_ index: Int) -> UInt128 { ids.id(index) }

    /// Returns the index of an entity, or nil.
    package func find(_ id: UInt128) -> Int? { ids.find(id) }

    /// Returns the index of an entity, which the event creates if its id is new.
    @inline(__always)
    mutating func insert(_ id: UInt128, by event: EventRow, at position: Position, parent: Int, author: Int) -> (
        index: Int, isNew: Bool
    ) {
        let found = ids.insert(id)
        if found.isNew {
            positions.append(position)
            parents.append(UInt32(truncatingIfNeeded: parent))
            authors.append(UInt32(truncatingIfNeeded: author) << 1 | (event.isImported ? 1 : 0))
        }
        return found
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

extension AuthoredTable {
    /// Visits the columns.
    mutating func visit(_ visitor: inout ColumnVisitor) throws(ColumnError) {
        try ids.visit(&visitor)
        try positions.visit(&visitor, rows: ids.count)
        try parents.visit(&visitor, rows: ids.count)
        try authors.visit(&visitor, rows: ids.count)
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
