#if Client || canImport(SQLite3)
    #if canImport(SQLite3)
        import SQLite3
    #else
        import CSQLite
    #endif
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif
    import Locking

    /// A disk that has no room for a file beyond some bytes, as SQLite meets it.
    ///
    /// Unsafe, because SQLite takes the system calls that it makes as addresses of C functions. All
    /// other files are written as before.
    enum SmallDisk {
        fileprivate static let bound = Lock<(path: String, room: Int)?>(nil)

        /// Has SQLite meet a full disk when a file becomes longer, until ``end()``.
        ///
        /// One file at a time; the calls of SQLite stay replaced.
        static func begin(_ path: String, room: Int) {
            bound.withLock { $0 = (path, room) }
            guard let system = unsafe sqlite3_vfs_find(nil), let replace = unsafe system.pointee.xSetSystemCall else {
                return
            }
            let next: Write = unsafe writeNext
            let at: WriteAt = unsafe writeAt
            _ = unsafe replace(system, "write", unsafeBitCast(next, to: sqlite3_syscall_ptr.self))
            for name in ["pwrite", "pwrite64"] {
                _ = unsafe replace(system, name, unsafeBitCast(at, to: sqlite3_syscall_ptr.self))
            }
        }

        /// Makes room again.
        static func end() { bound.withLock { $0 = nil } }
    }

    private typealias Write = @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int
    private typealias WriteAt = @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int

    private func writeNext(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        if isFull(file, lseek(file, 0, SEEK_CUR) + off_t(count)) { return -1 }
        return unsafe write(file, bytes, count)
    }

    private func writeAt(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ offset: off_t) -> Int {
        if isFull(file, offset + off_t(count)) { return -1 }
        return unsafe pwrite(file, bytes, count, offset)
    }

    /// Whether a file has no room up to an offset.
    private func isFull(_ file: Int32, _ end: off_t) -> Bool {
        guard let bound = SmallDisk.bound.withLock({ $0 }), end > bound.room else { return false }
        var (open, named) = (stat(), stat())
        guard unsafe fstat(file, &open) == 0, unsafe stat(bound.path, &named) == 0, open.st_ino == named.st_ino,
            open.st_dev == named.st_dev
        else { return false }
        errno = ENOSPC
        return true
    }
#endif
