import EventJournal
internal import Locking

/// An open file of a simulated disk; it stays usable after its name is removed.
final class SimulatedFile: StorageFile {
    private let disk: SimulatedDisk
    private let number: Int
    private let path: String
    private let isWritable: Bool

    init(_ disk: SimulatedDisk, _ number: Int, _ path: String, isWritable: Bool) {
        self.disk = disk
        self.number = number
        self.path = path
        self.isWritable = isWritable
    }

    func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
        try disk.perform(.read, path) { (state, fault) throws(StorageError) in
            try SimulatedDisk.check(fault, .read, path)
            guard let offset = Int(exactly: offset) else { return 0 }
            return state.image.file(number).read(into: &bytes, at: offset)
        }
    }

    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
        try disk.perform(.write, path) { (state, fault) throws(StorageError) in
            try checkWritable(.write)
            let room = SimulatedDisk.maximumFileSize - bytes.byteCount
            guard room >= 0, offset <= UInt64(room) else {
                throw StorageError(.full, .write, path: path, number: .fileTooLarge)
            }
            var count = bytes.byteCount
            if case .fails = fault {
                count = Int.random(in: 0...count, using: &state.random)
                if state.image.tearing == nil && count < bytes.byteCount {
                    // File systems write in blocks: a partial write ends at a sector boundary.
                    let end = Int(offset) + count
                    count = max(0, end - end % SparseBytes.sectorSize - Int(offset))
                }
            }
            state.image.change(number) { file, change in
                file.write(bytes.extracting(0..<count), at: Int(offset), number: change)
            }
            try SimulatedDisk.check(fault, .write, path)
        }
    }

    func sync() throws(StorageError) {
        try disk.perform(.sync, path) { (state, fault) throws(StorageError) in
            switch fault {
            case nil: state.image.sync(number)
            case .losesSync: break
            case .fails: state.image.change(number) { file, _ in file.dropPendingSectors() }
            }
            try SimulatedDisk.check(fault, .sync, path)
        }
    }

    func size() throws(StorageError) -> UInt64 {
        try disk.perform(.inspect, path) { (state, fault) throws(StorageError) in
            try SimulatedDisk.check(fault, .inspect, path)
            return UInt64(state.image.file(number).size)
        }
    }

    func truncate(to size: UInt64) throws(StorageError) {
        try disk.perform(.truncate, path) { (state, fault) throws(StorageError) in
            try SimulatedDisk.check(fault, .truncate, path)
            try checkWritable(.truncate)
            try checkSize(size, .truncate)
            state.image.change(number) { file, change in file.resize(to: Int(size), number: change) }
        }
    }

    func allocate(to size: UInt64) throws(StorageError) {
        try disk.perform(.allocate, path) { (state, fault) throws(StorageError) in
            try checkWritable(.allocate)
            try checkSize(size, .allocate)
            let present = state.image.file(number).size
            var reached = Int(size)
            if present < reached {
                if case .fails = fault { reached = Int.random(in: present...reached, using: &state.random) }
                state.image.change(number) { file, change in file.resize(to: reached, number: change) }
            }
            try SimulatedDisk.check(fault, .allocate, path)
        }
    }

    private func checkWritable(_ operation: StorageError.Operation) throws(StorageError) {
        guard isWritable else { throw StorageError(.failed, operation, path: path, number: .badDescriptor) }
    }

    private func checkSize(_ size: UInt64, _ operation: StorageError.Operation) throws(StorageError) {
        guard size <= UInt64(SimulatedDisk.maximumFileSize) else {
            throw StorageError(.full, operation, path: path, number: .fileTooLarge)
        }
    }
}

/// A held lock of a simulated disk.
final class SimulatedLock: StorageLock {
    private let disk: SimulatedDisk

    init(_ disk: SimulatedDisk) {
        self.disk = disk
    }

    func unlock() {
        let owner = ObjectIdentifier(self)
        disk.state.withLock { state in state.locks = state.locks.filter { $0.value != owner } }
    }

    deinit {
        unlock()
    }
}
