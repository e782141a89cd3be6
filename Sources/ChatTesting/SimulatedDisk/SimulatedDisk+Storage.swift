public import EventJournal

extension SimulatedDisk: JournalStorage {
    /// Opens the file at `path`.
    ///
    /// With `StorageOpenMode.create`, an existing file is truncated to 0 bytes, which is pending
    /// like any truncation.
    public func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        let number = try performWhole(.open, path) { (state) throws(StorageError) in
            guard mode == .create else { return try state.image.fileNumber(at: path, .open) }
            guard try state.image.node(at: path, .open) != nil else {
                return try state.image.createFile(at: path, .open)
            }
            let number = try state.image.fileNumber(at: path, .open)
            state.image.change(number) { file, change in file.resize(to: 0, number: change) }
            return number
        }
        return SimulatedFile(self, number, path, isWritable: mode != .read)
    }

    /// Returns the kind of the entry at `path`; nil if no entry exists.
    public func kind(of path: String) throws(StorageError) -> StorageEntryKind? {
        try performWhole(.inspect, path) { (state) throws(StorageError) in
            switch try state.image.node(at: path, .inspect) {
            case nil: nil
            case .file: .file
            case .directory: .directory
            }
        }
    }

    /// Returns the names in a directory, sorted.
    public func list(_ directory: String) throws(StorageError) -> [String] {
        try performWhole(.list, directory) { (state) throws(StorageError) in
            state.image.names(in: try state.image.directoryNumber(at: directory, .list))
        }
    }

    /// Renames a file and replaces an existing target; pending until both directories are synced.
    public func rename(_ path: String, to target: String) throws(StorageError) {
        try performWhole(.rename, path) { (state) throws(StorageError) in try state.image.rename(path, to: target) }
    }

    /// Removes the name of a file; pending until its directory is synced.
    ///
    /// Open handles of the file can still read and write it.
    public func remove(_ path: String) throws(StorageError) {
        try performWhole(.remove, path) { (state) throws(StorageError) in try state.image.remove(path) }
    }

    /// Creates a directory; pending until its parent directory is synced.
    public func createDirectory(_ path: String) throws(StorageError) {
        try performWhole(.createDirectory, path) { (state) throws(StorageError) in
            try state.image.createDirectory(at: path)
        }
    }

    /// Makes the names in a directory durable.
    ///
    /// After a failure the names stay pending: they are metadata, which a file system writes
    /// through its own journal or not at all.
    public func syncDirectory(_ path: String) throws(StorageError) {
        try perform(.syncDirectory, path) { (state, fault) throws(StorageError) in
            try Self.check(fault, .syncDirectory, path)
            let directory = try state.image.directoryNumber(at: path, .syncDirectory)
            if fault != .losesSync { state.image.syncDirectory(directory) }
        }
    }

    /// Takes the lock of a lock file, until it is released or a crash; nil if it is already held.
    ///
    /// Creates the file if it does not exist.
    public func lock(_ path: String) throws(StorageError) -> (any StorageLock)? {
        let lock = SimulatedLock(self)
        let file: Int? = try performWhole(.lock, path) { (state) throws(StorageError) in
            let number: Int
            if try state.image.node(at: path, .lock) == nil {
                number = try state.image.createFile(at: path, .lock)
            } else {
                number = try state.image.fileNumber(at: path, .lock)
            }
            guard state.locks[number] == nil else { return nil }
            state.locks[number] = ObjectIdentifier(lock)
            return number
        }
        return file == nil ? nil : lock
    }

    /// Returns whether the lock of a lock file is held.
    public func isLocked(_ path: String) throws(StorageError) -> Bool {
        try performWhole(.lock, path) { (state) throws(StorageError) in
            guard try state.image.node(at: path, .lock) != nil else { return false }
            return state.locks[try state.image.fileNumber(at: path, .lock)] != nil
        }
    }
}

extension SimulatedDisk {
    /// Runs an operation that has no effect at all if a fault applies.
    private func performWhole<Result: Sendable>(
        _ operation: StorageError.Operation, _ path: String, _ body: (inout State) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try perform(operation, path) { (state, fault) throws(StorageError) in
            try Self.check(fault, operation, path)
            return try body(&state)
        }
    }

    /// Throws the error of a fault that fails the operation.
    static func check(_ fault: DiskFault.Effect?, _ operation: StorageError.Operation, _ path: String)
        throws(StorageError)
    {
        guard case .fails(let kind) = fault else { return }
        let number: ErrorNumber =
            switch kind {
            case .notFound: .notFound
            // The disk has no links, and the number of their error differs between systems.
            case .failed, .symbolicLink: .inputOutput
            case .accessDenied: .accessDenied
            case .alreadyExists: .alreadyExists
            case .notADirectory: .notADirectory
            case .full: .noSpace
            }
        throw StorageError(kind, operation, path: path, number: number)
    }
}

/// The error numbers of a simulated disk, which are the same on Linux and Apple platforms.
enum ErrorNumber: Int32 {
    /// `ENOENT`.
    case notFound = 2
    /// `EIO`.
    case inputOutput = 5
    /// `EBADF`.
    case badDescriptor = 9
    /// `EACCES`.
    case accessDenied = 13
    /// `EEXIST`.
    case alreadyExists = 17
    /// `ENOTDIR`.
    case notADirectory = 20
    /// `EISDIR`.
    case isADirectory = 21
    /// `EFBIG`.
    case fileTooLarge = 27
    /// `ENOSPC`.
    case noSpace = 28
}

extension StorageError {
    init(_ kind: Kind, _ operation: Operation, path: String, number: ErrorNumber) {
        self.init(kind, operation, path: path, errno: number.rawValue)
    }
}
