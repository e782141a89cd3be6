import Primitives
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Distinguishes a process from its forks.
///
/// The mark is a random number in a page that the kernel clears in a forked child. Reading it needs
/// no system call, unlike the process id. It also detects children created without the C library
/// (`clone`), which runs no `pthread_atfork` handlers. A child that shares its parent's memory
/// (`vfork`) shares the page and the drawn entropy with it.
///
/// Unsafe, because a system call maps the page. The page contains one atomic number and is never
/// unmapped.
enum ForkMark {
    /// A number that no other process has, neither the parent nor a child.
    static var current: UInt64 {
        guard let mark = unsafe page else { return UInt64(bitPattern: Int64(getpid())) }
        let present = unsafe mark.pointee.load(ordering: .acquiring)
        if present != 0 { return present }
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
        bytes.withMutableBytes(0..<8) { SystemCalls.fillWithEntropy(&$0) }
        let fresh = max(1, bytes.withBytes(0..<8) { (span) -> UInt64 in span.integer(at: 0) })
        let (isExchanged, original) = unsafe mark.pointee.compareExchange(
            expected: 0, desired: fresh, ordering: .acquiringAndReleasing)
        return isExchanged ? fresh : original
    }

    /// The page, or nil if the system cannot clear a page in a child; the process id replaces it
    /// then.
    nonisolated(unsafe) private static let page: UnsafeMutablePointer<Atomic<UInt64>>? = {
        let size = Int(getpagesize())
        let map = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | anonymous, -1, 0)
        guard let map = unsafe map, unsafe map != MAP_FAILED else { return nil }
        #if canImport(Darwin)
            // VM_INHERIT_ZERO, a macro that Swift does not import (mach/vm_inherit.h).
            let status = unsafe minherit(map, size, 3)
        #else
            // MADV_WIPEONFORK, available since Linux 4.14; some C libraries do not define it.
            let status = unsafe madvise(map, size, 18)
        #endif
        guard status == 0 else {
            unsafe munmap(map, size)
            return nil
        }
        // The mapped page contains zeros, a valid representation of an atomic zero.
        return unsafe map.bindMemory(to: Atomic<UInt64>.self, capacity: 1)
    }()

    #if canImport(Darwin)
        private static let anonymous = MAP_ANON
    #else
        private static let anonymous = MAP_ANONYMOUS
    #endif
}
