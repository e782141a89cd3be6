#if Postgres
    import EventJournal
    import Foundation
    import Locking

    /// Runs tasks that read a log in a database, each on a thread that may block.
    ///
    /// A thread is started for a job that finds none idle. A pool of the system starts one a second
    /// when all of its threads wait, and everybody who asks would wait for those who wait for a
    /// server.
    final class ReadExecutor: TaskExecutor {
        private struct State {
            /// The jobs that wait for a thread; the first one is at `next`.
            var jobs: [UnownedJob] = []
            var next = 0
            var threadCount = 0
            /// The threads that wait for a signal, less the signals on their way.
            var idleCount = 0

            mutating func takeJob() -> UnownedJob? {
                guard next < jobs.count else { return nil }
                let job = jobs[next]
                next += 1
                if next == jobs.count {
                    jobs.removeAll(keepingCapacity: true)
                    next = 0
                }
                return job
            }
        }

        private let state = Lock(State())
        private let signals = DispatchSemaphore(value: 0)

        private static let threadName = "PostgreSQL read"
        /// The reads that can wait for servers at once.
        private static let maximumThreadCount = 128
        /// The time after which a thread without a job ends.
        private static let idleTime = 5.0

        /// Whether the caller runs on an executor of this kind.
        static var isCurrent: Bool { Thread.current.threadDictionary[threadName] != nil }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let (signals, starts) = state.withLock { state in
                state.jobs.append(job)
                if state.idleCount > 0 {
                    state.idleCount -= 1
                    return (true, false)
                }
                guard state.threadCount < Self.maximumThreadCount else { return (false, false) }
                state.threadCount += 1
                return (false, true)
            }
            if signals { self.signals.signal() }
            if starts {
                // Holds the executor until the thread ends.
                let thread = Thread {
                    // The name of a thread is on Linux that of the process, if it is asked for.
                    Thread.current.threadDictionary[Self.threadName] = true
                    self.run()
                }
                thread.name = Self.threadName
                thread.start()
            }
        }

        private func run() {
            while true {
                let job = state.withLock { state in
                    let job = state.takeJob()
                    if job == nil { state.idleCount += 1 }
                    return job
                }
                if let job {
                    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
                } else if signals.wait(timeout: .now() + Self.idleTime) == .timedOut, endIfIdle() {
                    return
                }
            }
        }

        /// Ends a thread that has waited; false if a signal for it is on its way.
        private func endIfIdle() -> Bool {
            let ends = state.withLock { state in
                guard state.idleCount > 0 else { return false }
                state.idleCount -= 1
                state.threadCount -= 1
                return true
            }
            if !ends { signals.wait() }
            return ends
        }
    }

    extension PostgresLog: RemoteLog {
        package var readExecutor: any TaskExecutor { executor }

        /// Whether the caller runs on the executor of a log.
        package static var isOnReadExecutor: Bool { ReadExecutor.isCurrent }
    }
#endif
