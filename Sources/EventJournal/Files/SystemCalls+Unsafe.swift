#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif
import Primitives

/// The system calls of the module, with interruptions (EINTR) and short counts handled.
///
/// `SystemCalls+Apple.swift` contains the calls that differ on Apple platforms.
///
/// Unsafe, because system calls take addresses. Each address is that of a span or a local variable
/// that outlives the call, with its own count.
enum SystemCalls {
    /// Returns the error for the current `errno`.
    ///
    /// Call it immediately after the failed call.
    static func failure(_ operation: StorageError.Operation, _ path: String, _ code: Int32 = errno) -> StorageError {
        let kind: StorageError.Kind =
            switch code {
            case ENOENT: .notFound
            case EEXIST: .alreadyExists
            case EACCES, EPERM, EROFS: .accessDenied
            case ENOTDIR: .notADirectory
            case ENOSPC, EDQUOT, EFBIG: .full
            case ELOOP: .symbolicLink
            default: .failed
            }
        return StorageError(kind, operation, path: path, errno: code)
    }

    /// Repeats a call that returns -1 on failure while a signal interrupts it.
    static func retrying<Value: SignedInteger>(
        _ operation: StorageError.Operation, _ path: String, _ call: () -> Value
    ) throws(StorageError) -> Value {
        while true {
            let value = call()
            if value != -1 { return value }
            if errno != EINTR { throw failure(operation, path) }
        }
    }

    /// Suspends the thread for the duration, or for less if a signal arrives.
    static func pause(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        _ = unsafe nanosleep(&time, nil)
    }

    /// The time of day, which the operator can set, in milliseconds.
    static func millisecondsSince1970() -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1_000 + UInt64(max(0, time.tv_nsec)) / 1_000_000
    }

    // MARK: Names

    /// Rejects an empty path and a path with a zero byte, at which the system would end the path.
    private static func check(_ path: String, _ operation: StorageError.Operation) throws(StorageError) {
        if path.isEmpty || path.utf8.contains(0) { throw StorageError(.notFound, operation, path: path, errno: nil) }
    }

    static func open(_ path: String, _ mode: StorageOpenMode, _ operation: StorageError.Operation) throws(StorageError)
        -> Int32
    {
        try check(path, operation)
        let flags =
            switch mode {
            // Non-blocking, because opening a FIFO would otherwise block forever. A link is not
            // followed: bytes would be read or written elsewhere.
            case .read: O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
            case .readWrite: O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
            // An existing entry is removed first, so that a link at the path is replaced and not
            // followed.
            case .create: O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
            }
        if case .create = mode {
            do throws(StorageError) { try remove(path) } catch  where error.kind == .notFound {}
        }
        return try open(path, flags: flags, operation)
    }

    /// Opens a directory for its sync; the path of a journal may be a link to one.
    static func openDirectory(_ path: String) throws(StorageError) -> Int32 {
        try check(path, .syncDirectory)
        return try open(path, flags: O_RDONLY | O_CLOEXEC | O_NONBLOCK, .syncDirectory)
    }

    static func openOrCreate(_ path: String, _ operation: StorageError.Operation) throws(StorageError) -> Int32 {
        try check(path, operation)
        return try open(path, flags: O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, operation)
    }

    /// Opens a file or a directory; a new file is readable and writable for its owner only.
    private static func open(_ path: String, flags: Int32, _ operation: StorageError.Operation) throws(StorageError)
        -> Int32
    {
        try prepareOpened(try retrying(operation, path) { openFile(path, flags) }, path, operation)
    }

    /// Moves a descriptor above the numbers of the standard streams.
    ///
    /// In a process started without standard streams, printed text would otherwise go into the
    /// file.
    private static func moveAboveStandardStreams(
        _ descriptor: Int32, _ path: String, _ operation: StorageError.Operation
    ) throws(StorageError) -> Int32 {
        if descriptor > STDERR_FILENO { return descriptor }
        defer { close(descriptor) }
        return try retrying(operation, path) { fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
    }

    /// Moves a new descriptor above the standard streams, and rejects every entry but files and
    /// directories: devices and FIFOs have no bytes at offsets.
    private static func prepareOpened(
        _ opened: Int32, _ path: String, _ operation: StorageError.Operation
    ) throws(StorageError) -> Int32 {
        let descriptor = try moveAboveStandardStreams(opened, path, operation)
        var status = stat()
        do throws(StorageError) {
            _ = try retrying(operation, path) { unsafe fstat(descriptor, &status) }
        } catch {
            close(descriptor)
            throw error
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: return descriptor
        default:
            close(descriptor)
            throw StorageError(.failed, operation, path: path, errno: nil)
        }
    }

    static func close(_ descriptor: Int32) {
        // Not repeated: after an interrupted close the number may already belong to another file.
        // No data is lost, because the journal synced it before.
        _ = closeFile(descriptor)
    }

    static func kind(of path: String) throws(StorageError) -> StorageEntryKind? {
        try check(path, .inspect)
        var status = stat()
        do throws(StorageError) {
            _ = try retrying(.inspect, path) { unsafe stat(path, &status) }
        } catch  where error.kind == .notFound || error.kind == .symbolicLink {
            return try isLink(path) ? .other : nil
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return try isLink(path) ? .other : .file
        case S_IFDIR: return .directory
        default: return .other
        }
    }

    static func isLink(_ path: String) throws(StorageError) -> Bool {
        do throws(StorageError) {
            return try statusOfName(path).st_mode & S_IFMT == S_IFLNK
        } catch  where error.kind == .notFound {
            return false
        }
    }

    /// Returns the status of the entry itself, also of a link.
    private static func statusOfName(_ path: String) throws(StorageError) -> stat {
        try check(path, .inspect)
        var status = stat()
        _ = try retrying(.inspect, path) { unsafe lstat(path, &status) }
        return status
    }

    static func identity(of path: String) throws(StorageError) -> StorageIdentity {
        StorageIdentity(try statusOfName(path))
    }

    static func identity(_ descriptor: Int32, _ path: String) throws(StorageError) -> StorageIdentity {
        var status = stat()
        _ = try retrying(.inspect, path) { unsafe fstat(descriptor, &status) }
        return StorageIdentity(status)
    }

    static func list(_ directory: String) throws(StorageError) -> [String] {
        try check(directory, .list)
        guard let stream = unsafe opendir(directory) else { throw failure(.list, directory) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            // readdir signals its end and its failure by errno alone.
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                if errno != 0 { throw failure(.list, directory) }
                return names
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    static func rename(_ path: String, to target: String) throws(StorageError) {
        try check(path, .rename)
        try check(target, .rename)
        _ = try retrying(.rename, path) { renameFile(path, target) }
    }

    static func remove(_ path: String) throws(StorageError) {
        try check(path, .remove)
        _ = try retrying(.remove, path) { unsafe unlink(path) }
    }

    static func createDirectory(_ path: String) throws(StorageError) {
        try check(path, .createDirectory)
        _ = try retrying(.createDirectory, path) { unsafe mkdir(path, 0o700) }
    }

    static func syncDirectory(_ descriptor: Int32, _ path: String) throws(StorageError) {
        _ = try retrying(.syncDirectory, path) { fsync(descriptor) }
    }

    // MARK: Bytes

    /// Converts a file offset to the system's type.
    ///
    /// Throws if the type cannot represent it.
    private static func fileOffset(
        _ offset: UInt64, _ operation: StorageError.Operation, _ path: String
    ) throws(StorageError) -> off_t {
        guard let position = off_t(exactly: offset) else {
            throw StorageError(.failed, operation, path: path, errno: EOVERFLOW)
        }
        return position
    }

    static func read(
        _ descriptor: Int32, into bytes: inout MutableRawSpan, at offset: UInt64, _ path: String
    ) throws(StorageError) -> Int {
        let start = try fileOffset(offset, .read, path)
        let wanted = bytes.byteCount
        var done = 0
        var code: Int32 = 0
        unsafe bytes.withUnsafeMutableBytes { buffer in
            while done < wanted {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let count = unsafe pread(descriptor, rest.baseAddress, rest.count, start + off_t(done))
                if count > 0 {
                    done += count
                } else if count == 0 {
                    return
                } else if errno != EINTR {
                    code = errno
                    return
                }
            }
        }
        if code != 0 { throw failure(.read, path, code) }
        return done
    }

    static func write(_ descriptor: Int32, _ bytes: RawSpan, at offset: UInt64, _ path: String) throws(StorageError) {
        let start = try fileOffset(offset, .write, path)
        var code: Int32 = 0
        unsafe bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                let count = unsafe pwrite(descriptor, rest.baseAddress, rest.count, start + off_t(done))
                if count > 0 {
                    done += count
                } else if count == 0 {
                    code = EIO
                    return
                } else if errno != EINTR {
                    code = errno
                    return
                }
            }
        }
        if code != 0 { throw failure(.write, path, code) }
    }

    static func size(_ descriptor: Int32, _ path: String) throws(StorageError) -> UInt64 {
        var status = stat()
        _ = try retrying(.inspect, path) { unsafe fstat(descriptor, &status) }
        return UInt64(max(0, status.st_size))
    }

    static func truncate(_ descriptor: Int32, to size: UInt64, _ path: String) throws(StorageError) {
        let size = try fileOffset(size, .truncate, path)
        _ = try retrying(.truncate, path) { ftruncate(descriptor, size) }
    }

    /// Writes zeros, to reserve space on a file system that cannot reserve it otherwise.
    static func writeZeros(_ descriptor: Int32, _ range: Range<UInt64>, _ path: String) throws(StorageError) {
        let zeros = [UInt8](repeating: 0, count: 65_536)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(UInt64(zeros.count), range.upperBound - offset))
            try zeros.withBytes(0..<count) { (bytes) throws(StorageError) in
                try write(descriptor, bytes, at: offset, path)
            }
            offset += UInt64(count)
        }
    }

    #if !canImport(Darwin)

        static func sync(_ descriptor: Int32, _ path: String) throws(StorageError) {
            _ = try retrying(.sync, path) { fdatasync(descriptor) }
        }

        /// Reserves space beyond the end of a file.
        ///
        /// On a file system that cannot reserve space, zeros are written: by the GNU C library, and
        /// here with musl, which passes on the error of the system call.
        static func allocate(_ descriptor: Int32, _ range: Range<UInt64>, _ path: String) throws(StorageError) {
            let start = try fileOffset(range.lowerBound, .allocate, path)
            let end = try fileOffset(range.upperBound, .allocate, path)
            while true {
                // Returns its error and does not set errno.
                let code = posix_fallocate(descriptor, start, end - start)
                if code == 0 { return }
                if code == EOPNOTSUPP { return try writeZeros(descriptor, range, path) }
                if code != EINTR { throw failure(.allocate, path, code) }
            }
        }

        // The C library's module omits these two constants, which are the same on every Linux
        // (fcntl.h).
        private static let ofdGetLock: Int32 = 36
        private static let ofdSetLock: Int32 = 37

        /// Acquires a lock of the open file description (fcntl(2), "Open file description locks").
        ///
        /// A second open in this process cannot acquire the lock either. Closing another descriptor
        /// of the file does not release it.
        static func tryLock(_ descriptor: Int32, _ path: String) throws(StorageError) -> Bool {
            var lock = wholeFileLock(F_WRLCK)
            while unsafe fcntl(descriptor, ofdSetLock, &lock) == -1 {
                if errno == EAGAIN || errno == EACCES { return false }
                if errno != EINTR { throw failure(.lock, path) }
            }
            return true
        }

        static func unlock(_ descriptor: Int32) {
            var lock = wholeFileLock(F_UNLCK)
            // Cannot fail for a lock of the whole file on an open descriptor; closing the
            // descriptor would release the lock as well.
            _ = unsafe fcntl(descriptor, ofdSetLock, &lock)
        }

        static func isLocked(_ descriptor: Int32, _ path: String) throws(StorageError) -> Bool {
            var lock = wholeFileLock(F_WRLCK)
            _ = try retrying(.lock, path) { unsafe fcntl(descriptor, ofdGetLock, &lock) }
            return lock.l_type != Int16(F_UNLCK)
        }

        private static func wholeFileLock(_ type: Int32) -> flock {
            var lock = flock()
            lock.l_type = Int16(type)
            lock.l_whence = Int16(SEEK_SET)
            return lock
        }

        static func fillWithEntropy(_ bytes: inout MutableRawSpan) {
            unsafe bytes.withUnsafeMutableBytes { buffer in
                var done = 0
                while done < buffer.count {
                    // getentropy(3) returns at most 256 bytes per call, all or none.
                    let count = min(256, buffer.count - done)
                    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<(done + count)])
                    if unsafe getentropy(rest.baseAddress, count) != 0 {
                        // On a kernel without the call, the standard library's generator has other
                        // ways to the same source.
                        var generator = SystemRandomNumberGenerator()
                        for index in rest.indices { unsafe rest[index] = generator.next() }
                    }
                    done += count
                }
            }
        }

    #endif
}

extension StorageIdentity {
    /// The numbers have other types on other systems; equal files have equal bits.
    fileprivate init(_ status: stat) {
        self.init(device: UInt64(truncatingIfNeeded: status.st_dev), file: UInt64(truncatingIfNeeded: status.st_ino))
    }
}

// The functions of the C library whose names those of `SystemCalls` hide.
private func openFile(_ path: String, _ flags: Int32) -> Int32 { unsafe open(path, flags, 0o600) }
private func renameFile(_ path: String, _ target: String) -> Int32 { unsafe rename(path, target) }
private func closeFile(_ descriptor: Int32) -> Int32 { close(descriptor) }
