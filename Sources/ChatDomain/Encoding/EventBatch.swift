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

/// The kept part of an event as plain numbers: what a state and its read models are moved on by.
///
/// Every kind has its ids and numbers in the same fields, so that code that moves on by millions of events reads a field where a ``EventDetails`` would be taken apart,
/// and copies nothing that is counted. What a kind does not have is 0.
package struct EventRow: Hashable, Sendable {
    /// nil for a kind that this version does not know.
    package var kind: EventKind?
    /// Where the event comes from, and what its erasable part holds beside the content.
    var flags: EventFlags
    /// When it was recorded.
    package var recordedAt: Timestamp
    /// The time to show.
    package var createdAt: Timestamp
    /// Who did it, or whom it concerns.
    package var user: UInt128 = 0
    /// The thread that the event belongs to or is about; for a postcode that of its outward code.
    package var thread: UInt128 = 0
    /// The message or the reply; the session for one.
    package var post: UInt128 = 0
    /// The message that a reply answers.
    package var message: UInt128 = 0
    /// The event's number in its thread; for a read marker the position up to which it goes.
    package var number: UInt64 = 0

    /// Whether an import brought it.
    package var isImported: Bool { flags.contains(.imported) }

    /// The original time of an import.
    var origin: EventOrigin { isImported ? .imported(sentAt: flags.contains(.sentAt) ? createdAt : nil) : .native }
}

extension EventKind {
    /// Whether an event of the kind bears a number in its thread.
    var isNumbered: Bool {
        switch self {
        case .threadOpened, .threadJoined, .threadLeft, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .messageRetracted,
            .replyRetracted:
            true
        case .userRegistered, .usernameChanged, .postcodeSet, .threadRead, .sessionStarted, .sessionEnded, .lost: false
        }
    }

    /// Whether an event of the kind names a thread; a postcode names that of its outward code.
    var namesThread: Bool { isNumbered || self == .postcodeSet || self == .threadRead }

    /// Whether an event of the kind concerns the membership of its user in its thread.
    var namesMembership: Bool { self == .messagePosted || self == .threadJoined || self == .threadLeft || self == .threadRead }

    /// Whether the rules or the read models index the content of the kind.
    package var isIndexed: Bool {
        switch self {
        case .userRegistered, .usernameChanged, .postcodeSet, .threadOpened: true
        default: false
        }
    }
}

extension ChatEvent {
    /// The event's kept part as plain numbers.
    package var row: EventRow {
        let flags = EventFlags(origin, hasCorrelation: correlation != nil)
        var row = EventRow(kind: details.kind, flags: flags, recordedAt: recordedAt, createdAt: createdAt)
        switch details {
        case .userRegistered(let details): row.user = details.user.bits
        case .usernameChanged(let details): row.user = details.user.bits
        case .postcodeSet(let details): (row.user, row.thread) = (details.user.bits, details.thread.bits)
        case .threadOpened(let details): (row.user, row.thread, row.number) = (details.by.bits, details.thread.bits, details.number)
        case .threadJoined(let details): (row.user, row.thread, row.number) = (details.user.bits, details.thread.bits, details.number)
        case .threadLeft(let details): (row.user, row.thread, row.number) = (details.user.bits, details.thread.bits, details.number)
        case .messagePosted(let details):
            (row.user, row.thread, row.post, row.number) = (details.author.bits, details.thread.bits, details.message.bits, details.number)
        case .replyPosted(let details):
            (row.user, row.thread, row.post, row.number) = (details.author.bits, details.thread.bits, details.reply.bits, details.number)
            row.message = details.message.bits
        case .messageEdited(let details), .messageRetracted(let details):
            (row.user, row.thread, row.post, row.number) = (details.by.bits, details.thread.bits, details.message.bits, details.number)
        case .replyEdited(let details), .replyRetracted(let details):
            (row.user, row.thread, row.post, row.number) = (details.by.bits, details.thread.bits, details.reply.bits, details.number)
            row.message = details.message.bits
        case .threadRead(let details): (row.user, row.thread, row.number) = (details.user.bits, details.thread.bits, details.upTo)
        case .sessionStarted(let details): (row.user, row.post) = (details.user.bits, details.session.bits)
        case .sessionEnded(let details): (row.user, row.post) = (details.user.bits, details.session.bits)
        case .lost, .unknown: break
        }
        return row
    }
}

extension ChatEvent {
    /// Makes the event of a row of a known kind.
    package init(_ row: EventRow, _ content: EventContent, correlation: String?) {
        guard let kind = row.kind else { preconditionFailure("a row of an unknown kind lacks what its event says") }
        self.init(
            recordedAt: row.recordedAt, origin: row.origin, details: EventDetails(kind, row), content: content, correlation: correlation)
    }
}

extension EventDetails {
    /// The fact of a row of a known kind.
    init(_ kind: EventKind, _ row: EventRow) {
        let user = UserID(bits: row.user)
        let thread = ThreadID(bits: row.thread)
        switch kind {
        case .userRegistered: self = .userRegistered(UserRegistered(user: user))
        case .usernameChanged: self = .usernameChanged(UsernameChanged(user: user))
        case .postcodeSet: self = .postcodeSet(PostcodeSet(user: user, thread: thread))
        case .threadOpened: self = .threadOpened(ThreadOpened(thread: thread, number: row.number, by: user))
        case .threadJoined: self = .threadJoined(ThreadJoined(thread: thread, number: row.number, user: user))
        case .threadLeft: self = .threadLeft(ThreadLeft(thread: thread, number: row.number, user: user))
        case .messagePosted:
            self = .messagePosted(
                MessagePosted(thread: thread, number: row.number, message: MessageID(bits: row.post), author: user))
        case .replyPosted:
            self = .replyPosted(
                ReplyPosted(
                    thread: thread, number: row.number, message: MessageID(bits: row.message), reply: ReplyID(bits: row.post), author: user)
            )
        case .messageEdited, .messageRetracted:
            let changed = MessageChanged(thread: thread, number: row.number, message: MessageID(bits: row.post), by: user)
            self = kind == .messageEdited ? .messageEdited(changed) : .messageRetracted(changed)
        case .replyEdited, .replyRetracted:
            let changed = ReplyChanged(
                thread: thread, number: row.number, message: MessageID(bits: row.message), reply: ReplyID(bits: row.post), by: user)
            self = kind == .replyEdited ? .replyEdited(changed) : .replyRetracted(changed)
        case .threadRead: self = .threadRead(ThreadRead(user: user, thread: thread, upTo: row.number))
        case .sessionStarted: self = .sessionStarted(SessionStarted(user: user, session: SessionID(bits: row.post)))
        case .sessionEnded: self = .sessionEnded(SessionEnded(user: user, session: SessionID(bits: row.post)))
        case .lost: self = .lost
        }
    }
}
