// Unsafe, because system calls take addresses; each is that of an array or a string that
// outlives the call.
#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Files that only the owner may read (mode 0600), created exclusively.
///
/// A path may lead through symbolic links to directories. Its last component is never followed if
/// it is a link: the file would be read, written or given another mode elsewhere.
package enum PrivateFile {
    package enum Creation { case created, exists, failed }

    /// Creates a durable file with the bytes; a file with this name stays as it is.
    package static func create(_ path: String, _ bytes: [UInt8]) -> Creation {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno == EEXIST ? .exists : .failed }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe write(descriptor, $0.baseAddress.map { unsafe $0 + written }, $0.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            written += count
        }
        let isSynced = fsync(descriptor) == 0
        let isClosed = close(descriptor) == 0
        guard written == bytes.count, isSynced, isClosed else {
            remove(path)
            return .failed
        }
        return .created
    }

    /// Returns at most `limit` bytes of a regular file, or nil if it cannot be read.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit)
        #if canImport(Darwin)
            let count = unsafe Darwin.read(descriptor, &bytes, limit)
        #elseif canImport(Musl)
            let count = unsafe Musl.read(descriptor, &bytes, limit)
        #else
            let count = unsafe Glibc.read(descriptor, &bytes, limit)
        #endif
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// Locks a file for one opening, of any process; nil if another one has it, or has removed the
    /// file meanwhile.
    ///
    /// The system frees the lock of a process that ends, in whatever way.
    ///
    /// - Parameter opened: Is called between the opening and the lock, for a test.
    package static func lock(_ path: String, opened: () -> Void = {}) -> FileLock? {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let lock = FileLock(descriptor)
        opened()
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
        // The lock of a file without its name does not concern the file that has the name now.
        var (locked, named) = (stat(), stat())
        guard unsafe fstat(descriptor, &locked) == 0, unsafe lstat(path, &named) == 0, locked.st_ino == named.st_ino,
            locked.st_dev == named.st_dev
        else { return nil }
        return lock
    }

    /// Takes all rights from other users of the machine.
    package static func restrict(_ path: String) -> Bool {
        // Not by a descriptor: closing a second one of a database would end the locks of SQLite.
        unsafe !isLink(path) && chmod(path, 0o600) == 0
    }

    /// Whether the last component of a path is a symbolic link, with or without a target.
    package static func isLink(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Whether the path names something, which may be a link without a target.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Whether the path leads to a directory.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns the path with its directory resolved to one without symbolic links; the last
    /// component stays as it is.
    package static func resolvingDirectory(of path: String) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        // Without a directory the opening reports what is wrong.
        guard let resolved = unsafe realpath(directory, nil) else { return path }
        defer { unsafe free(resolved) }
        let name = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
        let parent = unsafe String(cString: resolved)
        return parent == "/" ? "/\(name)" : "\(parent)/\(name)"
    }

    package static func move(_ path: String, to target: String) -> Bool { unsafe rename(path, target) == 0 }

    @discardableResult package static func remove(_ path: String) -> Bool { unsafe unlink(path) == 0 }

    /// Opens a private file for reading and removes its name; the descriptor belongs to the
    /// caller.
    package static func openUnlinked(_ path: String) -> Int32? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        remove(path)
        return descriptor
    }
}

/// A locked file, until the object is gone.
package final class FileLock: Sendable {
    private let descriptor: Int32

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
}
