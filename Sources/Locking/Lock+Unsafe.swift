// Unsafe, because a mutex of the C library lives at an address of its own. By hand, because the standard library's `Mutex` is, on Linux, a futex with priority inheritance:
// whoever unlocks it hands it to the thread that has waited longest, which then has to be woken before anybody gets on. With more threads than processors the whole
// waits for the scheduler at each hand-over: 64 threads that each wait for their event to be durable (W4) came to 12,000 events/s with it, and to 38,000 with this. It is
// also what the thread sanitizer understands, which does not see an order between two who hold a `Mutex` in turn.
//
// With the GNU C library it is a mutex that looks again for a moment before it lets the thread sleep: what is done under these locks takes microseconds, and a thread that
// sleeps costs as much again. A tenth fewer switches between threads in W4, and Chat by threads 0.79 to 0.94 of the floor (medians of eight runs in turns).
#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Darwin)
    public import Darwin
#endif

/// A value that one thread at a time may use.
///
/// Used as the standard library's `Mutex` is. A thread that holds it must not ask for it again.
///
/// Sendable without the compiler's check, which cannot see that the value is reached under the mutex alone, and that `sending` keeps references out and in.
@safe public struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Makes a lock around a value.
    @inlinable public init(_ value: consuming sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        let status = unsafe Self.make(mutex)
        precondition(status == 0, "no mutex could be made")
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    @usableFromInline static func make(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
        #if canImport(Glibc)
            var attributes = pthread_mutexattr_t()
            var status = unsafe pthread_mutexattr_init(&attributes)
            guard status == 0 else { return status }
            defer { unsafe pthread_mutexattr_destroy(&attributes) }
            status = unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
            return status == 0 ? unsafe pthread_mutex_init(mutex, &attributes) : status
        #else
            return unsafe pthread_mutex_init(mutex, nil)
        #endif
    }

    @inlinable deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deinitialize(count: 1)
        unsafe mutex.deallocate()
    }

    /// Waits until nobody uses the value, and uses it.
    ///
    /// - Throws: What the closure throws.
    @inlinable public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&value.pointee)
    }

    /// Whether a thread uses the value at this moment.
    package borrowing func isHeld() -> Bool {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return true }
        unsafe pthread_mutex_unlock(mutex)
        return false
    }
}
