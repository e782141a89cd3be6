// Unsafe, because an executor must run each job exactly once, which the compiler does not check.
import Foundation

/// Runs each job on its own thread, outside the cooperative pool, whose threads other tests can
/// block.
package final class ThreadExecutor: TaskExecutor {
    /// Creates an executor.
    package init() {}

    /// Starts a thread for the job.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
