/// The messages, or the replies, in the order in which they were posted.
///
/// Inlinable, so that other modules do not pay for the generic.
package struct PostTable<ID: EntityID>: Equatable, Sendable {
    package internal(set) var numbers = DenseIndex<ID>()
    @usableFromInline var rows = Column<PostRow>()
    @usableFromInline var highWords = HighWords()

    package init() {}

    /// How many there are.
    @inlinable package var count: Int { rows.count }

    /// Adds one, unless its id is there already.
    mutating func append(
        _ id: ID, at position: Position, place: Int, author: Int, isImported: Bool
    ) -> (number: Int, isNew: Bool) {
        let (number, isNew) = numbers.insert(id)
        guard isNew else { return (number, false) }
        rows.append(
            PostRow(
                low: highWords.split(position, at: number), place: UInt32(truncatingIfNeeded: place),
                authorAndMarks: UInt32(truncatingIfNeeded: author) << 3 | (isImported ? PostRow.imported : 0)))
        return (number, true)
    }

    /// Where the post stands in the journal.
    @inlinable package func position(_ number: Int) -> Position { highWords.join(rows[number].low, at: number) }

    /// The number of the thread of a message, of the message of a reply.
    @inlinable package func place(_ number: Int) -> Int { Int(rows[number].place) }

    /// The number of the author.
    @inlinable package func author(_ number: Int) -> Int { Int(rows[number].authorAndMarks >> 3) }

    /// Whether the post has been retracted, as far as the state has gone.
    @inlinable package func isRetracted(_ number: Int) -> Bool { rows[number].authorAndMarks & PostRow.retracted != 0 }

    /// Whether anything after it was about the post: an edit, a retraction, a reply.
    @inlinable package func hasHistory(_ number: Int) -> Bool { rows[number].authorAndMarks & PostRow.referredTo != 0 }

    /// Whether an import posted it.
    @inlinable package func isImported(_ number: Int) -> Bool { rows[number].authorAndMarks & PostRow.imported != 0 }

    mutating func markRetracted(_ number: Int) { rows[number].authorAndMarks |= PostRow.retracted | PostRow.referredTo }

    mutating func markHistory(_ number: Int) { rows[number].authorAndMarks |= PostRow.referredTo }

    /// How many were posted up to a position: O(log *n*).
    package func count(through position: Position) -> Int {
        // Nearly always it is all of them.
        if rows.count > 0, self.position(rows.count - 1) <= position { return rows.count }
        return partition(rows.count) { self.position($0) > position }
    }
}

/// A message or a reply in 12 bytes: there is one for each that was ever posted.
@usableFromInline
struct PostRow: Equatable, Sendable, BitwiseCopyable {
    @usableFromInline var low: UInt32
    @usableFromInline var place: UInt32
    /// The author's number, shifted over the marks.
    @usableFromInline var authorAndMarks: UInt32

    init(low: UInt32, place: UInt32, authorAndMarks: UInt32) {
        self.low = low
        self.place = place
        self.authorAndMarks = authorAndMarks
    }

    @inlinable static var retracted: UInt32 { 1 }
    @inlinable static var referredTo: UInt32 { 2 }
    @inlinable static var imported: UInt32 { 4 }
}
