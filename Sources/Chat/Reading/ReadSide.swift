import ChatDomain
import EventJournal
import Locking
import Projections
import Synchronization

/// The read models behind their lock, and the decided events that are not applied to them yet.
///
/// An event is decided, then durable, then applied, then visible to queries.
///
/// A command pushes the rows of its events before appending them to the log. Once they are durable,
/// a waiting caller applies every durable row on behalf of all callers, in short exclusive
/// sections. Queries run in shared sections, as of the last visible position.
///
/// Lock order: the decider's lock, then `applyLock`, then either `pending` or `models`.
final class ReadSide: Sendable {
    /// The state that queries read.
    struct VisibleState: Sendable {
        var models: ReadModels
        /// The position that queries read as of: durable, applied and the end of a commit.
        var position: Position
    }

    /// A requested snapshot of the models, due once the read models have reached its position.
    struct SnapshotRequest: Sendable {
        let rules: RuleState
        /// The identities as of the same position.
        let identities: Identities
        /// Receives the snapshot.
        let deliver: @Sendable (StoreModels) -> Void

        var position: Position { rules.head }
    }

    /// Rows in position order, and the snapshots requested between them.
    private struct RowQueue: Sendable {
        var batch = EventBatch(from: 1)
        /// The index of the first row that is not applied.
        var next = 0
        /// The requested snapshots, by ascending position.
        var snapshots: [SnapshotRequest] = []

        var isEmpty: Bool { next == batch.count && snapshots.isEmpty }
    }

    /// A test hook called before each section of a query after the first.
    ///
    /// Not task-local: Swift 6.3.1 crashes in optimised synchronous code that sets such a value.
    let willBeginSection = Lock<(@Sendable () -> Void)?>(nil)
    private let models: SharedLock<VisibleState>
    /// A copy of ``VisibleState/position`` that can be read without the lock.
    private let publishedPosition: Atomic<Position>
    private let pending = Lock(RowQueue())
    /// Serialises applying; holds the rows taken from ``pending`` that are not applied yet.
    private let applyLock = Lock(RowQueue())

    init(_ models: consuming ReadModels) {
        let position = models.position
        publishedPosition = Atomic(position)
        self.models = SharedLock(VisibleState(models: models, position: position))
    }

    /// The position that queries read as of.
    var position: Position { publishedPosition.load(ordering: .acquiring) }

    /// Calls the body with the state, concurrently with other readers.
    func withShared<Value, Failure: Error>(_ body: (borrowing VisibleState) throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        try models.withShared(body)
    }
}

// MARK: The write side

extension ReadSide {
    /// Calls the body with the identities; the caller holds the decider's lock.
    func withIdentities<Value, Failure: Error>(_ body: (inout Identities) throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        try models.withExclusive { shown throws(Failure) in try body(&shown.models.identities) }
    }

    /// Whether a query or an application of events waits for the read models.
    var isAwaited: Bool { models.isGateHeld() }

    /// Adds the rows of a commit before it is appended.
    ///
    /// The caller holds the decider's lock, so commits arrive in order. If the append fails, the
    /// rows never become durable and are never applied.
    func push(_ batch: borrowing EventBatch) {
        pending.withLock { rows in
            if rows.batch.count == 0 { rows.batch.removeAll(from: batch.firstPosition) }
            rows.batch.append(batch)
        }
    }

    /// Requests a snapshot of the models at the head of the rules.
    ///
    /// Called by the thread that holds the decider's lock, after it has appended its commit.
    func requestSnapshot(_ rules: RuleState, _ deliver: @escaping @Sendable (StoreModels) -> Void) {
        let identities = models.withShared { $0.models.identities.withoutSlots() }
        pending.withLock {
            $0.snapshots.append(SnapshotRequest(rules: rules.withoutSlots(), identities: identities, deliver: deliver))
        }
    }
}

// MARK: Applying

extension ReadSide {
    /// Rows applied per exclusive section: bounds query latency.
    private static let rowsPerSection = 128

    /// Applies every durable event, unless the position is visible already.
    func apply(_ log: any CommitLog, through position: Position) {
        if self.position < position { applyDurable(log) }
    }

    /// Applies every durable event, and delivers the snapshots that are due.
    func applyDurable(_ log: any CommitLog) {
        applyLock.withLock { rows in
            let durable = log.durablePosition
            // Applies the rows up to the next due snapshot, delivers the snapshot, and repeats
            // until no durable row is left. A request that is due is the first in the queue,
            // because the requests ascend.
            while true {
                if rows.isEmpty {
                    rows.batch.removeAll(from: 1)
                    rows.next = 0
                    pending.withLock { swap(&$0, &rows) }
                    if rows.isEmpty { return }
                }
                // An index, because a request is some kilobytes, which an optional would clear for
                // each command.
                let due = rows.snapshots.firstIndex { $0.position <= durable }
                apply(&rows, through: due.map { rows.snapshots[$0].position } ?? durable)
                if let due {
                    deliver(rows.snapshots.remove(at: due))
                } else if rows.next < rows.batch.count {
                    return  // The rest is not durable yet.
                }
            }
        }
    }

    /// Applies rows up to a durable position that ends a commit, and makes them visible.
    private func apply(_ rows: inout RowQueue, through end: Position) {
        let last = end < rows.batch.firstPosition ? 0 : min(rows.batch.count, Int(end - rows.batch.firstPosition) + 1)
        while rows.next < last {
            let slice = rows.next..<min(last, rows.next + Self.rowsPerSection)
            models.withExclusive { shown in
                shown.models.views.apply(rows.batch, slice)
                if slice.upperBound == last { shown.position = shown.models.position }
            }
            rows.next = slice.upperBound
        }
        if last > 0 { publishedPosition.store(rows.batch.position(last - 1), ordering: .releasing) }
    }

    private func deliver(_ snapshot: SnapshotRequest) {
        let views = models.withShared { $0.models.views.withoutSlots() }
        snapshot.deliver(StoreModels(snapshot.rules, ReadModels(snapshot.identities, views)))
    }
}

// MARK: Catching up

extension ReadSide {
    /// Applies events that another process has appended, without making them visible.
    ///
    /// The caller holds the decider's lock of a read-only store, and applies all events in order.
    func apply(_ batch: inout EventBatch, to rules: inout RuleState) {
        applyLock.withLock { _ in
            models.withExclusive { $0.models.identities.resolve(&batch) }
            rules.apply(batch, 0..<batch.count)
            for start in stride(from: 0, to: batch.count, by: Self.rowsPerSection) {
                models.withExclusive {
                    $0.models.views.apply(batch, start..<min(batch.count, start + Self.rowsPerSection))
                }
            }
        }
    }

    /// Makes the applied events up to the end of a commit visible at once.
    func show(through end: Position) {
        guard end > position else { return }
        models.withExclusive { $0.position = end }
        publishedPosition.store(end, ordering: .releasing)
    }

    /// Replaces the read models and makes the new ones visible.
    ///
    /// The caller holds the decider's lock, and every decided event is applied.
    ///
    /// - Returns: The replaced read models.
    func replaceModels(_ other: ReadModels) -> ReadModels {
        let former = applyLock.withLock { _ in
            models.withExclusive { shown in
                let former = shown.models
                shown.models = other
                shown.position = other.position
                return former
            }
        }
        publishedPosition.store(other.position, ordering: .releasing)
        return former
    }
}
