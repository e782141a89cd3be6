// Unsafe, because an executor runs each job exactly once, which the compiler does not check.
import Foundation

/// Runs each job on a thread of its own, outside the cooperative pool, whose threads other tests may block.
package final class ThreadExecutor: TaskExecutor {
    /// Makes an executor.
    package init() {}

    /// Starts a thread for the job.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
