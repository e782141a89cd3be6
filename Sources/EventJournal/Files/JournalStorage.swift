/// The file operations of a journal, with POSIX semantics.
///
/// Implement it to store a journal elsewhere than in files, or to inject storage failures. A
/// journal relies on these guarantees:
/// - A write is durable after the file's `sync` and not before.
/// - A file's name, created by `open` or `rename`, is durable after `syncDirectory` of its
///   directory.
/// - A rename replaces its target atomically.
/// - New space reads as zeros.
///
/// Any thread may call every method.
public protocol JournalStorage: Sendable {
    /// Opens the file at `path`.
    ///
    /// A link at the path is never followed: a new file takes its place.
    ///
    /// - Throws: An error of the kind ``StorageError/Kind/notFound`` if the mode needs an existing
    ///   file and none exists, and of the kind ``StorageError/Kind/symbolicLink`` if it needs one
    ///   and the path is a link.
    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile
    /// Returns the kind of entry at `path`, or nil if no entry exists.
    ///
    /// A link is a directory if it leads to one; any other link, also one to nowhere, is `other`.
    func kind(of path: String) throws(StorageError) -> StorageEntryKind?
    /// Returns whether the last name of `path` is a symbolic link; false if no entry exists.
    ///
    /// The default implementation returns false, for a storage without links. A storage that passes
    /// its calls to another one passes this call, too.
    func isLink(_ path: String) throws(StorageError) -> Bool
    /// Returns the identity of the file at `path`, which is not followed if it is a link.
    ///
    /// The default implementation returns nil, for a storage whose files nobody else can remove or
    /// replace. A storage that passes its calls to another one passes this call, too.
    ///
    /// - Throws: An error of the kind ``StorageError/Kind/notFound`` if no entry exists.
    func identity(of path: String) throws(StorageError) -> StorageIdentity?
    /// Returns the names in a directory, without `.` and `..`, in any order.
    ///
    /// - Throws: An error of the kind ``StorageError/Kind/notFound`` if the directory does not
    ///   exist.
    func list(_ directory: String) throws(StorageError) -> [String]
    /// Renames a file and replaces an existing file at the target.
    ///
    /// - Throws: An error of the kind ``StorageError/Kind/notFound`` if the file does not exist.
    func rename(_ path: String, to target: String) throws(StorageError)
    /// Removes a file.
    ///
    /// - Throws: An error of the kind ``StorageError/Kind/notFound`` if the file does not exist.
    func remove(_ path: String) throws(StorageError)
    /// Creates a directory for its owner only.
    ///
    /// - Throws: An error of the kind ``StorageError/Kind/alreadyExists`` if an entry exists at the
    ///   path, and of the kind ``StorageError/Kind/notFound`` if the parent does not exist.
    func createDirectory(_ path: String) throws(StorageError)
    /// Makes the names in a directory durable.
    func syncDirectory(_ path: String) throws(StorageError)
    /// Acquires the exclusive lock of a lock file, or returns nil if a process holds it.
    ///
    /// Creates the file if it does not exist. Never waits. The lock is held until the returned
    /// object is released or the process ends. The holder may be this process or another one.
    ///
    /// - Throws: An error of the kind ``StorageError/Kind/notFound`` if the directory does not
    ///   exist.
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)?
    /// Returns whether the lock of a lock file is held, without acquiring it.
    ///
    /// Returns false if the file does not exist. Writes nothing.
    func isLocked(_ path: String) throws(StorageError) -> Bool
}

extension JournalStorage {
    /// Returns false: the storage has no links.
    public func isLink(_ path: String) throws(StorageError) -> Bool { false }

    /// Returns nil: nobody else can remove or replace files.
    public func identity(of path: String) throws(StorageError) -> StorageIdentity? { nil }
}

/// The identity of a file, which it keeps under every name.
public struct StorageIdentity: Hashable, Sendable {
    /// The number of the device or file system.
    public var device: UInt64
    /// The number of the file there.
    public var file: UInt64

    /// Creates an identity from its numbers.
    public init(device: UInt64, file: UInt64) { (self.device, self.file) = (device, file) }
}

/// An open file, read and written by offset.
///
/// The file closes when the object is released.
public protocol StorageFile: AnyObject, Sendable {
    /// Fills the span from `offset` and returns the number of bytes read.
    ///
    /// The number is less than the span's count only at the end of the file.
    func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int
    /// Writes all bytes at `offset` and extends the file if needed.
    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError)
    /// Makes the written bytes and the size durable.
    func sync() throws(StorageError)
    /// The size in bytes.
    func size() throws(StorageError) -> UInt64
    /// Truncates the file to `size` bytes, or extends it with zeros.
    func truncate(to size: UInt64) throws(StorageError)
    /// Reserves space for at least `size` bytes.
    ///
    /// New bytes read as zeros.
    ///
    /// - Throws: An error of the kind ``StorageError/Kind/full`` if the space is insufficient; the
    ///   file may then have grown in part.
    func allocate(to size: UInt64) throws(StorageError)
    /// The identity of the file; nil if the storage has no identities, as by default.
    func identity() throws(StorageError) -> StorageIdentity?
}

extension StorageFile {
    /// Returns nil: the storage has no identities.
    public func identity() throws(StorageError) -> StorageIdentity? { nil }
}

/// A held lock, released with the object or earlier by `unlock`.
public protocol StorageLock: AnyObject, Sendable {
    /// Releases the lock.
    ///
    /// A second call does nothing.
    func unlock()
}

/// The mode in which a file is opened.
public enum StorageOpenMode: Sendable {
    /// An existing file, for reading.
    case read
    /// An existing file, for reading and writing.
    case readWrite
    /// A new, empty file for its owner only, for reading and writing; it replaces an existing file.
    case create
}

/// The kind of entry at a path.
public enum StorageEntryKind: Sendable {
    /// A regular file.
    case file
    /// A directory.
    case directory
    /// Any other entry, for example a device or a socket.
    case other
}

/// A storage operation that failed.
public struct StorageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, as far as a journal distinguishes them.
    public enum Kind: String, Sendable {
        /// The path does not exist.
        case notFound
        /// The path exists already.
        case alreadyExists
        /// Access is denied.
        case accessDenied
        /// A part of the path is not a directory.
        case notADirectory
        /// The disk is full, or a quota is exhausted.
        case full
        /// The path is a symbolic link, which is not followed.
        case symbolicLink
        /// Any other failure.
        case failed
    }

    /// The storage operations, for messages and for injecting failures.
    public enum Operation: String, Sendable, CaseIterable {
        /// Opening or creating a file.
        case open
        /// Reading.
        case read
        /// Writing.
        case write
        /// Syncing a file.
        case sync
        /// Reading a size or a kind of entry.
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
        /// Acquiring or testing a lock.
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

    /// The kind of failure.
    public var kind: Kind
    /// The operation that failed.
    public var operation: Operation
    /// The path concerned.
    public var path: String
    /// The system's error number, if the failure has one.
    public var errno: Int32?

    /// Creates an error from its parts.
    public init(_ kind: Kind, _ operation: Operation, path: String, errno: Int32? = nil) {
        self.kind = kind
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// The operation, the path and the error number on one line.
    public var description: String {
        "could not \(operation.phrase) \(path): \(kind)" + (errno.map { " (errno \($0))" } ?? "")
    }
}
