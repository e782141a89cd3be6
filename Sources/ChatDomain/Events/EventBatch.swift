import Columns

/// Consecutive events as rows with the dense indexes of what they name: what the rules and the read models apply.
///
/// A live command is a batch of its own events, a replay is made of long batches; both are applied by the same code.
package struct EventBatch: Sendable {
    /// The position of the first event.
    package private(set) var first: Position
    package private(set) var rows: [EventRow] = []
    /// By the row; complete once ``Identities/resolve(_:)`` has seen the batch.
    package internal(set) var indexes: [EventIndexes] = []
    /// The contents of the rows whose kinds have one that is indexed, in the order of the rows.
    package internal(set) var contents: [IndexedContent] = []
    /// How many rows are resolved.
    var resolvedCount = 0

    /// The content of a row, with the dense indexes of its texts.
    package struct IndexedContent: Sendable {
        /// The index of the row.
        package let row: Int
        package let content: EventContent
        /// The index + 1 of the username's fold key, 0 for none.
        package internal(set) var name: UInt32 = 0
        /// The index + 1 of the subject, 0 for none.
        package internal(set) var subject: UInt32 = 0
    }

    /// Makes a batch without events, of which the first is going to stand at a position.
    package init(from first: Position, capacity: Int = 0) {
        self.first = first
        rows.reserveCapacity(capacity)
        indexes.reserveCapacity(capacity)
    }

    /// The number of events.
    package var count: Int { rows.count }

    /// The position of the last event; the one before the first in an empty batch.
    package var last: Position { first + Position(rows.count) - 1 }

    /// The position of a row.
    @inline(__always)
    package func position(_ row: Int) -> Position { first + Position(row) }

    /// Adds an event.
    ///
    /// - Parameters:
    ///   - content: The event's content; only that of an indexed kind is kept.
    ///   - indexes: The indexes that are known already.
    package mutating func append(_ row: EventRow, _ content: borrowing EventContent = .none, _ indexes: EventIndexes = EventIndexes()) {
        if row.kind?.isIndexed == true { contents.append(IndexedContent(row: rows.count, content: copy content)) }
        rows.append(row)
        self.indexes.append(indexes)
    }

    /// Decodes the next event.
    ///
    /// - Throws: ``EventDecodingError`` if the record is no event; nothing is added then.
    package mutating func append(kept: RawSpan, erasable: RawSpan?) throws(EventDecodingError) {
        let row = try EventRow(kept: kept)
        if row.kind?.isIndexed == true { append(row, try EventContent(indexedOf: row, erasable: erasable)) } else { append(row) }
    }

    /// Adds the events of a resolved batch that begins after this one.
    package mutating func append(_ next: borrowing EventBatch) {
        let start = rows.count
        rows.append(contentsOf: next.rows)
        indexes.append(contentsOf: next.indexes)
        for entry in next.contents {
            contents.append(IndexedContent(row: start + entry.row, content: entry.content, name: entry.name, subject: entry.subject))
        }
        resolvedCount = rows.count
    }

    /// Removes the events from a row on, none of which is resolved.
    package mutating func truncate(to count: Int) {
        rows.removeLast(rows.count - count)
        indexes.removeLast(indexes.count - count)
        while let last = contents.last, last.row >= count { contents.removeLast() }
    }

    /// Removes all events and keeps the memory.
    package mutating func removeAll(from first: Position) {
        self.first = first
        rows.removeAll(keepingCapacity: true)
        indexes.removeAll(keepingCapacity: true)
        contents.removeAll(keepingCapacity: true)
        resolvedCount = 0
    }

    /// The content of a row of an indexed kind.
    ///
    /// - Complexity: O(log *n*) in the rows that have one.
    package func content(of row: Int) -> IndexedContent { contents[partition(contents.count) { contents[$0].row >= row }] }
}

/// The dense indexes of what an event names, each + 1 and 0 for none.
package struct EventIndexes: Hashable, Sendable {
    @usableFromInline var userEntry: UInt32 = 0
    @usableFromInline var threadEntry: UInt32 = 0
    @usableFromInline var membershipEntry: UInt32 = 0
    @usableFromInline var postEntry: UInt32 = 0
    @usableFromInline var messageEntry: UInt32 = 0
    /// Whether the event is the first to name the post, the session or the membership.
    package internal(set) var isNew = false

    package init() {}

    init(user: Int? = nil, thread: Int? = nil, membership: Int? = nil, post: Int? = nil, message: Int? = nil) {
        userEntry = Self.entry(user)
        threadEntry = Self.entry(thread)
        membershipEntry = Self.entry(membership)
        postEntry = Self.entry(post)
        messageEntry = Self.entry(message)
    }

    /// Who did it, or whom it concerns; -1 for none, as for the others.
    @inline(__always) @inlinable package var user: Int { Int(userEntry) - 1 }
    /// The thread; for a postcode that of its outward code.
    @inline(__always) @inlinable package var thread: Int { Int(threadEntry) - 1 }
    /// The membership of that user in that thread, for the events that change it; that of a message's author, where the event posts or retracts one.
    @inline(__always) @inlinable package var membership: Int { Int(membershipEntry) - 1 }
    /// The message or the reply; the session for one.
    @inline(__always) @inlinable package var post: Int { Int(postEntry) - 1 }
    /// The message that the reply answers, where the event posts or retracts a reply.
    @inline(__always) @inlinable package var message: Int { Int(messageEntry) - 1 }

    static func entry(_ index: Int?) -> UInt32 { UInt32(truncatingIfNeeded: (index ?? -1) + 1) }
}
