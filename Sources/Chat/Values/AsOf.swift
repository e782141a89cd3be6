public import ChatDomain
import EventJournal
import Locking
import Projections

/// The moment of which a query asks: what came later is not seen.
public enum AsOf: Hashable, Sendable {
    /// As it is: up to the last durable position.
    case now
    /// As it was once the event at this position was durable; 0 for the time before the first.
    case position(Position)
    /// As it was at a time: up to the last event that was recorded then or earlier.
    case time(Timestamp)
}

extension ChatStore {
    /// Asks the read models as of a moment, in a shared section of their lock; the text is read from the journal afterwards, outside it.
    ///
    /// - Parameters:
    ///   - moment: As of when.
    ///   - viewer: Who asks, nil for the operator.
    ///   - body: Is lent the read models, and told from where it looks at them.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` if the moment lies beyond the last durable position; `closed` after a close.
    func query<Value>(
        _ moment: AsOf, for viewer: UserID? = nil, _ body: (borrowing ReadModels, Viewpoint) throws(ChatError) -> Value
    ) throws(ChatError) -> Value {
        let asked: Position?
        switch moment {
        case .now: asked = nil
        case .position(let position): asked = position
        case .time(let time): asked = try position(asOf: time)
        }
        // What is durable may be shown: the head that a caller has been told is a moment.
        if let asked { readSide.apply(log, through: asked) }
        return try readSide.withShared { shown throws(ChatError) in
            if shown.isClosed { throw .journal(JournalError(.closed, "The store has been closed.")) }
            if let asked, asked > shown.position { throw .rejected(.invalidPosition) }
            let viewpoint = Viewpoint(viewer: viewer, position: asked ?? shown.position, present: shown.position)
            return try body(shown.models, viewpoint)
        }
    }

    /// Asks the read models as of a moment a question that takes more than one section of their lock.
    ///
    /// - Parameter body: Asks in the first section; throws what ``query(_:for:_:)`` does.
    /// - Returns: What it answers, and the sections that go on as of the same moment.
    func sections<Value>(
        _ moment: AsOf, for viewer: UserID? = nil, _ body: (borrowing ReadModels, Viewpoint) throws(ChatError) -> Value
    ) throws(ChatError) -> (Value, Sections) {
        try query(moment, for: viewer) { models, view throws(ChatError) in
            (try body(models, view), Sections(readSide: readSide, view: view))
        }
    }

    /// Asks the read models as of now, also after a close.
    func present<Value>(_ body: (borrowing ReadModels, Position) -> Value) -> Value {
        readSide.withShared { body($0.models, $0.position) }
    }

    /// The position of the last event that was recorded at a time or earlier, 0 if there was none.
    ///
    /// - Throws: ``ChatError`` if the journal cannot be read.
    /// - Complexity: O(log *n*) reads of single events, whose times never decrease along the journal.
    public func position(asOf time: Timestamp) throws(ChatError) -> Position { try lastPosition { $0 <= time } }

    /// The position of the last event that was recorded before a time, 0 if there was none: the bound of a page that begins at that time.
    ///
    /// `PageRequest(after: try store.position(before: time))` begins with the first entry that was recorded at that time or later. A thread is in the order of the journal, so for
    /// imports too it is the time of recording that counts, not the one that is shown.
    ///
    /// - Throws: ``ChatError`` if the journal cannot be read.
    /// - Complexity: As ``position(asOf:)``.
    public func position(before time: Timestamp) throws(ChatError) -> Position { try lastPosition { $0 < time } }

    /// The last position whose time satisfies a condition that holds up to some time and not after it.
    private func lastPosition(where condition: (Timestamp) -> Bool) throws(ChatError) -> Position {
        var lower: Position = 0
        var upper = readSide.position
        while lower < upper {
            let middle = lower + (upper - lower + 1) / 2
            if condition(try event(at: middle).recordedAt) { lower = middle } else { upper = middle - 1 }
        }
        return lower
    }
}
