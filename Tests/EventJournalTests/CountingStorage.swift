import Locking

@testable import EventJournal

/// Counts open files, reads and bytes read of another storage.
final class CountingStorage: JournalStorage {
    private let base: MemoryStorage
    private let state = Lock((open: 0, most: 0, bytesRead: 0, reads: 0))

    init(_ base: MemoryStorage) { self.base = base }

    /// The maximum number of files open at once.
    var openFiles: Int { state.withLock { $0.most } }

    /// The number of bytes read so far.
    var bytesRead: Int { state.withLock { $0.bytesRead } }

    /// The number of reads so far.
    var reads: Int { state.withLock { $0.reads } }

    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        let file = File(try base.open(path, mode), self)
        state.withLock { state in
            state.open += 1
            state.most = max(state.most, state.open)
        }
        return file
    }

    func kind(of path: String) throws(StorageError) -> StorageEntryKind? { base.kind(of: path) }
    func list(_ directory: String) throws(StorageError) -> [String] { try base.list(directory) }
    func rename(_ path: String, to target: String) throws(StorageError) { try base.rename(path, to: target) }
    func remove(_ path: String) throws(StorageError) { try base.remove(path) }
    func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
    func syncDirectory(_ path: String) throws(StorageError) { base.syncDirectory(path) }
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { base.lock(path) }
    func isLocked(_ path: String) throws(StorageError) -> Bool { base.isLocked(path) }

    private final class File: StorageFile {
        private let base: any StorageFile
        private let storage: CountingStorage

        init(_ base: any StorageFile, _ storage: CountingStorage) {
            self.base = base
            self.storage = storage
        }

        deinit { storage.state.withLock { $0.open -= 1 } }

        func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
            let count = try base.read(into: &bytes, at: offset)
            storage.state.withLock { state in
                state.bytesRead += count
                state.reads += 1
            }
            return count
        }
        func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) { try base.write(bytes, at: offset) }
        func sync() throws(StorageError) { try base.sync() }
        func size() throws(StorageError) -> UInt64 { try base.size() }
        func truncate(to size: UInt64) throws(StorageError) { try base.truncate(to: size) }
        func allocate(to size: UInt64) throws(StorageError) { try base.allocate(to: size) }
    }
}
