// Unsafe: a C library mutex needs a stable address.
//
// The standard library's `Mutex` on Linux is a futex with priority inheritance. Unlocking hands it
// to the thread that has waited longest, which must wake up before any thread can proceed; with
// more threads than processors each hand-over waits for the scheduler. The thread sanitizer
// understands this mutex, but not `Mutex`.
//
// With the GNU C library the mutex is adaptive: it spins briefly before the thread sleeps, because
// the sections under these locks take microseconds. Measurements: Benchmarks/README.md, W4.
#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Darwin)
    public import Darwin
#endif

/// A value with exclusive access by one thread at a time.
///
/// Has the interface of the standard library's `Mutex`. Not recursive: a thread that holds the lock
/// must not lock it again.
///
/// Unchecked Sendable: the value is accessed only under the mutex, and `sending` keeps references
/// from crossing it, which the compiler cannot verify.
@safe public struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Creates a lock around a value.
    @inlinable public init(_ value: consuming sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        let status = unsafe Self.initializeMutex(mutex)
        precondition(status == 0, "cannot create a mutex")
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    @usableFromInline static func initializeMutex(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
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

    /// Waits for exclusive access and calls a closure with the value.
    ///
    /// - Throws: The closure's error.
    @inlinable public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&value.pointee)
    }

    /// Whether a thread holds the lock at this moment.
    package borrowing func isHeld() -> Bool {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return true }
        unsafe pthread_mutex_unlock(mutex)
        return false
    }
}
