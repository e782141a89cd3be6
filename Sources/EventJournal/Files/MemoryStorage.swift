internal import Locking
import Primitives

/// Files in memory, for tests and for temporary stores.
///
/// The files live as long as the object, so a journal can be closed and reopened. Syncs do nothing,
/// because memory does not survive a crash. Reserved but unwritten space takes no memory.
public final class MemoryStorage: JournalStorage {
    private struct State {
        var files: [StorageName: MemoryFile] = [:]
        var directories: Set<StorageName> = []
        var locks: [StorageName: ObjectIdentifier] = [:]
    }

    /// Returns the normalized path that identifies a file: `a//b`, `a/./b` and `a/b` are one file.
    private static func key(_ path: String) -> StorageName { StorageName(StoragePath.normalized(path)) }

    private let state: Lock<State>

    /// Creates an empty storage.
    public init() { state = Lock(State()) }

    private init(_ state: consuming sending State) { self.state = Lock(state) }

    /// Opens the file at `path`.
    public func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        try state.withLock { (state) throws(StorageError) -> MemoryFile in
            if case .create = mode {
                let file = MemoryFile(path)
                state.files[Self.key(path)] = file
                return file
            }
            guard let file = state.files[Self.key(path)] else { throw StorageError(.notFound, .open, path: path) }
            return file
        }
    }

    /// Returns the kind of entry at `path`, or nil if no entry exists.
    public func kind(of path: String) -> StorageEntryKind? {
        state.withLock { state in
            if state.files[Self.key(path)] != nil { return .file }
            return state.directories.contains(Self.key(path)) ? .directory : nil
        }
    }

    /// Returns the names in a directory.
    public func list(_ directory: String) throws(StorageError) -> [String] {
        try state.withLock { (state) throws(StorageError) -> [String] in
            let key = Self.key(directory)
            guard state.directories.contains(key) else { throw StorageError(.notFound, .list, path: directory) }
            let paths = Array(state.files.keys) + Array(state.directories)
            return paths.filter { $0 != key && Self.key(StoragePath.parent(of: $0.text)) == key }
                .sorted().compactMap { StoragePath.components(of: $0.text).last }
        }
    }

    /// Renames a file and replaces an existing file at the target.
    public func rename(_ path: String, to target: String) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            guard let file = state.files.removeValue(forKey: Self.key(path)) else {
                throw StorageError(.notFound, .rename, path: path)
            }
            state.files[Self.key(target)] = file
        }
    }

    /// Removes a file.
    public func remove(_ path: String) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            guard state.files.removeValue(forKey: Self.key(path)) != nil else {
                throw StorageError(.notFound, .remove, path: path)
            }
        }
    }

    /// Creates a directory.
    public func createDirectory(_ path: String) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            guard state.files[Self.key(path)] == nil && state.directories.insert(Self.key(path)).inserted else {
                throw StorageError(.alreadyExists, .createDirectory, path: path)
            }
        }
    }

    /// Does nothing; names in memory need no sync.
    public func syncDirectory(_ path: String) {}

    /// Acquires the lock of a lock file without waiting.
    ///
    /// Returns nil if the lock is held.
    public func lock(_ path: String) -> (any StorageLock)? {
        let lock = MemoryLock(self, path)
        return state.withLock { state in
            guard state.locks[Self.key(path)] == nil else { return nil }
            if state.files[Self.key(path)] == nil { state.files[Self.key(path)] = MemoryFile(path) }
            state.locks[Self.key(path)] = ObjectIdentifier(lock)
            return lock
        }
    }

    /// Returns whether the lock of a lock file is held.
    public func isLocked(_ path: String) -> Bool { state.withLock { $0.locks[Self.key(path)] != nil } }

    fileprivate func unlock(_ path: String, _ owner: ObjectIdentifier) {
        state.withLock { state in
            if state.locks[Self.key(path)] == owner { state.locks[Self.key(path)] = nil }
        }
    }
}

extension MemoryStorage {
    /// Returns a separate storage with the same files and no locks, like a copy of a disk.
    ///
    /// Tests of recovery use it.
    package func copy() -> MemoryStorage {
        let (files, directories) = state.withLock { ($0.files.mapValues { $0.copy() }, $0.directories) }
        var copy = State()
        copy.directories = directories
        copy.files = files
        return MemoryStorage(copy)
    }

    /// Returns the bytes of every file by path.
    package func allContents() -> [String: [UInt8]] {
        state.withLock { state in
            Dictionary(state.files.map { ($0.text, $1.contents()) }) { _, second in second }
        }
    }

    /// Replaces the bytes of the file at a path.
    ///
    /// Creates the file if it does not exist.
    package func setContents(_ bytes: [UInt8], of path: String) {
        state.withLock { $0.files[Self.key(path)] = MemoryFile(path, bytes) }
    }
}

private final class MemoryLock: StorageLock {
    private let storage: MemoryStorage
    private let path: String

    init(_ storage: MemoryStorage, _ path: String) {
        self.storage = storage
        self.path = path
    }

    func unlock() { storage.unlock(path, ObjectIdentifier(self)) }

    deinit { unlock() }
}

/// One file's bytes.
///
/// Bytes beyond them, up to `size`, read as zeros.
private final class MemoryFile: StorageFile {
    private struct State {
        var bytes: [UInt8]
        var size: UInt64
    }

    private let path: String
    private let state: Lock<State>

    init(_ path: String, _ bytes: [UInt8] = []) {
        self.path = path
        state = Lock(State(bytes: bytes, size: UInt64(bytes.count)))
    }

    func copy() -> MemoryFile {
        let (bytes, size) = state.withLock { ($0.bytes, $0.size) }
        let copy = MemoryFile(path, bytes)
        copy.truncate(to: size)
        return copy
    }

    func contents() -> [UInt8] {
        state.withLock { $0.bytes + [UInt8](repeating: 0, count: Int($0.size) - $0.bytes.count) }
    }

    func read(into bytes: inout MutableRawSpan, at offset: UInt64) -> Int {
        state.withLock { state in
            guard offset < state.size else { return 0 }
            let count = Int(min(UInt64(bytes.byteCount), state.size - offset))
            let stored = offset < UInt64(state.bytes.count) ? min(count, state.bytes.count - Int(offset)) : 0
            if stored > 0 {
                state.bytes.withBytes(Int(offset)..<(Int(offset) + stored)) { bytes.storeBytes($0, at: 0) }
            }
            bytes.zero(stored..<count)
            return count
        }
    }

    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.byteCount))
        guard !overflow, end <= UInt64(Int.max) else { throw StorageError(.full, .write, path: path) }
        // As in POSIX, an empty write does not extend the file.
        guard bytes.byteCount > 0 else { return }
        state.withLock { state in
            let start = Int(offset)
            if state.bytes.count < start { state.bytes += [UInt8](repeating: 0, count: start - state.bytes.count) }
            let overlap = min(state.bytes.count - start, bytes.byteCount)
            if overlap > 0 {
                state.bytes.withMutableBytes(start..<(start + overlap)) {
                    $0.storeBytes(bytes.extracting(0..<overlap), at: 0)
                }
            }
            bytes.extracting(overlap..<bytes.byteCount).append(to: &state.bytes)
            state.size = max(state.size, end)
        }
    }

    func sync() {}

    func size() -> UInt64 { state.withLock { $0.size } }

    func truncate(to size: UInt64) {
        state.withLock { state in
            if UInt64(state.bytes.count) > size { state.bytes.removeLast(state.bytes.count - Int(size)) }
            state.size = size
        }
    }

    func allocate(to size: UInt64) { state.withLock { $0.size = max($0.size, size) } }
}
