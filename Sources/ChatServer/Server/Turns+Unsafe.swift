#if Server
    // Unsafe, because an executor gets jobs and names itself without a reference count. A job that waits
    // has its executor beside it.
    internal import Foundation
    internal import Locking

    /// Runs the work of many clients on a few threads, in turns: the next job is that of the client who
    /// has waited longest for one, not of who has asked for most.
    ///
    /// One thread always remains for the others: a client's jobs run on all threads but one. A job
    /// is what a task does between two waits, so the work of a request is several of them.
    final class Turns: Sendable {
        fileprivate struct Queue {
            var jobs = FirstInFirstOut<(job: UnownedJob, executor: ClientExecutor)>()
            var runningCount = 0
            /// Whether the client is in the row of those whose turn comes.
            var isInRow = false
        }

        fileprivate struct State {
            /// The clients with a job that waits or runs.
            var queues: [Client: Queue] = [:]
            /// The clients whose turn comes, in order.
            var row = FirstInFirstOut<Client>()
            var isStopped = false
        }

        private let state = Lock(State())
        /// Has a signal for each place in the row, and one for each thread after the stop.
        private let signals = DispatchSemaphore(value: 0)
        private let threadCount: Int

        /// Starts the threads.
        init(threadCount: Int = max(2, ProcessInfo.processInfo.activeProcessorCount)) {
            self.threadCount = threadCount
            for _ in 0..<threadCount {
                // Holds the object until it is stopped.
                let thread = Thread { [self] in
                    while runNext() {}
                }
                thread.name = "chat requests"
                thread.start()
            }
        }

        /// Returns what runs the tasks of a client.
        func executor(of client: Client) -> any TaskExecutor { ClientExecutor(client, self) }

        /// Ends the threads after the jobs that wait; those that are added later run on the thread
        /// that adds them.
        func stop() {
            let isFirst = state.withLock { state in
                defer { state.isStopped = true }
                return !state.isStopped
            }
            if isFirst { for _ in 0..<threadCount { signals.signal() } }
        }

        /// Adds a job of a client; returns false if the threads have ended.
        fileprivate func add(_ job: UnownedJob, _ executor: ClientExecutor) -> Bool {
            let (isAccepted, isReady) = state.withLock { state in
                if state.isStopped { return (false, false) }
                state.queues[executor.client, default: Queue()].jobs.append((job, executor))
                return (true, state.enterRow(executor.client, threadCount))
            }
            if isReady { signals.signal() }
            return isAccepted
        }

        /// Waits for the next job and runs it; returns false after the last one.
        private func runNext() -> Bool {
            signals.wait()
            guard let turn = state.withLock({ $0.begin(threadCount) }) else { return false }
            if turn.isNextReady { signals.signal() }
            unsafe turn.job.runSynchronously(on: turn.executor.asUnownedTaskExecutor())
            if state.withLock({ $0.end(turn.executor.client, threadCount) }) { signals.signal() }
            return true
        }
    }

    extension Turns.State {
        /// Puts a client into the row if it has a job that may run; returns whether it did.
        fileprivate mutating func enterRow(_ client: Client, _ threadCount: Int) -> Bool {
            guard let queue = queues[client], !queue.isInRow, !queue.jobs.isEmpty, queue.runningCount < threadCount - 1 else {
                return false
            }
            queues[client]?.isInRow = true
            row.append(client)
            return true
        }

        /// Takes the next job; nil if none waits.
        fileprivate mutating func begin(_ threadCount: Int) -> (job: UnownedJob, executor: ClientExecutor, isNextReady: Bool)? {
            guard let client = row.popFirst(), let next = queues[client]?.jobs.popFirst() else { return nil }
            queues[client]?.isInRow = false
            queues[client]?.runningCount += 1
            return (next.job, next.executor, enterRow(client, threadCount))
        }

        /// Notes the end of a job; returns whether the client's next one may run.
        fileprivate mutating func end(_ client: Client, _ threadCount: Int) -> Bool {
            queues[client]?.runningCount -= 1
            if let queue = queues[client], queue.jobs.isEmpty, queue.runningCount == 0 { queues[client] = nil }
            return enterRow(client, threadCount)
        }
    }

    /// Runs the tasks of one client in their turns.
    private final class ClientExecutor: TaskExecutor {
        let client: Client
        private let turns: Turns

        init(_ client: Client, _ turns: Turns) { (self.client, self.turns) = (client, turns) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            if !turns.add(job, self) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
#endif
