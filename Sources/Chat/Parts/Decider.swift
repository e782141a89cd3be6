import ChatDomain
import EventJournal

/// The write side, behind the lock that makes commands one after another: the state of the rules, which may be ahead of the disk, and the commit in the making.
struct Decider: ~Copyable {
    var rules: RuleState
    /// The events of the commit.
    var batch = EventBatch(from: 1)
    /// What was decided on each command of the commit, in order.
    var outcomes: [Outcome] = []
    var encoder = EventEncoder()
    var draft = CommitDraft()
    var commands = CommandStatistics()
    /// Why no more commands are taken: an append failed after the state had run ahead, or never worked.
    var failure: JournalError?
    /// The position from which on a checkpoint is due.
    var nextCheckpoint: Position

    /// What was decided on a command.
    enum Outcome {
        /// Its events are these rows of the batch.
        case appended(Range<Int>)
        case unchanged
        case duplicate(of: ClosedRange<Position>)
        case refused(Rejection)
    }

    init(_ rules: RuleState, nextCheckpoint: Position) {
        self.rules = rules
        self.nextCheckpoint = nextCheckpoint
    }

    /// Begins a commit after the events of the last one.
    mutating func begin() {
        batch.removeAll(from: rules.head + 1)
        outcomes.removeAll(keepingCapacity: true)
        draft.removeAll()
    }

    /// Decides the next command of the commit, and applies its events to the rules.
    ///
    /// - Parameter hasRoom: Whether the disk has room for them.
    mutating func decide(
        _ request: CommandRequest, _ identities: inout Identities, at now: Timestamp, freshID: UInt128, hasRoom: Bool
    ) {
        let start = batch.count
        do throws(Rejection) {
            switch try rules.decide(request, identities, at: now, freshID: freshID, into: &batch) {
            case .append:
                guard hasRoom else { throw .storageFull }
                identities.resolve(&batch)
                rules.apply(batch, start..<batch.count)
                outcomes.append(.appended(start..<batch.count))
            case .unchanged: outcomes.append(.unchanged)
            case .duplicate(let positions): outcomes.append(.duplicate(of: positions))
            }
        } catch {
            batch.truncate(to: start)
            outcomes.append(.refused(error))
        }
    }

    /// Makes sure that the disk has room for what is in the commit and so many bytes, the most that some commands may add to it.
    ///
    /// - Returns: Whether there is room.
    /// - Throws: What else the log has to say.
    mutating func makeRoom(_ byteCount: Int, in log: any CommitLog) throws(JournalError) -> Bool {
        do {
            try log.reserve(draft.encodedByteCount + byteCount)
            return true
        } catch {
            guard error.code == .storageFull else { throw error }
            return false
        }
    }

    /// Puts the events of a command into the commit, for which there is room.
    mutating func encode(_ rows: Range<Int>, of request: CommandRequest) throws(JournalError) {
        for row in rows {
            encoder.encode(batch.rows[row], batch.content(row, of: request), correlation: request.correlation)
            // A span of bytes as raw bytes is called unsafe for types with padding, which bytes have not.
            unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        }
    }
}
