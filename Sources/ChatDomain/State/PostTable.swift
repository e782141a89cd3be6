import Columns

/// The messages, or the replies, by their numbers.
package struct PostTable: Equatable, Sendable {
    var positions = PackedColumn<Position>()
    var places = PackedColumn<UInt32>()
    /// The author's number, shifted over the marks.
    var authorsAndMarks = PackedColumn<UInt32>()

    static let retracted: UInt32 = 1
    static let referredTo: UInt32 = 2
    static let imported: UInt32 = 4

    package init() {}

    /// How many there are.
    package var count: Int { positions.count }

    /// Adds the next one.
    mutating func append(at position: Position, place: Int, author: Int, isImported: Bool) {
        positions.append(position)
        places.append(UInt32(truncatingIfNeeded: place))
        authorsAndMarks.append(Self.unmarked(UInt32(truncatingIfNeeded: author), isImported))
    }

    /// Adds the next ones.
    ///
    /// - Parameters:
    ///   - position: The position of each; place and author likewise, and whether an import posted it.
    @inline(__always)
    mutating func append(
        count: Int, position: (Int) -> Position, place: (Int) -> UInt32, author: (Int) -> UInt32, isImported: (Int) -> Bool
    ) {
        positions.append(count: count, position)
        places.append(count: count, place)
        authorsAndMarks.append(count: count) { Self.unmarked(author($0), isImported($0)) }
    }

    /// The author of a post of which nothing has become yet.
    private static func unmarked(_ author: UInt32, _ isImported: Bool) -> UInt32 { author << 3 | (isImported ? imported : 0) }

    /// Where the post stands in the journal.
    package func position(_ number: Int) -> Position { positions[number] }

    /// The number of the thread of a message, of the message of a reply.
    package func place(_ number: Int) -> Int { Int(places[number]) }

    /// The number of the author.
    package func author(_ number: Int) -> Int { Int(authorsAndMarks[number] >> 3) }

    /// Whether the post has been retracted, as far as the state has gone.
    package func isRetracted(_ number: Int) -> Bool { authorsAndMarks[number] & Self.retracted != 0 }

    /// Who wrote the post and what is marked of it, as far as the state has gone.
    package func marks(_ number: Int) -> PostMarks {
        let word = authorsAndMarks[number]
        return PostMarks(
            author: Int(word >> 3), isRetracted: word & Self.retracted != 0, hasHistory: word & Self.referredTo != 0,
            isImported: word & Self.imported != 0)
    }

    mutating func markRetracted(_ number: Int) { authorsAndMarks[number] |= Self.retracted | Self.referredTo }

    mutating func markHistory(_ number: Int) { authorsAndMarks[number] |= Self.referredTo }

    /// How many were posted up to a position: O(log *n*).
    package func count(through position: Position) -> Int {
        // Nearly always it is all of them.
        if let last = positions.last, last <= position { return positions.count }
        return partition(positions.count) { positions[$0] > position }
    }
}

/// What a ``PostTable`` says of a post in one word.
package struct PostMarks: Sendable {
    /// The number of the author.
    package var author: Int
    package var isRetracted: Bool
    /// Whether anything after it was about the post: an edit, a retraction, a reply.
    package var hasHistory: Bool
    /// Whether an import posted it.
    package var isImported: Bool
}
