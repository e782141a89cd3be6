#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Repeats an attempt to lock for some 25 microseconds, then while other threads run, for a
/// millisecond at most.
///
/// A thread that sleeps is woken some 50 microseconds after the lock is free, and most sections are
/// shorter than that: a thread sleeps only if this fails. The yields let a holder run that this
/// thread has displaced from its processor. Measurements: Benchmarks/README.md, Q and W4.
///
/// - Parameter attempt: Returns 0 if it has locked.
/// - Returns: Whether an attempt has locked.
@usableFromInline func retrying(_ attempt: () -> Int32) -> Bool {
    let (attempts, yields) = (5_000, 40)
    for _ in 0..<attempts {
        if attempt() == 0 { return true }
    }
    let end = ContinuousClock.now + .milliseconds(1)
    for _ in 0..<yields where ContinuousClock.now < end {
        sched_yield()
        if attempt() == 0 { return true }
    }
    return false
}
