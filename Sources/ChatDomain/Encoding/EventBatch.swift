import Primitives

/// Consecutive events as rows, with the dense indexes of the entities they name: each id has a small
/// number, in the order of first use, which ``Identities/resolve(_:)`` fills in.
///
/// The rules and the read models apply batches. A live command forms a batch of its own events and
/// a replay forms long batches, so both use the same code.
package struct EventBatch: Sendable {
    /// The position of the first event.
    package private(set) var firstPosition: Position
    /// The kept parts of the events, in order.
    package private(set) var rows: [EventRow] = []
    /// The indexes by row, complete after ``Identities/resolve(_:)``.
    package internal(set) var indexes: [EventIndexes] = []
    /// The indexed contents, ascending by row.
    package internal(set) var contents: [IndexedContent] = []
    /// The lists of mentioned users, ascending by row; an event without mentions has none.
    package private(set) var mentions: [MentionList] = []
    /// The authors of the posts that events are about, and the users whom their texts mention,
    /// ascending by row; complete after ``Identities/resolve(_:)``.
    package internal(set) var concerned: [ConcernedUser] = []
    /// The number of resolved rows.
    var resolvedCount = 0

    /// The content of a row, with the dense indexes of its texts.
    package struct IndexedContent: Sendable {
        /// The index of the row.
        package let row: Int
        /// The content.
        package let content: EventContent
        /// The index + 1 of the username's fold key, or 0.
        package internal(set) var oneBasedFoldKey: UInt32 = 0
        /// The index + 1 of the subject, or 0.
        package internal(set) var oneBasedSubject: UInt32 = 0
        /// The reactions that the event adds or takes back.
        ///
        /// None if the event has no effect; several if the emoji of a removal was erased.
        package internal(set) var reactions: [ReactionChange] = []
    }

    /// A user whom an event concerns: the author of the post that it is about, or one whom its text
    /// mentions.
    package struct ConcernedUser: Sendable {
        /// The index of the row.
        package internal(set) var row: Int
        /// The index of the user.
        package let user: Int
        /// The user's membership in the thread of the event; -1 for none.
        package let membership: Int
        /// Why the event concerns the user.
        package let relation: Relation
    }

    /// Why an event concerns a user.
    package enum Relation: Sendable {
        /// The user wrote the message that is answered, or the post that is removed or reacted to.
        case author
        /// The text mentions the user.
        case mentioned
    }

    /// The users whom the text of a row mentions.
    package struct MentionList: Sendable {
        /// The index of the row.
        package let row: Int
        /// The users, at least one.
        package let users: [UserID]
    }

    /// Creates an empty batch whose first event will have a position.
    package init(from first: Position, capacity: Int = 0) {
        self.firstPosition = first
        rows.reserveCapacity(capacity)
        indexes.reserveCapacity(capacity)
    }

    /// The number of events.
    package var count: Int { rows.count }

    /// The position of the last event; in an empty batch, the position before the first.
    package var lastPosition: Position { firstPosition + Position(rows.count) - 1 }

    /// Returns the position of a row.
    @inline(__always)
    package func position(_ row: Int) -> Position { firstPosition + Position(row) }

    /// Appends an event.
    ///
    /// - Parameters:
    ///   - content: The event's content; kept only if the kind is indexed.
    ///   - indexes: The indexes that are already known.
    ///   - mentioned: The users whom the text mentions.
    package mutating func append(
        _ row: EventRow, _ content: borrowing EventContent = .none, _ indexes: EventIndexes = EventIndexes(),
        mentions mentioned: [UserID] = []
    ) {
        // Explicit copy: a `borrowing` parameter is not implicitly copyable.
        if row.kind?.form.isIndexed == true { contents.append(IndexedContent(row: rows.count, content: copy content)) }
        rows.append(row)
        if !mentioned.isEmpty {
            mentions.append(MentionList(row: rows.count - 1, users: mentioned))
            rows[rows.count - 1].hasMentions = true
        }
        self.indexes.append(indexes)
    }

    /// Appends an event, its list included.
    package mutating func append(_ event: ChatEvent) { append(event.row, event.content, mentions: event.mentions) }

    /// Decodes and appends the next event.
    ///
    /// - Throws: ``EventDecodingError`` if the record is not an event; the batch is then unchanged.
    package mutating func append(kept: RawSpan, erasable: RawSpan?) throws(EventDecodingError) {
        let row = try EventRow(kept: kept)
        if row.hasMentions { mentions.append(MentionList(row: rows.count, users: try row.mentions(kept))) }
        if row.kind?.form.isIndexed == true {
            append(row, try EventContent(indexedOf: row, erasable: erasable))
        } else {
            rows.append(row)
            indexes.append(EventIndexes())
        }
    }

    /// Appends the following batch.
    ///
    /// - Precondition: Both batches are resolved, and `next` begins at the position after the last
    ///   of this one.
    package mutating func append(_ next: borrowing EventBatch) {
        assert(resolvedCount == rows.count && next.resolvedCount == next.rows.count)
        assert(next.firstPosition == firstPosition + Position(rows.count))
        let start = rows.count
        rows.append(contentsOf: next.rows)
        indexes.append(contentsOf: next.indexes)
        for entry in next.contents {
            contents.append(
                IndexedContent(
                    row: start + entry.row, content: entry.content, oneBasedFoldKey: entry.oneBasedFoldKey,
                    oneBasedSubject: entry.oneBasedSubject, reactions: entry.reactions))
        }
        for list in next.mentions { mentions.append(MentionList(row: start + list.row, users: list.users)) }
        for var user in next.concerned {
            user.row += start
            concerned.append(user)
        }
        resolvedCount = rows.count
    }

    /// Removes the rows from `count` on.
    ///
    /// - Precondition: The rows are not resolved.
    package mutating func truncate(to count: Int) {
        assert(count >= resolvedCount)
        while rows.count > count {
            rows.removeLast()
            indexes.removeLast()
        }
        while let last = contents.last, last.row >= count { contents.removeLast() }
        while let last = mentions.last, last.row >= count { mentions.removeLast() }
    }

    /// Marks the rows from `start` on whose acting user is another one as without a correlation id.
    ///
    /// A correlation id belongs to the user who acts: what a command does to others has none.
    mutating func removeCorrelations(from start: Int, exceptOf actor: UserID) {
        for row in start..<rows.count where (rows[row].otherActorID ?? rows[row].userID) != actor {
            rows[row].flags.remove(.correlation)
        }
    }

    /// Gives the first event of a command the id with which it takes effect once, if its kind has one.
    mutating func setOnce(_ once: CommandID, of row: Int) {
        if rows[row].kind?.form.takesOnce == true { rows[row].once = once }
    }

    /// Removes all events and keeps the capacity.
    package mutating func removeAll(from first: Position) {
        self.firstPosition = first
        rows.removeAll(keepingCapacity: true)
        indexes.removeAll(keepingCapacity: true)
        // Most batches have none of these, and an empty array takes as long to empty as a full one.
        if !contents.isEmpty { contents.removeAll(keepingCapacity: true) }
        if !mentions.isEmpty { mentions.removeAll(keepingCapacity: true) }
        if !concerned.isEmpty { concerned.removeAll(keepingCapacity: true) }
        resolvedCount = 0
    }

    /// Returns the content of a row of an indexed kind.
    ///
    /// - Complexity: O(log *n*) in the number of indexed contents.
    package func content(of row: Int) -> IndexedContent {
        contents[contents.indices.partitioningIndex { contents[$0].row >= row }]
    }

    /// Returns the users whom the event of a row concerns.
    ///
    /// - Complexity: O(log *n*) in the number of users whom the events of the batch concern.
    package func concerned(by row: Int) -> ArraySlice<ConcernedUser> {
        concerned[concerned.indices.partitioningIndex { concerned[$0].row >= row }...].prefix { $0.row == row }
    }

    /// Returns the users whom the text of a row mentions.
    ///
    /// - Complexity: O(1) for a row without mentions, otherwise O(log *n*) in the number of lists.
    package func mentions(of row: Int) -> [UserID] {
        guard rows[row].hasMentions else { return [] }
        let index = mentions.indices.partitioningIndex { mentions[$0].row >= row }
        return index < mentions.count && mentions[index].row == row ? mentions[index].users : []
    }
}

/// The dense indexes of the entities that an event names; -1 for none.
///
/// Stored properties, because another module calls a function for a computed one.
package struct EventIndexes: Hashable, Sendable {
    /// The user who acted or is concerned.
    package internal(set) var user = -1
    /// The thread; for a postcode, the thread of its outward code.
    package internal(set) var thread = -1
    /// The membership of the event's user in its thread, if the event changes it or posts a
    /// message or a reply.
    ///
    /// For a retracted or removed message, the membership of the author.
    package internal(set) var membership = -1
    /// The message, the reply, the session or the custom event; the user who acted
    /// (``EventRow/otherActor``), or the user who is blocked.
    package internal(set) var secondIndex = -1
    /// The message that a reply answers, if the event names the reply.
    package internal(set) var message = -1
    /// Whether the event is the first to name the post, the session or the membership.
    package internal(set) var isNew = false

    /// Creates indexes of which none is known.
    package init() {}

    init(user: Int, thread: Int? = nil, membership: Int? = nil, second: Int? = nil, message: Int? = nil) {
        self.user = user
        self.thread = thread ?? -1
        self.membership = membership ?? -1
        secondIndex = second ?? -1
        self.message = message ?? -1
    }

    /// Returns the one-based form of an index; 0 for nil.
    static func oneBased(_ index: Int?) -> UInt32 { UInt32(truncatingIfNeeded: (index ?? -1) + 1) }
}
