// Unsafe, because a read-write lock of the C library lives at an address of its own. It is a lock
// of the C library for the reasons given in Lock+Unsafe.swift; the thread sanitizer understands it.
#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Darwin)
    public import Darwin
#endif

/// A value that any number of readers share, or that one writer uses alone.
///
/// Fair in both directions: readers in a loop do not starve a writer, and writers in a loop do not
/// starve a reader. A thread that waits for the value holds the gate, and every later reader and
/// writer stops there until that thread has begun its section. A read-write lock alone admits
/// readers past a waiting writer for as long as any reader is inside.
///
/// Sections never nest, shared sections neither: a thread inside one that asks for another waits
/// at the gate for a writer that waits for this thread. Sections should be short, and do no I/O.
///
/// The value is sendable, because several threads read it at the same time. Sendable without the
/// compiler's check, which cannot see that the value is reached under the lock alone.
@safe public struct SharedLock<Value: ~Copyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let gate = Lock(())
    @usableFromInline let access: UnsafeMutablePointer<pthread_rwlock_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Makes a lock around a value.
    @inlinable public init(_ value: consuming Value) {
        unsafe access = .allocate(capacity: 1)
        unsafe access.initialize(to: pthread_rwlock_t())
        let status = unsafe pthread_rwlock_init(access, nil)
        precondition(status == 0, "no read-write lock could be made")
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

    /// Waits until no writer uses the value, and reads it beside other readers.
    ///
    /// The closure must not ask for this lock again, not even for another shared section.
    ///
    /// - Throws: What the closure throws.
    @inlinable public borrowing func withShared<Result: ~Copyable, Failure: Error>(
        _ body: (borrowing Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        gate.withLock { _ in
            let status = unsafe pthread_rwlock_rdlock(access)
            precondition(status == 0, "a shared section inside an exclusive one, or too many readers")
        }
        defer { unsafe pthread_rwlock_unlock(access) }
        return try unsafe body(value.pointee)
    }

    /// Waits until no reader and no other writer uses the value, and changes it.
    ///
    /// The closure must not ask for this lock again.
    ///
    /// - Throws: What the closure throws.
    @inlinable public borrowing func withExclusive<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        gate.withLock { _ in
            let status = unsafe pthread_rwlock_wrlock(access)
            precondition(status == 0, "an exclusive section inside another one")
        }
        defer { unsafe pthread_rwlock_unlock(access) }
        return try unsafe body(&value.pointee)
    }

    /// Whether a reader or a writer holds the gate: whoever comes now waits until its section begins.
    package borrowing func isGateHeld() -> Bool { gate.isHeld() }
}
