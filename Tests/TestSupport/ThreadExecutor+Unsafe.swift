// Unsafe, because a job of an executor is run exactly once by whoever takes it, which the compiler does not check.
import Foundation

/// Runs each job on a thread of its own, so that tasks need nothing of the cooperative pool, in which other tests may block.
final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
