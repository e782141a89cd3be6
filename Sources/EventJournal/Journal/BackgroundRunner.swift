package import Dispatch

/// Runs background work of a journal or store, on a dispatch queue or on the caller's executor.
package struct BackgroundRunner: Sendable {
    private let queue: DispatchQueue
    private let executor: (any TaskExecutor)?

    /// Makes the runner.
    ///
    /// - Parameters:
    ///   - label: The name of the dispatch queue. The queue is made even if an executor is given.
    ///   - isConcurrent: Whether the queue runs several jobs at a time.
    ///   - executor: ``JournalOptions/executor``.
    package init(
        _ label: String, qos: DispatchQoS = .unspecified, isConcurrent: Bool = false, _ executor: (any TaskExecutor)?
    ) {
        queue = DispatchQueue(label: label, qos: qos, attributes: isConcurrent ? .concurrent : [])
        self.executor = executor
    }

    /// Whether the caller injected an executor.
    ///
    /// Its threads may be the only ones, so none of them may wait for a job that has not started.
    var hasInjectedExecutor: Bool { executor != nil }

    /// Runs a job later: in order on the queue, in the executor's order on an executor.
    package func run(_ job: @escaping @Sendable () -> Void) {
        if let executor { Task.detached(executorPreference: executor) { job() } } else { queue.async(execute: job) }
    }

    /// Runs a job later and returns its result; no thread of the caller waits.
    package func result<Value: Sendable, Failure: Error>(
        of job: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await withCheckedContinuation { (task: CheckedContinuation<Result<Value, Failure>, Never>) in
            run { task.resume(returning: Result { () throws(Failure) in try job() }) }
        }
        return try result.get()
    }

    /// Waits until all jobs on the queue have ended and released what they hold.
    ///
    /// Returns at once with an executor: a job that has not started could not start while this
    /// thread waits.
    package func drain() {
        if executor == nil { queue.sync {} }
    }

    /// Runs a job on the queue after a delay, even with an executor, which has no clock.
    func run(after delay: Duration, _ job: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + delay.dispatchInterval, execute: job)
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to what Dispatch can represent.
    package var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowOfSum) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        if overflow || overflowOfSum { return .nanoseconds(seconds < 0 ? .min : .max) }
        return .nanoseconds(Int(clamping: sum))
    }
}
