// Unsafe, because the runtime hands over jobs that it does not count: each is run exactly once, by whoever takes it off the list, and the executor outlives the call that runs it.
import Dispatch
import Locking

/// Runs tasks one step at a time, on one thread, in an order that follows from a seed: how concurrent callers meet is then part of what a seed replays.
///
/// A task runs until it suspends; whichever of those that are ready comes next is drawn at random. So a race between tasks that await something between two steps is found by
/// some seed, and by the same seed again:
///
///     for seed in Seeds.seeds(100) {
///         let executor = SeededExecutor(seed: seed)
///         var options = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: seed))
///         options.journal = JournalOptions(entropy: SeededEntropy(seed: seed), idleDelay: nil, executor: executor)
///         let store = try ChatStore.inMemory(options: options)
///         try executor.run {
///             await withTaskGroup { tasks in
///                 for _ in 0..<8 { tasks.addTask { await useConcurrently(store) } }
///             }
///         }
///     }
///
/// Child tasks (of a group, `async let`), asynchronous functions and actors without an executor of their own stay on it. What does not, and makes a history differ from run to run,
/// is an error of ``run(_:)``: a `Task` without `executorPreference`, the main actor, whatever sleeps. Steps that are not separated by an `await` are never cut in two, and
/// only threads show a data race: this takes no thread sanitizer's place.
public final class SeededExecutor: TaskExecutor {
    /// Why a run does not follow from its seed.
    public enum Problem: Error, Hashable {
        /// Nothing is ready and the run is not over: its tasks wait for one another, or for something outside.
        case stalled
        /// A task was made ready by another thread, at a moment that no seed tells.
        case disturbed
    }

    private struct State {
        var random: SeededRandom
        var ready: [UnownedJob] = []
        var isDisturbed = false
    }

    private let state: Lock<State>
    private let queue = DispatchQueue(label: "ChatTesting.SeededExecutor")
    private let isOnQueue = DispatchSpecificKey<Bool>()

    /// Makes an executor; it runs nothing before ``run(_:)``.
    public init(seed: UInt64) {
        state = Lock(State(random: SeededRandom(seed: seed)))
        queue.setSpecific(key: isOnQueue, value: true)
    }

    /// Makes a task ready for its next step; for the runtime to call.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isStranger = DispatchQueue.getSpecific(key: isOnQueue) != true
        state.withLock { state in
            if isStranger { state.isDisturbed = true }
            state.ready.append(job)
        }
    }

    /// Runs something with all its tasks, on the calling thread, until nothing is ready any more.
    ///
    /// Not to be called by what it runs.
    ///
    /// - Returns: What it returns.
    /// - Throws: What it throws; else a ``Problem``, if the run does not follow from its seed.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = Outcome<Value>()
        queue.sync {
            Task.detached(executorPreference: self) {
                do {
                    let value = try await body()
                    outcome.result.withLock { $0 = .success(value) }
                } catch {
                    outcome.result.withLock { $0 = .failure(error) }
                }
            }
            while let job = nextJob() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
        guard let result = outcome.result.withLock({ $0 }) else { throw Problem.stalled }
        let value = try result.get()
        if state.withLock({ $0.isDisturbed }) { throw Problem.disturbed }
        return value
    }

    private func nextJob() -> UnownedJob? {
        state.withLock { state in
            if state.ready.isEmpty { return nil }
            return state.ready.remove(at: Int.random(in: state.ready.indices, using: &state.random))
        }
    }
}

/// What a run has come to, once it has ended.
private final class Outcome<Value: Sendable>: Sendable {
    let result = Lock<Result<Value, any Error>?>(nil)
}
