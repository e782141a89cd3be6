#if Server
    internal import ChatWire
    internal import Foundation
    internal import Locking

    /// A fixed number of threads for calls that block, with a bounded queue.
    ///
    /// Hashing a password takes a processor for tens of milliseconds; on the threads of tasks it would
    /// delay every post.
    final class WorkerThreads: Sendable {
        private struct State {
            var jobs: [@Sendable () -> Void] = []
            /// The index of the next job.
            var next = 0
            var isStopped = false
        }

        private let condition = NSCondition()
        private let state = Lock(State())
        private let limit: Int

        /// Starts the threads.
        ///
        /// - Parameters:
        ///   - name: The name of the threads.
        ///   - count: The number of threads.
        ///   - limit: The number of calls that wait; more get `busy`.
        init(_ name: String, count: Int, limit: Int) {
            self.limit = limit
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
                    guard !state.isStopped, state.jobs.count - state.next < limit else { return false }
                    state.jobs.append { continuation.resume(with: Result { try body() }) }
                    return true
                }
                guard isAccepted else {
                    continuation.resume(throwing: Problem.busy)
                    return
                }
                condition.lock()
                condition.signal()
                condition.unlock()
            }
        }

        /// The number of calls that wait.
        var waitingCount: Int { state.withLock { $0.jobs.count - $0.next } }

        /// Ends the threads after the calls that wait.
        func stop() {
            state.withLock { $0.isStopped = true }
            condition.lock()
            condition.broadcast()
            condition.unlock()
        }

        private func nextJob() -> (@Sendable () -> Void)? {
            condition.lock()
            defer { condition.unlock() }
            while true {
                let (job, isStopped) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
                    guard state.next < state.jobs.count else { return (nil, state.isStopped) }
                    let job = state.jobs[state.next]
                    state.jobs[state.next] = {}
                    state.next += 1
                    if state.next == state.jobs.count { (state.jobs, state.next) = ([], 0) }
                    return (job, false)
                }
                if let job { return job }
                if isStopped { return nil }
                condition.wait()
            }
        }
    }

    extension Problem {
        static let busy = Problem(503, .busy, "Too many requests at this moment. Try again later.", retryAfter: 1)
    }
#endif
