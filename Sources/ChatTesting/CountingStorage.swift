package import EventJournal
import Locking

/// The numbers of storage operations that need a system call on files.
package struct StorageCounts: Hashable, Sendable {
    /// Writes of files.
    package var writes = 0
    /// Syncs of files.
    package var syncs = 0
    /// Reads of files.
    package var reads = 0
    /// Reservations of space.
    package var allocations = 0
    /// All other operations: names, sizes, locks.
    package var otherOperations = 0
    /// The bytes of all writes.
    package var bytesWritten = 0

    /// Creates counts of zero.
    package init() {}
}

/// A storage that counts the operations it forwards to another storage.
///
/// On files each operation is one system call, except that a short write or read is repeated, and
/// that a reservation first reads the size. The identities of files are not counted: a journal
/// compares them once a second.
package final class CountingStorage: JournalStorage {
    private let base: any JournalStorage
    private let state = Lock(StorageCounts())

    /// Creates a counting storage on top of another storage.
    package init(_ base: any JournalStorage) { self.base = base }

    /// The counts since the creation or the last ``reset()``.
    package var counts: StorageCounts { state.withLock { $0 } }

    /// Sets all counts to zero.
    package func reset() { state.withLock { $0 = StorageCounts() } }

    fileprivate func update(_ change: (inout StorageCounts) -> Void) { state.withLock { change(&$0) } }

    package func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        update { $0.otherOperations += 1 }
        return CountingFile(try base.open(path, mode), self)
    }

    package func kind(of path: String) throws(StorageError) -> StorageEntryKind? {
        update { $0.otherOperations += 1 }
        return try base.kind(of: path)
    }

    package func isLink(_ path: String) throws(StorageError) -> Bool {
        update { $0.otherOperations += 1 }
        return try base.isLink(path)
    }

    package func identity(of path: String) throws(StorageError) -> StorageIdentity? { try base.identity(of: path) }

    package func list(_ directory: String) throws(StorageError) -> [String] {
        update { $0.otherOperations += 1 }
        return try base.list(directory)
    }

    package func rename(_ path: String, to target: String) throws(StorageError) {
        update { $0.otherOperations += 1 }
        try base.rename(path, to: target)
    }

    package func remove(_ path: String) throws(StorageError) {
        update { $0.otherOperations += 1 }
        try base.remove(path)
    }

    package func createDirectory(_ path: String) throws(StorageError) {
        update { $0.otherOperations += 1 }
        try base.createDirectory(path)
    }

    package func syncDirectory(_ path: String) throws(StorageError) {
        update { $0.otherOperations += 1 }
        try base.syncDirectory(path)
    }

    package func lock(_ path: String) throws(StorageError) -> (any StorageLock)? {
        update { $0.otherOperations += 1 }
        return try base.lock(path)
    }

    package func isLocked(_ path: String) throws(StorageError) -> Bool {
        update { $0.otherOperations += 1 }
        return try base.isLocked(path)
    }
}

private final class CountingFile: StorageFile {
    private let base: any StorageFile
    private let storage: CountingStorage

    init(_ base: any StorageFile, _ storage: CountingStorage) {
        self.base = base
        self.storage = storage
    }

    func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
        storage.update { $0.reads += 1 }
        return try base.read(into: &bytes, at: offset)
    }

    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
        let byteCount = bytes.byteCount
        storage.update { counts in
            counts.writes += 1
            counts.bytesWritten += byteCount
        }
        try base.write(bytes, at: offset)
    }

    func sync() throws(StorageError) {
        storage.update { $0.syncs += 1 }
        try base.sync()
    }

    func size() throws(StorageError) -> UInt64 {
        storage.update { $0.otherOperations += 1 }
        return try base.size()
    }

    func truncate(to size: UInt64) throws(StorageError) {
        storage.update { $0.otherOperations += 1 }
        try base.truncate(to: size)
    }

    func allocate(to size: UInt64) throws(StorageError) {
        storage.update { $0.allocations += 1 }
        try base.allocate(to: size)
    }

    func identity() throws(StorageError) -> StorageIdentity? { try base.identity() }
}
