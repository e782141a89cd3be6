// Unsafe: passes the address of a Lock's mutex to the C library, to wait for it with a timeout.
#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Darwin)
    public import Darwin
#endif
public import Synchronization

/// A value with exclusive access by one thread at a time, without starvation.
///
/// A ``Lock`` admits whichever thread asks first after it is released. That is fast, but a thread
/// that locks it in a loop can starve others. Here, a thread that has waited for a millisecond or
/// two is overdue: it takes the gate, and new threads wait at the gate until the overdue thread has
/// the value. Without overdue threads the lock is as fast as `Lock`; handing over the lock on every
/// release would not be.
///
/// Not recursive: a thread that holds the lock must not lock it again.
@safe public struct FairLock<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let lock: Lock<Value>
    @usableFromInline let gate = Lock(())
    /// The number of overdue threads, which wait for the gate or hold it.
    @usableFromInline let overdueCount = Atomic(0)

    /// Creates a lock around a value.
    @inlinable public init(_ value: consuming sending Value) { lock = Lock(value) }

    /// Waits for exclusive access and calls a closure with the value.
    ///
    /// - Throws: The closure's error.
    @inlinable public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        if overdueCount.load(ordering: .relaxed) != 0 { gate.withLock { _ in } }
        if unsafe pthread_mutex_trylock(lock.mutex) != 0 { wait() }
        defer { unsafe pthread_mutex_unlock(lock.mutex) }
        // Loaded first: the thread sanitizer takes an access through `lock` for a change of the
        // lock itself.
        let value = unsafe lock.value
        return try unsafe body(&value.pointee)
    }

    /// Retries, then waits for the mutex for up to a millisecond, then at the gate.
    @usableFromInline borrowing func wait() {
        if retrying({ unsafe pthread_mutex_trylock(lock.mutex) }) { return }
        if waitForAMillisecond() { return }
        overdueCount.add(1, ordering: .relaxed)
        gate.withLock { _ in _ = unsafe pthread_mutex_lock(lock.mutex) }
        overdueCount.subtract(1, ordering: .relaxed)
    }

    #if canImport(Darwin)
        /// Waits for up to a millisecond; returns whether the mutex was locked.
        ///
        /// Polls, because Darwin has no mutex wait with a timeout.
        private borrowing func waitForAMillisecond() -> Bool {
            for _ in 0..<20 {
                usleep(50)
                if unsafe pthread_mutex_trylock(lock.mutex) == 0 { return true }
            }
            return false
        }
    #else
        /// Waits for up to a millisecond; returns whether the mutex was locked.
        ///
        /// The wait is longer if the system clock is set back.
        private borrowing func waitForAMillisecond() -> Bool {
            var deadline = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &deadline)
            deadline.tv_nsec += 1_000_000
            if deadline.tv_nsec >= 1_000_000_000 {
                deadline.tv_nsec -= 1_000_000_000
                deadline.tv_sec += 1
            }
            return unsafe pthread_mutex_timedlock(lock.mutex, &deadline) == 0
        }
    #endif

    /// Whether an overdue thread holds the gate, so that new threads wait for it.
    package borrowing func isGateHeld() -> Bool { overdueCount.load(ordering: .relaxed) != 0 && gate.isHeld() }
}
