package import Dispatch

/// Where a journal, or a store on it, does what nobody who asks is to be held for: on a dispatch queue of its own, or on the executor that the caller has injected.
package struct Background: Sendable {
    private let queue: DispatchQueue
    private let executor: (any TaskExecutor)?

    /// - Parameters:
    ///   - label: The name of the queue, made also where it is not used.
    ///   - executor: ``JournalOptions/executor``.
    package init(_ label: String, qos: DispatchQoS = .unspecified, _ executor: (any TaskExecutor)?) {
        queue = DispatchQueue(label: label, qos: qos)
        self.executor = executor
    }

    /// Whether the caller's own threads may be all that there is, so that none of them may block for what has not begun.
    var isInjected: Bool { executor != nil }

    /// Runs a job later: on the queue after those before it, on an executor in the order that it chooses.
    package func run(_ job: @escaping @Sendable () -> Void) {
        if let executor { Task.detached(executorPreference: executor) { job() } } else { queue.async(execute: job) }
    }

    /// Waits until the jobs so far have ended and let go of what they hold; on an executor for none, because one that has not begun could not begin meanwhile.
    package func drain() {
        if executor == nil { queue.sync {} }
    }

    /// Runs a job on the queue once a time has passed, also where there is an executor, which knows no time.
    func run(after delay: Duration, _ job: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + delay.dispatchInterval, execute: job)
    }
}

extension Duration {
    /// The same time as Dispatch counts it, to the nanosecond; the longest that it can count for what is longer.
    var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowOfSum) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        if overflow || overflowOfSum { return .nanoseconds(seconds < 0 ? .min : .max) }
        return .nanoseconds(Int(clamping: sum))
    }
}
