import Primitives

/// The directory of a journal on its storage.
struct JournalDirectory: Sendable {
    let path: String
    let storage: any JournalStorage

    init(_ path: String, _ storage: any JournalStorage) {
        // "a/b/" and "a/b" are the same directory; the root stays "/".
        self.path = StoragePath.withoutTrailingSlashes(path)
        self.storage = storage
    }

    func file(_ name: String) -> String { StoragePath.join(path, name) }

    /// Throws if the directory itself is a link: files would be created or removed elsewhere.
    ///
    /// Another process that changes the directory at the same time is not detected.
    func checkIsNoLink() throws(JournalError) {
        guard try convertingErrors(of: storage.isLink(path)) else { return }
        throw JournalError(.ioFailed, "The directory is a symbolic link, which is not followed here.", path: path)
    }

    var lockPath: String { file(JournalFileName.lock) }

    /// The directory that contains this directory.
    var parent: String { StoragePath.parent(of: path) }

    /// The error for a path that is not a journal.
    var notAJournal: JournalError {
        JournalError(.notAJournal, "Not a journal: the path is a file, or a directory with other content.", path: path)
    }

    /// Whether the directory exists.
    ///
    /// - Parameter other: The error if something else is at the path.
    func exists(orThrow other: @autoclosure () -> JournalError) throws(JournalError) -> Bool {
        switch try convertingErrors(of: storage.kind(of: path)) {
        case .directory: return true
        case .file, .other: throw other()
        case nil: return false
        }
    }

    /// Takes the lock of a file.
    ///
    /// - Throws: `locked` with the message if another writer has it.
    func lock(_ name: String = JournalFileName.lock, orThrow message: String) throws(JournalError) -> any StorageLock {
        guard let lock = try convertingErrors(of: storage.lock(file(name))) else {
            throw JournalError(.locked, message, path: path)
        }
        return lock
    }

    func list() throws(JournalError) -> DirectoryListing {
        DirectoryListing(try convertingErrors(of: storage.list(path)))
    }

    /// Opens a file for reading; nil if the directory has none of that name.
    func openIfPresent(_ name: String) throws(JournalError) -> (any StorageFile)? {
        do throws(StorageError) {
            return try storage.open(file(name), .read)
        } catch {
            if error.kind == .notFound { return nil }
            throw JournalError(error)
        }
    }

    /// Creates a temporary file with these first bytes and syncs it.
    ///
    /// ``TemporaryFile/publish()`` renames the file to its final name. The file therefore exists
    /// whole or not at all under that name.
    func createTemporaryFile(
        _ name: String, _ bytes: [UInt8], prepare: (any StorageFile) throws(JournalError) -> Void = { (_) in }
    ) throws(JournalError) -> TemporaryFile {
        let new = TemporaryFile(name: name, directory: self)
        do throws(JournalError) {
            let created = try convertingStorageErrors { () throws(StorageError) in
                let created = try storage.open(new.temporary, .create)
                try bytes.withBytes { (span) throws(StorageError) in try created.write(span, at: 0) }
                return created
            }
            try prepare(created)
            try convertingErrors(of: created.sync())
            return new
        } catch {
            new.abandon()
            throw error
        }
    }
}

/// A temporary file that is complete and synced, but does not have its final name.
struct TemporaryFile {
    /// The final name.
    let name: String
    let directory: JournalDirectory

    var temporary: String { directory.file(name + JournalFileName.temporarySuffix) }

    /// Renames the file durably to its final name and opens it.
    ///
    /// It opens the file under the final name, so that later errors name that path.
    func publish() throws(JournalError) -> any StorageFile {
        try convertingStorageErrors { () throws(StorageError) in
            try directory.storage.rename(temporary, to: directory.file(name))
            try directory.storage.syncDirectory(directory.path)
            return try directory.storage.open(directory.file(name), .readWrite)
        }
    }

    /// Removes the temporary file to free its space.
    ///
    /// Errors are ignored: readers ignore temporary files, and the next writer removes them.
    func abandon() { try? directory.storage.remove(temporary) }
}

/// The names in a journal's directory by their meaning.
struct DirectoryListing {
    /// The segment files in the order of their first positions.
    var segments: [(first: Position, name: String)] = []
    /// Temporary files of an interrupted creation.
    var temporaryFiles: [String] = []
    var hasDurableFile = false
    /// Whether the directory contains names that a journal never creates.
    var hasForeignFiles = false

    init(_ names: [String]) {
        for name in names {
            switch name {
            case JournalFileName.lock, JournalFileName.scrub, JournalFileName.erased, JournalFileName.ledger,
                JournalFileName.tree,
                JournalFileName.role, JournalFileName.cut:
                break
            case JournalFileName.durable: hasDurableFile = true
            default:
                if let first = JournalFileName.firstPosition(ofSegment: name) {
                    segments.append((first, name))
                } else if JournalFileName.isTemporary(name) {
                    temporaryFiles.append(name)
                } else if JournalFileName.isCheckpoint(name) {
                    continue
                } else {
                    hasForeignFiles = true
                }
            }
        }
        segments.sort { $0.first < $1.first }
    }

    /// Whether the names in the directory are those of a journal.
    var isJournal: Bool { hasDurableFile || !segments.isEmpty }
}
