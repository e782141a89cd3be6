/// All file access of a journal: a narrow set of operations with the meaning of POSIX.
///
/// Implement it to put a journal on something else than files, or to make a disk fail on purpose. What a journal relies on: a write is
/// durable only after the file's `sync`; a file's name, made by `open` or `rename`, only after `syncDirectory` of its directory; a rename
/// replaces its target atomically; new space reads as zeros. Every method may be called from any thread.
public protocol JournalStorage: Sendable {
    /// Opens the file at `path`.
    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile
    /// What is at `path`; nil when there is nothing.
    func kind(of path: String) throws(StorageError) -> StorageEntryKind?
    /// The names in a directory, without `.` and `..`, in any order.
    func list(_ directory: String) throws(StorageError) -> [String]
    /// Renames a file, replacing what is at the target.
    func rename(_ path: String, to target: String) throws(StorageError)
    /// Removes a file.
    func remove(_ path: String) throws(StorageError)
    /// Creates a directory, for its owner only; an error when there is something at the path.
    func createDirectory(_ path: String) throws(StorageError)
    /// Makes the names in a directory durable.
    func syncDirectory(_ path: String) throws(StorageError)
    /// Takes the exclusive lock of a lock file, which is created when absent; nil when somebody holds it, in this process or another.
    /// Never waits. The lock is held until the object is released or the process ends.
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)?
    /// Whether somebody holds the lock of a lock file, without taking it; false when there is no such file. Writes nothing.
    func isLocked(_ path: String) throws(StorageError) -> Bool
}

/// An open file, read and written by position.
///
/// Closed when it is released.
public protocol StorageFile: AnyObject, Sendable {
    /// Fills the span from `offset` on and returns the count of bytes read, which is less than the span's only at the end of the file.
    func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int
    /// Writes all of the bytes at `offset`, extending the file when needed.
    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError)
    /// Makes what was written, and the size, durable.
    func sync() throws(StorageError)
    /// The size in bytes.
    func size() throws(StorageError) -> UInt64
    /// Cuts the file to `size` bytes, or extends it with zeros.
    func truncate(to size: UInt64) throws(StorageError)
    /// Makes sure that the file has at least `size` bytes with space for all of them, new ones reading as zeros; an error of kind
    /// ``StorageError/Kind/full`` when there is not enough, in which case the size may have grown in part.
    func allocate(to size: UInt64) throws(StorageError)
}

/// A held lock; released with the object, or earlier by `unlock`.
public protocol StorageLock: AnyObject, Sendable {
    /// Releases the lock; the second time does nothing.
    func unlock()
}

/// How a file is opened.
public enum StorageOpenMode: Sendable {
    /// An existing file, for reading.
    case read
    /// An existing file, for reading and writing.
    case readWrite
    /// A new, empty file for its owner only, for reading and writing; what was at the path is replaced.
    case create
}

/// What a path leads to.
public enum StorageEntryKind: Sendable {
    /// A regular file.
    case file
    /// A directory.
    case directory
    /// Anything else: a device, a socket.
    case other
}

/// A storage operation that failed.
public struct StorageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What sort of failure it is, as far as a journal has to tell them apart.
    public enum Kind: String, Sendable {
        /// Nothing is at the path.
        case notFound
        /// Something is at the path already.
        case alreadyExists
        /// Access is denied.
        case accessDenied
        /// A part of the path is not a directory.
        case notADirectory
        /// There is no space, or a quota is used up.
        case full
        /// Any other failure.
        case failed
    }

    /// The operations, for messages and for injecting failures.
    public enum Operation: String, Sendable, CaseIterable {
        /// Opening or creating a file.
        case open
        /// Reading.
        case read
        /// Writing.
        case write
        /// Syncing a file.
        case sync
        /// Asking for a size or kind.
        case inspect
        /// Truncating.
        case truncate
        /// Reserving space.
        case allocate
        /// Listing a directory.
        case list
        /// Renaming.
        case rename
        /// Removing.
        case remove
        /// Creating a directory.
        case createDirectory
        /// Syncing a directory.
        case syncDirectory
        /// Locking or asking for a lock.
        case lock

        var phrase: String {
            switch self {
            case .open: "open the file"
            case .read: "read the file"
            case .write: "write the file"
            case .sync: "sync the file"
            case .inspect: "inspect the path"
            case .truncate: "truncate the file"
            case .allocate: "reserve space for the file"
            case .list: "list the directory"
            case .rename: "rename the file"
            case .remove: "remove the file"
            case .createDirectory: "create the directory"
            case .syncDirectory: "sync the directory"
            case .lock: "lock the file"
            }
        }
    }

    /// What sort of failure it is.
    public var kind: Kind
    /// The operation that failed.
    public var operation: Operation
    /// The path concerned.
    public var path: String
    /// The system's error number, when there is one.
    public var errno: Int32?

    /// Makes an error of its parts.
    public init(_ kind: Kind, _ operation: Operation, path: String, errno: Int32? = nil) {
        self.kind = kind
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// The operation, the path and the error number, on one line.
    public var description: String {
        "could not \(operation.phrase) \(path): \(kind)" + (errno.map { " (errno \($0))" } ?? "")
    }
}
