#if Server
    internal import ChatWire
    internal import Dispatch
    internal import Foundation
    internal import Locking

    /// A fixed number of threads for calls that block, with a bounded queue.
    ///
    /// Hashing a password takes a processor for tens of milliseconds; on the threads of tasks it
    /// would delay every post.
    final class WorkerThreads: Sendable {
        private struct State {
            var jobs = FirstInFirstOut<@Sendable () -> Void>()
            var isStopped = false
        }

        private let state = Lock(State())
        /// Has a signal for each call, and one for each thread after the stop.
        private let signals = DispatchSemaphore(value: 0)
        private let count: Int
        private let limit: Int

        /// Starts the threads.
        ///
        /// - Parameters:
        ///   - name: The name of the threads.
        ///   - count: The number of threads.
        ///   - limit: The number of calls that wait; more get `busy`.
        init(_ name: String, count: Int, limit: Int) {
            (self.count, self.limit) = (count, limit)
            for _ in 0..<count {
                // Holds the object until it is stopped.
                let thread = Thread { [self] in
                    while let job = nextJob() { job() }
                }
                thread.name = name
                thread.stackSize = 1 << 20
                thread.start()
            }
        }

        /// Runs a call on one of the threads.
        ///
        /// - Throws: What the call throws; ``Problem`` with `busy` if the queue is full.
        func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in
                let isAccepted = state.withLock { state in
                    guard !state.isStopped, state.jobs.count < limit else { return false }
                    state.jobs.append { continuation.resume(with: Result { try body() }) }
                    return true
                }
                guard isAccepted else {
                    continuation.resume(throwing: Problem.busy)
                    return
                }
                signals.signal()
            }
        }

        /// The number of calls that wait.
        var waitingCount: Int { state.withLock { $0.jobs.count } }

        /// Ends the threads after the calls that wait.
        func stop() {
            let isFirst = state.withLock { state in
                defer { state.isStopped = true }
                return !state.isStopped
            }
            if isFirst { for _ in 0..<count { signals.signal() } }
        }

        /// Waits for the next call; nil when all are done and the threads end.
        private func nextJob() -> (@Sendable () -> Void)? {
            signals.wait()
            return state.withLock { $0.jobs.popFirst() }
        }
    }
#endif
