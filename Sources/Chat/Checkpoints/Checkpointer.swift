import ChatDomain
import Dispatch
import EventJournal
import Projections
import Synchronization

/// Writes the checkpoints of a store, one at a time, on a thread that nobody waits for.
final class Checkpointer: Sendable {
    let options: CheckpointOptions
    private let journal: Journal
    private let clock: any WallClock
    private let state: Mutex<State>
    /// Serial, so that waiting for it is waiting for what is under way.
    private let queue = DispatchQueue(label: "Chat.checkpoint", qos: .utility)

    private struct State {
        var isBusy = false
        var isStopped = false
        var statistics: CheckpointStatistics
    }

    init(_ options: CheckpointOptions, _ journal: Journal, _ clock: any WallClock, _ statistics: CheckpointStatistics) {
        self.options = options
        self.journal = journal
        self.clock = clock
        state = Mutex(State(statistics: statistics))
    }

    var statistics: CheckpointStatistics { state.withLock { $0.statistics } }

    /// The position of the latest checkpoint that is known to be good, 0 if there is none.
    var lastPosition: Position { state.withLock { $0.statistics.last?.position ?? $0.statistics.loaded ?? 0 } }

    /// Writes a checkpoint in the background, unless one is under way already.
    func begin(_ models: ReadModels) {
        let isFree = state.withLock { state in
            if state.isBusy || state.isStopped { return false }
            state.isBusy = true
            return true
        }
        if !isFree { return }
        queue.async {
            // What fails has been counted, and is nobody's error.
            _ = try? self.write(models) { self.state.withLock { $0.isStopped } }
            self.state.withLock { $0.isBusy = false }
        }
    }

    /// Writes a checkpoint after whatever is under way, and waits for it.
    ///
    /// - Parameter isLast: Whether it is the one of a close, which comes after ``stop()``.
    func finish(_ models: ReadModels, isLast: Bool = false) throws(JournalError) {
        let result: Result<Void, JournalError> = queue.sync {
            // Whoever stops has waited for what was under way, so that nothing is written into a directory that has been released.
            if !isLast, state.withLock({ $0.isStopped }) { return .failure(JournalError(.closed, "The store has been closed.")) }
            do throws(JournalError) { return .success(try write(models) { false }) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Cancels what is under way, waits until it has ended, and begins nothing more.
    func stop() {
        state.withLock { $0.isStopped = true }
        queue.sync {}
    }

    private func write(_ models: ReadModels, isCancelled: @escaping () -> Bool) throws(JournalError) {
        let start = ContinuousClock.now
        do throws(JournalError) {
            try journal.waitUntilDurable(models.position)
            guard let bytes = try models.writeCheckpoint(of: journal, isCancelled: isCancelled) else { return }
            let written = CheckpointStatistics.Written(
                position: models.position, bytes: bytes, seconds: (ContinuousClock.now - start) / .seconds(1), at: clock.now())
            state.withLock { state in
                state.statistics.last = written
                state.statistics.written += 1
            }
        } catch {
            state.withLock { state in
                state.statistics.failures += 1
                state.statistics.lastFailure = error.description
            }
            throw error
        }
    }
}
