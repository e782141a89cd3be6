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
/// let post = ChatCommand.postMessage(id: MessageID(bits: 7), thread: sw1a, body: "Milk?", by: ann)
/// try executor.run {
///     try await store.execute(.registerUser(id: ann, username: "Ann"))
///     try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: ann))
///     try await withThrowingTaskGroup { tasks in
///         for _ in 0..<8 { tasks.addTask { try await store.execute(post) } }
///         try await tasks.waitForAll()
///     }
/// }
/// ```
///
/// Child tasks (of a group, or `async let`), asynchronous functions, and actors without a custom
/// executor stay on this executor. Work that leaves it is not reproducible, and ``run(_:)`` throws:
/// a `Task` without `executorPreference`, the main actor, and `Task.sleep`. Steps without an
/// `await` between them are never interleaved, and data races need threads: the executor does not
/// replace the thread sanitizer.
///
/// ``sleep(for:)`` waits in virtual time: when no task is ready, ``now`` moves to the end of the
/// next sleep, so hours of waiting take no time.
public final class SeededExecutor: TaskExecutor {
    /// The reason why a run is not reproducible from its seed.
    public enum ReproducibilityError: Error, Hashable {
        /// No task is ready or sleeps before the run has ended: its tasks wait for one another, or
        /// for outside work.
        case stalled
        /// A job was enqueued from a thread other than the executor's, so the seed does not
        /// determine the order.
        case enqueuedFromOutside
    }

    private struct Sleeper {
        var end: Duration
        var task: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var random: SeededRandom
        var ready: [UnownedJob] = []
        var now = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        var lastSleeper = 0
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

    /// The virtual time that has passed, in all runs together.
    public var now: Duration { state.withLock { $0.now } }

    /// Suspends a task of this executor until a virtual time has passed.
    ///
    /// - Precondition: The task runs on this executor.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        precondition(DispatchQueue.getSpecific(key: queueKey) == true, "Only tasks of the executor sleep in its time.")
        let key = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { task in
                let isCancelled = Task.isCancelled
                if !isCancelled {
                    state.withLock { $0.sleepers[key] = Sleeper(end: $0.now + max(duration, .zero), task: task) }
                }
                if isCancelled { task.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: key) }?.task.resume(throwing: CancellationError())
        }
    }

    /// Runs a closure and all of its tasks on the calling thread, until the closure has returned
    /// and no task is ready.
    ///
    /// Must not be called from within the closure. A task that sleeps when the closure has returned
    /// sleeps on in the next run.
    ///
    /// - Precondition: No earlier run of this executor has thrown an error: its jobs may still
    ///   arrive.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure; otherwise a ``ReproducibilityError``, if the run is not
    ///   reproducible from its seed.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        precondition(
            !state.withLock { $0.hasFailed }, "An executor cannot be used after a run that has thrown an error.")
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
            while true {
                while let job = nextJob() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
                guard outcome.result.withLock({ $0 == nil }), wakeNext() else { break }
            }
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

    /// Moves the time to the end of the next sleep; returns false if no task sleeps.
    private func wakeNext() -> Bool {
        let awake: [(key: Int, value: Sleeper)] = state.withLock { state in
            guard let end = state.sleepers.values.map(\.end).min() else { return [] }
            state.now = end
            let awake = state.sleepers.filter { $0.value.end == end }
            for key in awake.keys { state.sleepers[key] = nil }
            // A dictionary has no order.
            return awake.sorted { $0.key < $1.key }
        }
        for sleeper in awake { sleeper.value.task.resume() }
        return !awake.isEmpty
    }
}

/// The result of a run, after it has ended.
private final class Outcome<Value: Sendable>: Sendable {
    let result = Lock<Result<Value, any Error>?>(nil)
}
