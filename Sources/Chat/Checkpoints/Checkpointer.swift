import ChatDomain
import Columns
import Dispatch
import EventJournal
import Locking
import Projections

/// A custom projection that writes a checkpoint when its store is closed.
protocol ClosableProjection: AnyObject, Sendable {
    /// Writes a checkpoint if enough events follow the previous one.
    func writeAtClose()
}

/// Writes the checkpoints of a store and its projections, one at a time, until the store is closed.
final class Checkpointer: Sendable {
    /// When the store writes its own checkpoints; nil if they are disabled.
    let options: CheckpointOptions?
    private let log: any CheckpointLog
    private let clock: any WallClock
    /// Receives a message about each failure.
    private let report: LogHandler?
    private let state: Lock<State>
    private let background: BackgroundRunner
    /// A copy of the models from before an erasure is not written.
    private let erasedPositions: ErasedPositions
    /// Held while a checkpoint is written, so that acquiring it waits for the checkpoint in
    /// progress.
    private let writeLock = Lock(())

    private struct State {
        var isBusy = false
        var isStopped = false
        var statistics: CheckpointStatistics
        /// The position of the latest valid checkpoint; 0 if none exists.
        var lastPosition: Position
        /// The custom projections that write checkpoints.
        var projections: [WeakProjection] = []
        /// The type of each name of a custom projection.
        var types: [String: any Projection.Type] = [:]
    }

    private struct WeakProjection {
        weak var value: (any ClosableProjection)?
    }

    init(
        _ options: CheckpointOptions?, _ log: any CheckpointLog, _ clock: any WallClock,
        _ statistics: CheckpointStatistics,
        _ erasedPositions: ErasedPositions, _ executor: (any TaskExecutor)?, _ report: LogHandler?
    ) {
        self.erasedPositions = erasedPositions
        self.options = options
        self.log = log
        self.clock = clock
        self.report = report
        background = BackgroundRunner("Chat.checkpoint", qos: .utility, executor)
        state = Lock(State(statistics: statistics, lastPosition: statistics.loadedPosition ?? 0))
    }

    var statistics: CheckpointStatistics { state.withLock { $0.statistics } }

    /// The position of the latest valid checkpoint; 0 if none exists.
    var lastPosition: Position { state.withLock { $0.lastPosition } }

    /// Adds a custom projection, which is asked for its checkpoint at the close of the store.
    func add(_ projection: any ClosableProjection) {
        state.withLock { state in
            state.projections.removeAll { $0.value == nil }
            state.projections.append(WeakProjection(value: projection))
        }
    }

    /// Returns the error of a custom projection whose name another type of the store has, and whose
    /// checkpoints would be taken for those of that type.
    func conflict(of type: any Projection.Type) -> ChatError? {
        let owner = state.withLock { state in
            let owner = state.types[type.name] ?? type
            state.types[type.name] = owner
            return owner
        }
        if owner == type { return nil }
        let names = "'\(String(reflecting: owner))' and '\(String(reflecting: type))'"
        return .journal(
            JournalError(.outOfRange, "The projections \(names) of this store have one name, '\(type.name)'."))
    }

    /// Writes the last checkpoints of the custom projections; follows ``stop()``.
    func writeProjectionCheckpoints() {
        for projection in state.withLock({ $0.projections }) { projection.value?.writeAtClose() }
    }

    /// Runs a job later, in order with the checkpoints of the store.
    func run(_ job: @escaping @Sendable () -> Void) { background.run(job) }

    /// Counts a failed checkpoint of a custom projection, unless the store was closed meanwhile.
    func countFailure(_ error: ChatError) {
        if case .journal(let error) = error, error.code == .closed { return }
        countFailure("\(error)")
    }

    private func countFailure(_ description: String) {
        state.withLock { state in
            state.statistics.failureCount += 1
            state.statistics.lastFailure = description
        }
        report?(LogMessage(.warning, "A checkpoint could not be written: \(description)"))
    }

    /// Writes a checkpoint in the background, unless one is in progress.
    ///
    /// - Parameter epoch: ``epoch`` before the models were copied.
    func scheduleWrite(_ models: StoreModels, of epoch: UInt64) {
        let isFree = state.withLock { state in
            if state.isBusy || state.isStopped { return false }
            state.isBusy = true
            return true
        }
        if !isFree { return }
        // Weak, because a queued job would keep the journal of a dropped store open.
        background.run { [weak self] in self?.writeInBackground(models, of: epoch) }
    }

    private func writeInBackground(_ models: StoreModels, of epoch: UInt64) {
        writeLock.withLock { _ in
            // `stop()` does not wait for a job that its executor has not started.
            if state.withLock({ $0.isStopped }) || self.epoch != epoch { return }
            // The statistics count a failure; no caller waits for it.
            _ = try? write(models) { self.state.withLock { $0.isStopped } }
        }
        state.withLock { $0.isBusy = false }
    }

    /// ``ErasedPositions/epoch``.
    var epoch: UInt64 { erasedPositions.epoch }

    /// Waits for the checkpoint in progress, then runs a body that removes all checkpoints; later
    /// ones are made of states from after the call began.
    func withoutCheckpoints(_ body: () throws(JournalError) -> Void) throws(JournalError) {
        erasedPositions.advance()
        try writeLock.withLock { (_) throws(JournalError) in
            try body()
            state.withLock { $0.lastPosition = 0 }
        }
    }

    /// Waits for the checkpoint in progress, then writes one synchronously.
    ///
    /// - Parameters:
    ///   - epoch: ``epoch`` before the models were copied.
    ///   - isLast: Whether this is the checkpoint of a close, which follows ``stop()``.
    func writeNow(_ models: StoreModels, of epoch: UInt64, isLast: Bool = false) throws(ChatError) {
        try withWriteLock(of: epoch, isLast: isLast) { () throws(ChatError) in
            try wrappingErrors(of: write(models) { false })
        }
    }

    /// Waits for the checkpoint in progress, then runs a body that writes one.
    ///
    /// - Parameter epoch: ``epoch`` before the state was computed.
    /// - Throws: The errors of `body`; `closed` once the store has been closed, because another
    ///   store may own the directory by then; `conflict` if content was erased meanwhile.
    func withWriteLock(of epoch: UInt64, isLast: Bool = false, _ body: () throws(ChatError) -> Void) throws(ChatError) {
        try writeLock.withLock { _ throws(ChatError) in
            if self.epoch != epoch {
                throw .journal(JournalError(.conflict, "Content was erased while the checkpoint was prepared."))
            }
            // `stop()` has waited for earlier checkpoints; a later one could write into a released
            // directory.
            if !isLast, state.withLock({ $0.isStopped }) {
                throw .journal(JournalError(.closed, "The store has been closed."))
            }
            try body()
        }
    }

    /// Cancels the checkpoint in progress, waits until it has ended, and starts no more.
    func stop() {
        state.withLock { $0.isStopped = true }
        background.drain()
        writeLock.withLock { _ in }
    }

    private func write(_ models: StoreModels, isCancelled: @escaping () -> Bool) throws(JournalError) {
        let start = ContinuousClock.now
        do throws(JournalError) {
            try log.waitUntilDurable(models.position)
            guard let bytes = try models.writeCheckpoint(of: log, isCancelled: isCancelled) else { return }
            let written = CheckpointStatistics.WrittenCheckpoint(
                position: models.position, bytes: bytes, seconds: (ContinuousClock.now - start) / .seconds(1),
                at: clock.now())
            state.withLock { state in
                state.statistics.lastWritten = written
                state.lastPosition = written.position
                state.statistics.writtenCount += 1
            }
        } catch {
            countFailure(error.description)
            throw error
        }
    }
}
