#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The blocked signals of a thread; a process that the thread starts inherits them.
///
/// Unsafe, because system calls take the addresses of the sets, which are local variables.
enum SignalMask {
    /// Calls `body` with a signal unblocked, which the threads of a test block.
    static func unblocking(_ signal: Int32, _ body: () throws -> Void) rethrows {
        var (signals, former) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, signal)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, &former)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
        try body()
    }
}
