import ChatTesting
import EventJournal
import Locking

/// A storage that performs an action before one of its operations, as another process can.
///
/// The action uses the storage below. It runs within the operation, so a single thread interleaves
/// a writer and a reader in a way that a seed repeats.
final class InterleavedStorage: JournalStorage {
    private let base: any JournalStorage
    private let planned = Lock<(count: Int, action: (@Sendable () throws -> Void)?)>((0, nil))
    private let failure = Lock<(any Error)?>(nil)

    init(_ base: any JournalStorage) { self.base = base }

    /// Performs the action before the operation after `count` others, or by the next call of
    /// ``finish()``.
    func plan(after count: Int, _ action: @escaping @Sendable () throws -> Void) { planned.withLock { $0 = (count, action) } }

    /// Performs the planned action if it was not yet, and throws the error of the action.
    func finish() throws {
        perform(isDue: true)
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    fileprivate func perform(isDue: Bool = false) {
        let action = planned.withLock { planned in
            planned.count -= 1
            guard isDue || planned.count < 0 else { return nil as (@Sendable () throws -> Void)? }
            defer { planned.action = nil }
            return planned.action
        }
        do { try action?() } catch { failure.withLock { $0 = error } }
    }

    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        perform()
        return InterleavedFile(try base.open(path, mode), self)
    }
    func kind(of path: String) throws(StorageError) -> StorageEntryKind? { try base.kind(of: path) }
    func isLink(_ path: String) throws(StorageError) -> Bool { try base.isLink(path) }
    func list(_ directory: String) throws(StorageError) -> [String] {
        perform()
        return try base.list(directory)
    }
    func rename(_ path: String, to target: String) throws(StorageError) {
        perform()
        try base.rename(path, to: target)
    }
    func remove(_ path: String) throws(StorageError) {
        perform()
        try base.remove(path)
    }
    func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
    func syncDirectory(_ path: String) throws(StorageError) {
        perform()
        try base.syncDirectory(path)
    }
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { try base.lock(path) }
    func isLocked(_ path: String) throws(StorageError) -> Bool { try base.isLocked(path) }
}

private final class InterleavedFile: StorageFile {
    private let base: any StorageFile
    private let storage: InterleavedStorage

    init(_ base: any StorageFile, _ storage: InterleavedStorage) { (self.base, self.storage) = (base, storage) }

    func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int { try base.read(into: &bytes, at: offset) }
    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
        storage.perform()
        try base.write(bytes, at: offset)
    }
    func sync() throws(StorageError) {
        storage.perform()
        try base.sync()
    }
    func size() throws(StorageError) -> UInt64 { try base.size() }
    func truncate(to size: UInt64) throws(StorageError) {
        storage.perform()
        try base.truncate(to: size)
    }
    func allocate(to size: UInt64) throws(StorageError) { try base.allocate(to: size) }
}
