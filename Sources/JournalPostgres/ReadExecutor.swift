#if Postgres
    import Dispatch
    import EventJournal

    /// Runs tasks that read a log in a database, each on a thread that may block.
    final class ReadExecutor: TaskExecutor {
        static let label = "JournalPostgres.reads"

        private let queue = DispatchQueue(label: label, qos: .userInitiated, attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    extension PostgresLog: RemoteLog {
        package var readExecutor: any TaskExecutor { executor }
    }
#endif
