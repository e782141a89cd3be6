import Locking

@testable import EventJournal

/// Records the calls to another storage and injects faults.
final class FaultyStorage: JournalStorage {
    struct Call: Equatable {
        var operation: StorageError.Operation
        var path: String
        var bytes: Range<UInt64>?

        init(_ operation: StorageError.Operation, _ path: String, _ bytes: Range<UInt64>? = nil) {
            self.operation = operation
            self.path = path
            self.bytes = bytes
        }
    }

    private struct State {
        var calls: [Call] = []
        var fault: (@Sendable (Call) -> StorageError?)?
        var written = 0
    }

    let base: MemoryStorage
    private let state = Lock(State())

    init(_ base: MemoryStorage) {
        self.base = base
    }

    var calls: [Call] { state.withLock { $0.calls } }

    /// Sets the fault of later calls: a call for which the closure returns an error throws it and
    /// has no effect.
    ///
    /// A failed write still writes its first `count` bytes. The closure runs before the call.
    func fail(writing count: Int = 0, _ fault: (@Sendable (Call) -> StorageError?)?) {
        state.withLock { ($0.written, $0.fault) = (count, fault) }
    }

    fileprivate func note(_ call: Call) throws(StorageError) {
        // The closure runs outside the lock, so that it can block one call while other calls
        // continue.
        let fault = state.withLock { state in
            state.calls.append(call)
            return state.fault
        }
        if let error = fault?(call) { throw error }
    }

    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        try note(Call(.open, path))
        return File(self, try base.open(path, mode), path)
    }

    func kind(of path: String) throws(StorageError) -> StorageEntryKind? {
        try note(Call(.inspect, path))
        return base.kind(of: path)
    }

    func list(_ directory: String) throws(StorageError) -> [String] {
        try note(Call(.list, directory))
        return try base.list(directory)
    }

    func rename(_ path: String, to target: String) throws(StorageError) {
        try note(Call(.rename, path))
        try base.rename(path, to: target)
    }

    func remove(_ path: String) throws(StorageError) {
        try note(Call(.remove, path))
        try base.remove(path)
    }

    func createDirectory(_ path: String) throws(StorageError) {
        try note(Call(.createDirectory, path))
        try base.createDirectory(path)
    }

    func syncDirectory(_ path: String) throws(StorageError) {
        try note(Call(.syncDirectory, path))
    }

    func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { base.lock(path) }

    func isLocked(_ path: String) throws(StorageError) -> Bool { base.isLocked(path) }

    private final class File: StorageFile {
        let storage: FaultyStorage
        let base: any StorageFile
        let path: String

        init(_ storage: FaultyStorage, _ base: any StorageFile, _ path: String) {
            self.storage = storage
            self.base = base
            self.path = path
        }

        func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
            try storage.note(Call(.read, path, offset..<(offset + UInt64(bytes.byteCount))))
            return try base.read(into: &bytes, at: offset)
        }

        func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
            do throws(StorageError) {
                try storage.note(Call(.write, path, offset..<(offset + UInt64(bytes.byteCount))))
            } catch {
                let count = min(storage.state.withLock { $0.written }, bytes.byteCount)
                try base.write(bytes.extracting(0..<count), at: offset)
                throw error
            }
            try base.write(bytes, at: offset)
        }

        func sync() throws(StorageError) {
            try storage.note(Call(.sync, path))
            try base.sync()
        }

        func size() throws(StorageError) -> UInt64 { try base.size() }

        func truncate(to size: UInt64) throws(StorageError) {
            try storage.note(Call(.truncate, path, size..<size))
            try base.truncate(to: size)
        }

        func allocate(to size: UInt64) throws(StorageError) {
            try storage.note(Call(.allocate, path, size..<size))
            try base.allocate(to: size)
        }
    }
}
