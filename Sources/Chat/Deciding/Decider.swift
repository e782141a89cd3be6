import ChatDomain
import EventJournal

/// The write side: the state of the rules and the commit in progress.
///
/// A lock serialises the commands. The rules may be ahead of the last durable position.
struct Decider: ~Copyable {
    var rules: RuleState
    /// The events of the commit.
    var batch = EventBatch(from: 1)
    /// The outcomes of the commit's commands, in order.
    var outcomes: [Outcome] = []
    var encoder = EventEncoder()
    var draft = CommitDraft()
    var clockCheck = ClockCheck()
    /// The position at which the next checkpoint is due.
    var nextCheckpoint: Position

    /// The outcome of a command.
    enum Outcome {
        /// The command's events are these rows of the batch.
        case appended(Range<Int>)
        /// The effect of the command already held at this position.
        case unchanged(asOf: Position)
        case duplicate(of: ClosedRange<Position>)
        case rejected(Rejection)
    }

    init(_ rules: RuleState, nextCheckpoint: Position) {
        self.rules = rules
        self.nextCheckpoint = nextCheckpoint
    }

    /// Starts a commit after the events of the previous one.
    mutating func begin() {
        batch.removeAll(from: rules.head + 1)
        outcomes.removeAll(keepingCapacity: true)
        draft.removeAll()
    }

    /// Decides the next command of the commit and applies its events to the rules.
    ///
    /// - Parameters:
    ///   - request: The command, which is lent and does not change.
    ///   - idGenerator: Makes the id of what the command creates, if it has none.
    ///   - obstacle: Why no event can be appended now; nil if one can.
    mutating func decide(
        _ request: inout CommandRequest, _ identities: inout Identities, _ idGenerator: any IDGenerator,
        at now: Timestamp, unless obstacle: Rejection?
    ) {
        let start = batch.count
        let freshID = request.command.needsID ? idGenerator.makeID(at: now) : 0
        do throws(Rejection) {
            switch try rules.decide(request, identities, at: now, freshID: freshID, into: &batch) {
            case .append:
                if let obstacle { throw obstacle }
                identities.resolve(&batch)
                rules.apply(batch, start..<batch.count)
                outcomes.append(.appended(start..<batch.count))
            case .unchanged: outcomes.append(.unchanged(asOf: rules.head))
            case .duplicate(let positions): outcomes.append(.duplicate(of: positions))
            }
        } catch {
            batch.truncate(to: start)
            outcomes.append(.rejected(error))
        }
    }

    /// Reserves space for the commit's encoded events and for `byteCount` more bytes.
    ///
    /// - Returns: Whether the space is available.
    /// - Throws: Any error of the log other than `storageFull`.
    mutating func reserve(_ byteCount: Int, in log: any CommitLog) throws(JournalError) -> Bool {
        do {
            try log.reserve(draft.encodedByteCount + byteCount)
            return true
        } catch {
            guard error.code == .storageFull else { throw error }
            return false
        }
    }

    /// Encodes an event that no command causes into the commit.
    mutating func encode(_ row: EventRow, _ content: EventContent) throws(JournalError) {
        encoder.encode(row, content, correlation: nil)
        try encoder.withParts { (kept, erasable) throws(JournalError) in
            try draft.append(kept: kept, erasable: erasable)
        }
    }

    /// Encodes the events of a command into the commit; their space must be reserved.
    ///
    /// The command is lent and does not change.
    mutating func encode(_ rows: Range<Int>, of request: inout CommandRequest) throws(JournalError) {
        for row in rows {
            encoder.encode(
                batch.rows[row], batch.content(row, of: request), correlation: batch.correlation(row, of: request),
                mentions: batch.mentions(of: row))
            try encoder.withParts { (kept, erasable) throws(JournalError) in
                try draft.append(kept: kept, erasable: erasable)
            }
        }
    }
}
