#if Server
    // Unsafe, because an executor gets jobs and names itself without a reference count. A job that
    // waits has its executor beside it.
    internal import Foundation
    internal import Locking

    /// Runs the work of many clients on a few threads, in turns: the next job is that of the client
    /// who has waited longest for one, not of who has asked for most.
    ///
    /// One thread always remains for the others: a client's jobs run on all threads but one. A job
    /// is what a task does between two waits, so the work of a request is several of them.
    final class Turns: Sendable {
        fileprivate struct Queue {
            var client: Client
            /// The executors of the client that exist.
            var executorCount = 0
            var jobs = FirstInFirstOut<(job: UnownedJob, executor: ClientExecutor)>()
            var runningCount = 0
            /// Whether the client is in the row of those whose turn comes.
            var isInRow = false
        }

        fileprivate struct State {
            /// By number: the clients that have an executor, and places that are free.
            var queues: [Queue] = []
            var numbers: [Client: Int] = [:]
            var freeNumbers: [Int] = []
            /// The clients whose turn comes, in order.
            var row = FirstInFirstOut<Int>()
            /// The threads that wait for a signal.
            var idleCount = 0
            var isStopped = false
        }

        private let state = Lock(State())
        private let signals = DispatchSemaphore(value: 0)
        private let threadCount: Int

        /// Starts the threads.
        init(threadCount: Int = max(2, ProcessInfo.processInfo.activeProcessorCount)) {
            self.threadCount = threadCount
            for _ in 0..<threadCount {
                // Holds the object until it is stopped.
                let thread = Thread { [self] in run() }
                thread.name = "chat requests"
                thread.start()
            }
        }

        /// Returns what runs the tasks of a client.
        func executor(of client: Client) -> any TaskExecutor {
            let number = state.withLock { state in
                let number = state.number(of: client)
                state.queues[number].executorCount += 1
                return number
            }
            return ClientExecutor(number, self)
        }

        /// Ends the threads after the jobs that wait; those that are added later run on the thread
        /// that adds them.
        func stop() {
            let idleCount = state.withLock { state in
                defer { (state.isStopped, state.idleCount) = (true, 0) }
                return state.idleCount
            }
            for _ in 0..<idleCount { signals.signal() }
        }

        /// Adds a job of a client; returns false if the threads end.
        fileprivate func add(_ job: UnownedJob, _ executor: ClientExecutor) -> Bool {
            let (isAccepted, wakes) = state.withLock { state in
                if state.isStopped { return (false, false) }
                state.queues[executor.number].jobs.append((job, executor))
                state.enterRow(executor.number, threadCount)
                return (true, state.takeIdle())
            }
            if wakes { signals.signal() }
            return isAccepted
        }

        fileprivate func remove(_ number: Int) { state.withLock { $0.removeExecutor(number) } }

        /// Runs jobs until the stop.
        private func run() {
            var former: Int?
            while true {
                let (next, wakes, isOver) = state.withLock { state in
                    let next = state.next(after: former.take(), threadCount)
                    if next == nil, !state.isStopped { state.idleCount += 1 }
                    return (next, next != nil && state.takeIdle(), next == nil && state.isStopped)
                }
                if isOver { return }
                if wakes { signals.signal() }
                guard let next else {
                    signals.wait()
                    continue
                }
                unsafe next.job.runSynchronously(on: next.executor.asUnownedTaskExecutor())
                former = next.executor.number
            }
        }
    }

    extension Turns.State {
        fileprivate mutating func number(of client: Client) -> Int {
            if let number = numbers[client] { return number }
            let number = freeNumbers.popLast() ?? queues.count
            if number == queues.count {
                queues.append(Turns.Queue(client: client))
            } else {
                queues[number].client = client
            }
            numbers[client] = number
            return number
        }

        fileprivate mutating func removeExecutor(_ number: Int) {
            queues[number].executorCount -= 1
            if queues[number].executorCount == 0, queues[number].runningCount == 0 { free(number) }
        }

        /// Gives back the place of a client without an executor, and so without a job.
        private mutating func free(_ number: Int) {
            numbers[queues[number].client] = nil
            freeNumbers.append(number)
        }

        /// Puts a client into the row if it has a job that may run.
        fileprivate mutating func enterRow(_ number: Int, _ threadCount: Int) {
            guard !queues[number].isInRow, !queues[number].jobs.isEmpty, queues[number].runningCount < threadCount - 1
            else { return }
            queues[number].isInRow = true
            row.append(number)
        }

        /// Ends a job, and takes the next one; nil if none waits.
        fileprivate mutating func next(after former: Int?, _ threadCount: Int) -> (
            job: UnownedJob, executor: ClientExecutor
        )? {
            if let former {
                queues[former].runningCount -= 1
                enterRow(former, threadCount)
                if queues[former].executorCount == 0, queues[former].runningCount == 0 { free(former) }
            }
            guard let number = row.popFirst(), let next = queues[number].jobs.popFirst() else { return nil }
            queues[number].isInRow = false
            queues[number].runningCount += 1
            enterRow(number, threadCount)
            return next
        }

        /// Whether an idle thread has to be woken for a client in the row.
        fileprivate mutating func takeIdle() -> Bool {
            guard idleCount > 0, !row.isEmpty else { return false }
            idleCount -= 1
            return true
        }
    }

    /// Runs the tasks of one client in their turns.
    private final class ClientExecutor: TaskExecutor {
        let number: Int
        private let turns: Turns

        init(_ number: Int, _ turns: Turns) { (self.number, self.turns) = (number, turns) }

        deinit { turns.remove(number) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            if !turns.add(job, self) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
#endif
