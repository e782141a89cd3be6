#if Postgres
    import Dispatch
    import EventJournal

    /// Runs tasks that read a log in a database, each on a thread that may block.
    final class ReadExecutor: TaskExecutor {
        private static let mark = DispatchSpecificKey<Bool>()

        private let queue = DispatchQueue(label: "JournalPostgres.reads", qos: .userInitiated, attributes: .concurrent)

        init() { queue.setSpecific(key: Self.mark, value: true) }

        /// Whether the caller runs on an executor of this kind.
        static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    extension PostgresLog: RemoteLog {
        package var readExecutor: any TaskExecutor { executor }

        /// Whether the caller runs on the executor of a log.
        package static var isOnReadExecutor: Bool { ReadExecutor.isCurrent }
    }
#endif
