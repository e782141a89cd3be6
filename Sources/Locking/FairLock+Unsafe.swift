// Unsafe, because it calls the C library with the address of a Lock's mutex, to wait for it no
// longer than a millisecond.
#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Darwin)
    public import Darwin
#endif
public import Synchronization

/// A value that one thread at a time may use, and that no thread waits for without end.
///
/// A ``Lock`` goes to whichever thread asks at the right moment, which is fast and lets a thread
/// that holds it in a loop starve the others. Here a thread that has waited for a millisecond is
/// overdue: it takes the gate, and threads that come now wait there until it has the value.
/// Otherwise it is a `Lock`, and as fast; one that handed itself over each time would not be.
///
/// A thread that holds it must not ask for it again.
@safe public struct FairLock<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let lock: Lock<Value>
    @usableFromInline let gate = Lock(())
    /// Threads that wait for the gate or hold it because they are overdue.
    @usableFromInline let overdue = Atomic(0)

    /// Makes a lock around a value.
    @inlinable public init(_ value: consuming sending Value) { lock = Lock(value) }

    /// Waits until no other thread uses the value, and uses it.
    ///
    /// - Throws: What the closure throws.
    @inlinable public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        if overdue.load(ordering: .relaxed) != 0 { gate.withLock { _ in } }
        if unsafe pthread_mutex_trylock(lock.mutex) != 0 { wait() }
        defer { unsafe pthread_mutex_unlock(lock.mutex) }
        // Read first: a change by way of `lock` is one of the lock itself to the thread sanitizer.
        let value = unsafe lock.value
        return try unsafe body(&value.pointee)
    }

    /// Waits for the mutex as any thread does, and for a millisecond at most; then behind the gate.
    @usableFromInline borrowing func wait() {
        if waitForAMillisecond() { return }
        overdue.add(1, ordering: .relaxed)
        gate.withLock { _ in _ = unsafe pthread_mutex_lock(lock.mutex) }
        overdue.subtract(1, ordering: .relaxed)
    }

    #if canImport(Darwin)
        /// Whether the mutex became free in time; Darwin has no wait for a mutex that ends.
        private borrowing func waitForAMillisecond() -> Bool {
            for _ in 0..<20 {
                usleep(50)
                if unsafe pthread_mutex_trylock(lock.mutex) == 0 { return true }
            }
            return false
        }
    #else
        /// Whether the mutex became free in time.
        ///
        /// A system clock that is set back makes the wait longer.
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

    /// Whether an overdue thread holds the gate: threads that come now wait until it has the value.
    package borrowing func isGateHeld() -> Bool { overdue.load(ordering: .relaxed) != 0 && gate.isHeld() }
}
