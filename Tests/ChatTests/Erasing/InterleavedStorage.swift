import ChatTesting
import EventJournal
import Locking

/// A storage that performs an action before one of its operations, as another process can, or fails
/// from one of its renames on, as a process that is killed.
///
/// The action uses the storage below. It runs within the operation, so a single thread interleaves
/// a writer and a reader in a way that a seed repeats.
final class InterleavedStorage: JournalStorage {
    private let base: any JournalStorage
    private let planned = Lock<(count: Int, action: (@Sendable () throws -> Void)?)>((0, nil))
    private let failure = Lock<(any Error)?>(nil)
    /// The number of renames until the process is killed; nil for never.
    private let renamesLeft = Lock<Int?>(nil)

    init(_ base: any JournalStorage) { self.base = base }

    /// Performs the action before the operation after `count` others, or by the next call of
    /// ``finish()``.
    func plan(after count: Int, _ action: @escaping @Sendable () throws -> Void) {
        planned.withLock { $0 = (count, action) }
    }

    /// Performs the planned action if it was not yet, and throws the error of the action.
    func finish() throws {
        perform(isDue: true)
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Fails every operation from the rename after `count` others on.
    func kill(afterRenames count: Int) { renamesLeft.withLock { $0 = count } }

    var isKilled: Bool { renamesLeft.withLock { $0.map { $0 < 0 } ?? false } }

    fileprivate func checkAlive(_ operation: StorageError.Operation, _ path: String) throws(StorageError) {
        let isKilled = renamesLeft.withLock { left in
            guard let count = left, operation == .rename || count < 0 else { return false }
            left = count < 0 ? count : count - 1
            return count <= 0
        }
        if isKilled { throw StorageError(.failed, operation, path: path) }
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
        try checkAlive(.open, path)
        return InterleavedFile(try base.open(path, mode), path, self)
    }
    func kind(of path: String) throws(StorageError) -> StorageEntryKind? { try base.kind(of: path) }
    func isLink(_ path: String) throws(StorageError) -> Bool { try base.isLink(path) }
    func list(_ directory: String) throws(StorageError) -> [String] {
        perform()
        return try base.list(directory)
    }
    func rename(_ path: String, to target: String) throws(StorageError) {
        perform()
        try checkAlive(.rename, path)
        try base.rename(path, to: target)
    }
    func remove(_ path: String) throws(StorageError) {
        perform()
        try checkAlive(.remove, path)
        try base.remove(path)
    }
    func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
    func syncDirectory(_ path: String) throws(StorageError) {
        perform()
        try checkAlive(.sync, path)
        try base.syncDirectory(path)
    }
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { try base.lock(path) }
    func isLocked(_ path: String) throws(StorageError) -> Bool { try base.isLocked(path) }
}

private final class InterleavedFile: StorageFile {
    private let base: any StorageFile
    private let path: String
    private let storage: InterleavedStorage

    init(_ base: any StorageFile, _ path: String, _ storage: InterleavedStorage) {
        (self.base, self.path, self.storage) = (base, path, storage)
    }

    func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
        try base.read(into: &bytes, at: offset)
    }
    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
        storage.perform()
        try storage.checkAlive(.write, path)
        try base.write(bytes, at: offset)
    }
    func sync() throws(StorageError) {
        storage.perform()
        try storage.checkAlive(.sync, path)
        try base.sync()
    }
    func size() throws(StorageError) -> UInt64 { try base.size() }
    func truncate(to size: UInt64) throws(StorageError) {
        storage.perform()
        try storage.checkAlive(.truncate, path)
        try base.truncate(to: size)
    }
    func allocate(to size: UInt64) throws(StorageError) { try base.allocate(to: size) }
}
