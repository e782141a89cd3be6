// Unsafe: a C library read-write lock needs a stable address. Lock+Unsafe.swift explains why it is
// a lock of the C library.
#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Darwin)
    public import Darwin
#endif

/// A value with shared access by readers or exclusive access by one writer.
///
/// A thread that holds the gate is next: later readers and writers wait at the gate until its
/// section begins. A read-write lock alone admits new readers ahead of a waiting writer. Threads at
/// the gate itself have the order of ``Lock``, which is not fair.
///
/// Sections must not nest, not even two shared sections: the thread would wait at the gate for a
/// writer that waits for this thread. Sections should be short and must not perform I/O.
///
/// The value is Sendable, because several threads read it at the same time. Unchecked Sendable: the
/// value is accessed only under the lock, which the compiler cannot verify.
@safe public struct SharedLock<Value: ~Copyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let gate = Lock(())
    @usableFromInline let access: UnsafeMutablePointer<pthread_rwlock_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Creates a lock around a value.
    @inlinable public init(_ value: consuming Value) {
        unsafe access = .allocate(capacity: 1)
        unsafe access.initialize(to: pthread_rwlock_t())
        let status = unsafe pthread_rwlock_init(access, nil)
        precondition(status == 0, "cannot create a read-write lock")
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    @inlinable deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
        unsafe pthread_rwlock_destroy(access)
        unsafe access.deinitialize(count: 1)
        unsafe access.deallocate()
    }

    /// Waits until no writer has access and calls a closure with the value.
    ///
    /// The closure must not lock this lock again, not even for shared access.
    ///
    /// - Throws: The closure's error.
    @inlinable public borrowing func withShared<Result: ~Copyable, Failure: Error>(
        _ body: (borrowing Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        gate.withLock { _ in
            if unsafe pthread_rwlock_tryrdlock(access) == 0 || retrying({ unsafe pthread_rwlock_tryrdlock(access) }) {
                return
            }
            let status = unsafe pthread_rwlock_rdlock(access)
            precondition(status == 0, "a shared section inside an exclusive one, or too many readers")
        }
        defer { unsafe pthread_rwlock_unlock(access) }
        return try unsafe body(value.pointee)
    }

    /// Waits for exclusive access and calls a closure with the value.
    ///
    /// The closure must not lock this lock again.
    ///
    /// - Throws: The closure's error.
    @inlinable public borrowing func withExclusive<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        gate.withLock { _ in
            if unsafe pthread_rwlock_trywrlock(access) == 0 || retrying({ unsafe pthread_rwlock_trywrlock(access) }) {
                return
            }
            let status = unsafe pthread_rwlock_wrlock(access)
            precondition(status == 0, "an exclusive section inside another one")
        }
        defer { unsafe pthread_rwlock_unlock(access) }
        return try unsafe body(&value.pointee)
    }

    /// Whether a reader or a writer holds the gate, so that new threads wait for its section to
    /// begin.
    package borrowing func isGateHeld() -> Bool { gate.isHeld() }
}
