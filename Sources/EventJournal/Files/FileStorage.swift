/// Files of the operating system, accessible to their owner only and closed on exec.
///
/// Files have the mode 0600, directories 0700.
public struct FileStorage: JournalStorage {
    /// Creates the storage.
    ///
    /// All instances are equivalent.
    public init() {}

    /// Opens the file at `path`.
    public func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        PosixFile(try Descriptor(path, mode, .open), path)
    }

    /// Returns the kind of entry at `path`, or nil if no entry exists.
    public func kind(of path: String) throws(StorageError) -> StorageEntryKind? { try SystemCalls.kind(of: path) }

    /// Returns whether the last name of `path` is a symbolic link; false if no entry exists.
    public func isLink(_ path: String) throws(StorageError) -> Bool { try SystemCalls.isLink(path) }

    /// Returns the device and the inode of the file at `path`.
    public func identity(of path: String) throws(StorageError) -> StorageIdentity? {
        try SystemCalls.identity(of: path)
    }

    /// Returns the names in a directory, without `.` and `..`, in any order.
    public func list(_ directory: String) throws(StorageError) -> [String] { try SystemCalls.list(directory) }

    /// Renames a file and replaces an existing file at the target.
    public func rename(_ path: String, to target: String) throws(StorageError) {
        try SystemCalls.rename(path, to: target)
    }

    /// Removes a file.
    public func remove(_ path: String) throws(StorageError) { try SystemCalls.remove(path) }

    /// Creates a directory.
    public func createDirectory(_ path: String) throws(StorageError) { try SystemCalls.createDirectory(path) }

    /// Makes the names in a directory durable.
    public func syncDirectory(_ path: String) throws(StorageError) {
        let descriptor = try Descriptor(directory: path)
        try SystemCalls.syncDirectory(descriptor.number, path)
    }

    /// Acquires the lock of a lock file without waiting.
    ///
    /// Returns nil if the lock is held.
    public func lock(_ path: String) throws(StorageError) -> (any StorageLock)? {
        let descriptor: Descriptor
        do throws(StorageError) {
            descriptor = try Descriptor(path, .readWrite, .lock)
        } catch  where error.kind == .notFound {
            descriptor = try Descriptor(createKeeping: path, .lock)
        }
        guard try SystemCalls.tryLock(descriptor.number, path) else { return nil }
        return PosixLock(descriptor)
    }

    /// Returns whether the lock of a lock file is held.
    public func isLocked(_ path: String) throws(StorageError) -> Bool {
        let descriptor: Descriptor
        do throws(StorageError) {
            descriptor = try Descriptor(path, .read, .lock)
        } catch  where error.kind == .notFound {
            return false
        }
        return try SystemCalls.isLocked(descriptor.number, path)
    }
}

/// An open file descriptor that closes when its owner is released.
struct Descriptor: ~Copyable {
    let number: Int32

    init(_ path: String, _ mode: StorageOpenMode, _ operation: StorageError.Operation) throws(StorageError) {
        number = try SystemCalls.open(path, mode, operation)
    }

    /// Opens the file and keeps its content.
    ///
    /// Creates the file if it does not exist.
    init(createKeeping path: String, _ operation: StorageError.Operation) throws(StorageError) {
        number = try SystemCalls.openOrCreate(path, operation)
    }

    /// Opens a directory for its sync.
    init(directory path: String) throws(StorageError) { number = try SystemCalls.openDirectory(path) }

    deinit { SystemCalls.close(number) }
}

private final class PosixFile: StorageFile {
    private let descriptor: Descriptor
    private let path: String

    init(_ descriptor: consuming Descriptor, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
        try SystemCalls.read(descriptor.number, into: &bytes, at: offset, path)
    }

    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
        try SystemCalls.write(descriptor.number, bytes, at: offset, path)
    }

    func sync() throws(StorageError) { try SystemCalls.sync(descriptor.number, path) }

    func size() throws(StorageError) -> UInt64 { try SystemCalls.size(descriptor.number, path) }

    func truncate(to size: UInt64) throws(StorageError) { try SystemCalls.truncate(descriptor.number, to: size, path) }

    func allocate(to size: UInt64) throws(StorageError) {
        let present = try self.size()
        if present < size { try SystemCalls.allocate(descriptor.number, present..<size, path) }
    }

    func identity() throws(StorageError) -> StorageIdentity? { try SystemCalls.identity(descriptor.number, path) }
}

/// A lock of an open file description.
///
/// The kernel releases it with the descriptor, also when the process dies.
private final class PosixLock: StorageLock {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    func unlock() { SystemCalls.unlock(descriptor.number) }
}
