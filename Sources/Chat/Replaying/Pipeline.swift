import ChatDomain
import Dispatch
import EventJournal
import Locking

/// A pipeline: every batch passes every stage, each stage in batch order, on any free thread.
///
/// Threads are not bound to stages, so no thread idles while a stage has work, whichever stage is
/// slowest.
final class Pipeline<Batch: Sendable>: Sendable {
    typealias Stage = @Sendable (inout Batch) -> Void

    private let stages: [Stage]
    private let state: Lock<State>

    /// The batches in flight.
    private struct State {
        /// A ring of batches; an entry is nil while a thread works on it, which serialises the
        /// stages.
        var batches: [Batch?]
        /// The number of batches added, followed by the number that have passed each stage.
        var passedCounts: [Int]
        var hasEnded = false
        /// One semaphore per waiting thread, because the threads wait for different conditions.
        var waiting: [DispatchSemaphore] = []

        var hasRoom: Bool { passedCounts[0] - passedCounts[passedCounts.count - 1] < batches.count }
        var isDone: Bool { hasEnded && passedCounts[0] == passedCounts[passedCounts.count - 1] }
    }

    /// Creates an empty pipeline.
    ///
    /// - Parameter room: The maximum number of batches in flight, which bounds memory.
    init(_ stages: [Stage], room: Int) {
        self.stages = stages
        state = Lock(
            State(
                batches: [Batch?](repeating: nil, count: room),
                passedCounts: [Int](repeating: 0, count: stages.count + 1)))
    }

    /// Adds the next batch; while the pipeline is full, the calling thread runs stages.
    ///
    /// Only one thread may call this method.
    func submit(_ batch: Batch) {
        work(prefersEarliestStage: true) { $0.hasRoom }
        state.withLock { state in
            state.batches[state.passedCounts[0] % state.batches.count] = batch
            state.passedCounts[0] += 1
            wakeAll(&state)
        }
    }

    /// Ends the input, and runs stages until the last batch has passed all of them.
    func finish() {
        state.withLock {
            $0.hasEnded = true
            wakeAll(&$0)
        }
        work()
    }

    /// Runs stages until the input has ended and the last batch has passed all of them.
    func work() { work(prefersEarliestStage: false) { $0.isDone } }

    /// Runs stages until the condition holds.
    private func work(prefersEarliestStage: Bool, until condition: (State) -> Bool) {
        while true {
            switch next(prefersEarliestStage, condition) {
            case .stop: return
            case .wait(let change): change.wait()
            case .task(let stage, var batch):
                stages[stage](&batch)
                complete(on: batch, from: stage)
            }
        }
    }

    private enum Action {
        case stop
        case wait(DispatchSemaphore)
        case task(Int, Batch)
    }

    /// Returns the next task of a thread.
    ///
    /// - Parameter prefersEarliestStage: Whether to prefer the earliest runnable stage. The
    ///   producer does; other threads prefer the latest, so that batches leave early and each
    ///   thread reuses its processor's caches.
    private func next(_ prefersEarliestStage: Bool, _ condition: (State) -> Bool) -> Action {
        state.withLock { state in
            if condition(state) { return .stop }
            for index in stages.indices {
                let stage = prefersEarliestStage ? index : stages.count - 1 - index
                guard state.passedCounts[stage] > state.passedCounts[stage + 1] else { continue }
                let slot = state.passedCounts[stage + 1] % state.batches.count
                if let batch = state.batches[slot].take() { return .task(stage, batch) }
            }
            let change = DispatchSemaphore(value: 0)
            state.waiting.append(change)
            return .wait(change)
        }
    }

    private func complete(on batch: consuming Batch, from stage: Int) {
        let isLast = stage == stages.count - 1
        let batch = isLast ? nil : batch
        state.withLock { state in
            if !isLast { state.batches[state.passedCounts[stage + 1] % state.batches.count] = batch }
            state.passedCounts[stage + 1] += 1
            wakeAll(&state)
        }
    }

    private func wakeAll(_ state: inout State) {
        for change in state.waiting { change.signal() }
        state.waiting.removeAll(keepingCapacity: true)
    }
}
