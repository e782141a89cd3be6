#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Repeats an attempt to lock for some microseconds, then while other threads run.
///
/// Sections last a few microseconds, and a thread that sleeps is woken some fifty later: it sleeps
/// only if this fails. The yields let a holder run that this thread has displaced from its
/// processor. Measurements: Benchmarks/README.md, Q and W4.
///
/// - Parameter attempt: Returns 0 if it has locked.
/// - Returns: Whether an attempt has locked.
@usableFromInline func retrying(_ attempt: () -> Int32) -> Bool {
    for _ in 0..<5_000 where attempt() == 0 { return true }
    for _ in 0..<40 {
        sched_yield()
        if attempt() == 0 { return true }
    }
    return false
}
