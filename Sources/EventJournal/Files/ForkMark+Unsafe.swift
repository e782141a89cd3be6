internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Tells a process from its forks.
///
/// A page that the kernel clears in a forked child holds a random number: reading it costs no system call, where the process id would cost one for every number that is
/// drawn. It also tells of children made without the C library (`clone`), which runs no handlers of `pthread_atfork`. A child that shares its parent's memory (`vfork`)
/// shares the page with it, and what has been drawn from.
///
/// Unsafe, because the page is mapped by a system call; it is never unmapped, and nothing but one atomic number is in it.
enum ForkMark {
    /// A number that the process shares with no other, also not with its parent, nor with a child.
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

    /// The page; nil where the system cannot clear one in a child, which is then told by its process id.
    nonisolated(unsafe) private static let page: UnsafeMutablePointer<Atomic<UInt64>>? = {
        let size = Int(getpagesize())
        let map = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | anonymous, -1, 0)
        guard let map = unsafe map, unsafe map != MAP_FAILED else { return nil }
        #if canImport(Darwin)
            // VM_INHERIT_ZERO, a macro that is not imported (mach/vm_inherit.h).
            let status = unsafe minherit(map, size, 3)
        #else
            // MADV_WIPEONFORK, since Linux 4.14; not every C library names it.
            let status = unsafe madvise(map, size, 18)
        #endif
        guard status == 0 else {
            unsafe munmap(map, size)
            return nil
        }
        // The page is all zeros, which is an atomic zero.
        return unsafe map.bindMemory(to: Atomic<UInt64>.self, capacity: 1)
    }()

    #if canImport(Darwin)
        private static let anonymous = MAP_ANON
    #else
        private static let anonymous = MAP_ANONYMOUS
    #endif
}
