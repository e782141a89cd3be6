// Unsafe, because the runtime hands over jobs without reference counts. Each job is run exactly
// once, by the caller that removes it from the list, and the executor outlives the call that runs
// it.
import Dispatch
import Locking

/// Runs tasks one step at a time, on one thread, in an order that is determined by a seed.
///
/// A task runs until it suspends; then one of the ready tasks is chosen at random. Races between
/// tasks that suspend between two steps are therefore found by some seed, and reproduced by the
/// same seed. <doc:TestingWithChatTesting> has the options of this example:
///
/// ```swift
/// let executor = SeededExecutor(seed: seed)
/// var options = reproducibleOptions(seed: seed)
/// options.journal.executor = executor
/// let store = try ChatStore.open("journal", options: options)
/// let post = ChatCommand.postMessage(message: MessageID(bits: 7), thread: sw1a, author: ann, body: "Milk?")
/// try executor.run {
///     try await store.execute(.registerUser(user: ann, username: "Ann"))
///     try await store.execute(.setPostcode(user: ann, postcode: "SW1A 1AA"))
///     try await withThrowingTaskGroup { tasks in
///         for _ in 0..<8 { tasks.addTask { try await store.execute(post) } }
///         try await tasks.waitForAll()
///     }
/// }
/// ```
///
/// Child tasks (of a group, or `async let`), asynchronous functions, and actors without a custom
/// executor stay on this executor. Work that leaves it is not reproducible, and ``run(_:)`` throws:
/// a `Task` without `executorPreference`, the main actor, and sleeping. Steps without an `await`
/// between them are never interleaved, and data races need threads: the executor does not replace
/// the thread sanitizer.
public final class SeededExecutor: TaskExecutor {
    /// The reason why a run is not reproducible from its seed.
    public enum ReproducibilityError: Error, Hashable {
        /// No task is ready before the run has ended: its tasks wait for one another, or for
        /// outside work.
        case stalled
        /// A job was enqueued from a thread other than the executor's, so the seed does not
        /// determine the order.
        case enqueuedFromOutside
    }

    private struct State {
        var random: SeededRandom
        var ready: [UnownedJob] = []
        var hasOutsideJobs = false
        var hasFailed = false
    }

    private let state: Lock<State>
    private let queue = DispatchQueue(label: "ChatTesting.SeededExecutor")
    private let queueKey = DispatchSpecificKey<Bool>()

    /// Creates an executor; it runs nothing before ``run(_:)``.
    public init(seed: UInt64) {
        state = Lock(State(random: SeededRandom(seed: seed)))
        queue.setSpecific(key: queueKey, value: true)
    }

    /// Makes a task ready for its next step; called by the runtime.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFromOutside = DispatchQueue.getSpecific(key: queueKey) != true
        state.withLock { state in
            if isFromOutside { state.hasOutsideJobs = true }
            state.ready.append(job)
        }
    }

    /// Runs a closure and all of its tasks on the calling thread, until no task is ready.
    ///
    /// Must not be called from within the closure.
    ///
    /// - Precondition: No earlier run of this executor has thrown an error: its jobs may still arrive.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure; otherwise a ``ReproducibilityError``, if the run is not
    ///   reproducible from its seed.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        precondition(!state.withLock { $0.hasFailed }, "An executor cannot be used after a run that has thrown an error.")
        do {
            return try runToEnd(body)
        } catch {
            state.withLock { $0.hasFailed = true }
            throw error
        }
    }

    private func runToEnd<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
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
        guard let result = outcome.result.withLock({ $0 }) else { throw ReproducibilityError.stalled }
        let value = try result.get()
        if state.withLock({ $0.hasOutsideJobs }) { throw ReproducibilityError.enqueuedFromOutside }
        return value
    }

    private func nextJob() -> UnownedJob? {
        state.withLock { state in
            if state.ready.isEmpty { return nil }
            return state.ready.remove(at: Int.random(in: state.ready.indices, using: &state.random))
        }
    }
}

/// The result of a run, after it has ended.
private final class Outcome<Value: Sendable>: Sendable {
    let result = Lock<Result<Value, any Error>?>(nil)
}
