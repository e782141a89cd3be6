import EventJournal
import Locking

/// A storage that has room for a number of segments, which are created under temporary names.
final class FullDisk: JournalStorage {
    private let base: any JournalStorage
    private let room = Lock(Int.max)

    init(_ base: any JournalStorage) { self.base = base }

    func setRoom(_ segmentCount: Int) { room.withLock { $0 = segmentCount } }

    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        if mode == .create, path.hasSuffix(".segment.tmp") {
            try room.withLock { room throws(StorageError) in
                guard room > 0 else { throw StorageError(.full, .open, path: path) }
                room -= 1
            }
        }
        return try base.open(path, mode)
    }
    func kind(of path: String) throws(StorageError) -> StorageEntryKind? { try base.kind(of: path) }
    func list(_ directory: String) throws(StorageError) -> [String] { try base.list(directory) }
    func rename(_ path: String, to target: String) throws(StorageError) { try base.rename(path, to: target) }
    func remove(_ path: String) throws(StorageError) { try base.remove(path) }
    func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
    func syncDirectory(_ path: String) throws(StorageError) { try base.syncDirectory(path) }
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { try base.lock(path) }
    func isLocked(_ path: String) throws(StorageError) -> Bool { try base.isLocked(path) }
}
