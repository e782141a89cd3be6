internal import Synchronization

/// The files of sealed segments: opened as they are read, and only the latest few kept open.
///
/// A journal may have more segments than a process may have files, each crash adds one, so only the last segment's file is held.
final class SealedFiles: Sendable {
    /// Enough for a working set of segments, and far below the least limit that is met in practice (256).
    static let capacity = 64

    private struct State {
        var files: [String: any StorageFile] = [:]
        /// The paths, the one used longest ago first.
        var order: [String] = []
    }

    private let storage: any Storage
    private let state = Mutex(State())

    init(_ storage: any Storage) {
        self.storage = storage
    }

    /// The file at a path, as a segment holds it.
    func file(_ path: String) -> any StorageFile { SealedFile(self, path) }

    /// The open file; whoever is reading it keeps it open even if it leaves the pool meanwhile.
    fileprivate func open(_ path: String) throws(StorageError) -> any StorageFile {
        try state.withLock { (state) throws(StorageError) in
            if let file = state.files[path] {
                if state.order.last != path {
                    state.order.removeAll { $0 == path }
                    state.order.append(path)
                }
                return file
            }
            let file = try storage.open(path, .read)
            if state.order.count == Self.capacity { state.files[state.order.removeFirst()] = nil }
            state.files[path] = file
            state.order.append(path)
            return file
        }
    }
}

/// One file of the pool, which is only read: what is sealed has been synced and does not change.
private final class SealedFile: StorageFile {
    private let pool: SealedFiles
    private let path: String

    init(_ pool: SealedFiles, _ path: String) {
        self.pool = pool
        self.path = path
    }

    func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
        try pool.open(path).read(into: &bytes, at: offset)
    }

    func size() throws(StorageError) -> UInt64 { try pool.open(path).size() }

    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) { throw StorageError(.accessDenied, .write, path: path) }

    func sync() throws(StorageError) { throw StorageError(.accessDenied, .sync, path: path) }

    func truncate(to size: UInt64) throws(StorageError) { throw StorageError(.accessDenied, .truncate, path: path) }

    func allocate(to size: UInt64) throws(StorageError) { throw StorageError(.accessDenied, .allocate, path: path) }
}
