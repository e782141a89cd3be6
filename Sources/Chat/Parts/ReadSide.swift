import ChatDomain
import EventJournal
import Locking
import Projections
import Synchronization

/// The read models behind their lock, and the events that are decided and not applied to them yet.
///
/// Commands push the rows of their events here before they append them to the log. Once the log says that they are durable, a caller that waits for them applies
/// everything durable, for itself and for the others, in short exclusive sections. Queries read in shared sections, as of the last position that was shown.
///
/// Locks: `turn`, and under it `pending` and `models`, one at a time. A thread that holds the decider may take any of them; none that holds one of them takes the decider.
final class ReadSide: Sendable {
    /// What queries read.
    struct Shown: Sendable {
        var models: ReadModels
        /// The position as of which queries read: durable, the end of a commit, and applied.
        var position: Position
        var isClosed = false
    }

    /// A copy of the models that is due once the read models have come to a position.
    struct Capture: Sendable {
        let rules: RuleState
        /// The identities as of the same position.
        let identities: Identities
        /// Is given the copy.
        let deliver: @Sendable (StoreModels) -> Void

        var position: Position { rules.head }
    }

    /// Rows in the order of their positions, and the captures due among them.
    private struct Rows: Sendable {
        var batch = EventBatch(from: 1)
        /// The rows before it are applied.
        var next = 0
        var captures: [Capture] = []

        var isEmpty: Bool { next == batch.count && captures.isEmpty }
    }

    private let models: SharedLock<Shown>
    /// Follows ``Shown/position``, for who waits for a position and need not enter the lock.
    private let shown: Atomic<Position>
    private let pending = Lock(Rows())
    /// Held by the thread that applies; what it has taken over from ``pending``.
    private let turn = Lock(Rows())

    init(_ models: consuming ReadModels) {
        let position = models.position
        shown = Atomic(position)
        self.models = SharedLock(Shown(models: models, position: position))
    }

    /// The position as of which queries read.
    var position: Position { shown.load(ordering: .acquiring) }

    /// Lends what queries read, beside other readers.
    func withShared<Value, Failure: Error>(_ body: (borrowing Shown) throws(Failure) -> Value) throws(Failure) -> Value {
        try models.withShared(body)
    }

    /// Refuses later queries.
    func close() { models.withExclusive { $0.isClosed = true } }
}

// MARK: The write side

extension ReadSide {
    /// Lends the identities to a thread that decides, which holds the decider.
    func withIdentities<Value, Failure: Error>(_ body: (inout Identities) throws(Failure) -> Value) throws(Failure) -> Value {
        try models.withExclusive { shown throws(Failure) in try body(&shown.models.identities) }
    }

    /// Takes the rows of a commit that is about to be appended.
    ///
    /// Called by the thread that holds the decider, so that commits come in their order. If the append fails the log never says that they are durable, and they are never applied.
    func push(_ batch: borrowing EventBatch) {
        pending.withLock { rows in
            if rows.batch.count == 0 { rows.batch.removeAll(from: batch.first) }
            rows.batch.append(batch)
        }
    }

    /// Asks for a copy of the models as of the head of the rules; called by the thread that holds the decider, after its commit was appended.
    func capture(_ rules: RuleState, _ deliver: @escaping @Sendable (StoreModels) -> Void) {
        let identities = models.withShared { $0.models.identities.withoutSlots() }
        pending.withLock { $0.captures.append(Capture(rules: rules, identities: identities, deliver: deliver)) }
    }
}

// MARK: Applying

extension ReadSide {
    /// The rows that are applied in one exclusive section.
    private static let sliceCount = 128

    /// Applies everything durable, unless everything up to a position is shown already.
    func apply(_ log: any CommitLog, through position: Position) {
        if self.position < position { applyDurable(log) }
    }

    /// Applies everything durable, and delivers the copies that are due.
    func applyDurable(_ log: any CommitLog) {
        turn.withLock { rows in
            let durable = log.durablePosition
            while true {
                if rows.isEmpty {
                    rows.batch.removeAll(from: 1)
                    rows.next = 0
                    pending.withLock { swap(&$0, &rows) }
                    if rows.isEmpty { return }
                }
                let capture = rows.captures.first { $0.position <= durable }
                apply(&rows, through: capture?.position ?? durable)
                if let capture {
                    rows.captures.removeFirst()
                    deliver(capture)
                } else if rows.next < rows.batch.count {
                    return  // The rest is not durable yet.
                }
            }
        }
    }

    /// Applies rows up to a position that is durable and ends a commit, and shows them.
    private func apply(_ rows: inout Rows, through end: Position) {
        let last = end < rows.batch.first ? 0 : min(rows.batch.count, Int(end - rows.batch.first) + 1)
        while rows.next < last {
            let slice = rows.next..<min(last, rows.next + Self.sliceCount)
            models.withExclusive { shown in
                shown.models.views.apply(rows.batch, slice)
                if slice.upperBound == last { shown.position = shown.models.position }
            }
            rows.next = slice.upperBound
        }
        if last > 0 { shown.store(rows.batch.position(last - 1), ordering: .releasing) }
    }

    private func deliver(_ capture: Capture) {
        let views = models.withShared { $0.models.views.withoutSlots() }
        capture.deliver(StoreModels(capture.rules, ReadModels(capture.identities, views)))
    }
}

// MARK: Catching up

extension ReadSide {
    /// Applies what another process has appended, and shows it at once when all of it is applied.
    ///
    /// Called by a thread that holds the decider of a store that is open for reading only.
    ///
    /// - Parameters:
    ///   - rules: The state of the rules, to which the events are applied too.
    ///   - read: Gives the batches of events in order to the closure that it is given, and returns the position of the last event that ends a commit. What it
    ///     throws is thrown once what was read is shown.
    func catchUp(
        _ rules: inout RuleState, _ read: ((inout EventBatch) -> Void) -> (end: Position, failure: ChatError?)
    ) throws(ChatError) {
        let failure = turn.withLock { _ in
            let (end, failure) = read { batch in
                models.withExclusive { $0.models.identities.resolve(&batch) }
                rules.apply(batch, 0..<batch.count)
                for start in stride(from: 0, to: batch.count, by: Self.sliceCount) {
                    models.withExclusive { $0.models.views.apply(batch, start..<min(batch.count, start + Self.sliceCount)) }
                }
            }
            if end > position {
                models.withExclusive { $0.position = end }
                shown.store(end, ordering: .releasing)
            }
            return failure
        }
        if let failure { throw failure }
    }

    /// Puts other read models in the place of those that are shown, and shows all of them.
    ///
    /// Called by a thread that holds the decider when everything decided is applied.
    ///
    /// - Returns: The former ones.
    func exchange(_ other: ReadModels) -> ReadModels {
        let former = turn.withLock { _ in
            models.withExclusive { shown in
                let former = shown.models
                shown.models = other
                shown.position = other.position
                return former
            }
        }
        shown.store(other.position, ordering: .releasing)
        return former
    }
}
