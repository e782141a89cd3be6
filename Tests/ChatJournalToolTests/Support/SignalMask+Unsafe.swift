#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The signals that a thread has blocked, which a process that it starts inherits.
///
/// Unsafe, because system calls take the addresses of the sets, which are local variables.
enum SignalMask {
    /// Does something with a signal unblocked: the threads of a test have blocked it.
    static func unblocking(_ signal: Int32, _ body: () throws -> Void) rethrows {
        var (signals, former) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, signal)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, &former)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
        try body()
    }
}
