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
        guard try EventJournal.convertingStorageErrors({ () throws(StorageError) in try storage.isLink(path) }) else { return }
        throw JournalError(.ioFailed, "The directory is a symbolic link, which is not followed here.", path: path)
    }

    var lockPath: String { file(DirectoryListing.lockName) }

    /// The directory that contains this directory.
    var parent: String { StoragePath.parent(of: path) }

    /// The error for a path that is not a journal.
    var notAJournal: JournalError {
        JournalError(.notAJournal, "Not a journal: the path is a file, or a directory with other content.", path: path)
    }

    func list() throws(JournalError) -> DirectoryListing {
        DirectoryListing(try EventJournal.convertingStorageErrors { () throws(StorageError) in try storage.list(path) })
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
            let created = try EventJournal.convertingStorageErrors { () throws(StorageError) in
                let created = try storage.open(new.temporary, .create)
                try bytes.withBytes { (span) throws(StorageError) in try created.write(span, at: 0) }
                return created
            }
            try prepare(created)
            try EventJournal.convertingStorageErrors { () throws(StorageError) in try created.sync() }
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

    var temporary: String { directory.file(name + DirectoryListing.temporarySuffix) }

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
    func abandon() {
        try? directory.storage.remove(temporary)
    }
}

/// The names in a journal's directory by their meaning.
struct DirectoryListing {
    static let lockName = "lock"
    static let durableName = "durable"
    static let cutName = "cut"
    static let scrubName = "scrub"
    static let erasedName = "erased"
    static let ledgerName = "ledger"
    static let treeName = "tree"
    static let roleName = "role"
    static let temporarySuffix = ".tmp"
    static let segmentSuffix = ".segment"
    static let checkpointSuffix = ".checkpoint"

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
            case Self.lockName, Self.scrubName, Self.erasedName, Self.ledgerName, Self.treeName, Self.roleName, Self.cutName: break
            case Self.durableName: hasDurableFile = true
            default:
                if let first = Self.firstPosition(of: name) {
                    segments.append((first, name))
                } else if Self.isTemporary(name) {
                    temporaryFiles.append(name)
                } else if Self.isCheckpoint(name) {
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

    static func segmentName(_ first: Position) -> String {
        padded(first) + segmentSuffix
    }

    /// Returns the number with 20 digits, so that names sort in the order of positions.
    static func padded(_ number: UInt64) -> String {
        let text = String(number)
        return String(repeating: "0", count: 20 - text.utf8.count) + text
    }

    private static func firstPosition(of name: String) -> Position? {
        guard name.hasSuffix(segmentSuffix), name.utf8.count == 20 + segmentSuffix.utf8.count,
            let first = Position(name.dropLast(segmentSuffix.count)), first >= 1, segmentName(first) == name
        else { return nil }
        return first
    }

    private static func isTemporary(_ name: String) -> Bool {
        guard name.hasSuffix(temporarySuffix) else { return false }
        let target = String(name.dropLast(temporarySuffix.count))
        return target == durableName || target == ledgerName || target == roleName || firstPosition(of: target) != nil
            || isCheckpoint(target)
    }

    /// Returns the file name of a projection's checkpoint.
    ///
    /// - Parameter position: The position of the checkpoint, for one of several.
    static func checkpointName(_ projection: String, at position: Position? = nil) -> String {
        projection + (position.map { "." + padded($0) } ?? "") + checkpointSuffix
    }

    /// Returns the position in the file name of one of a projection's checkpoints, or nil for any
    /// other name.
    static func checkpointPosition(of name: String, _ projection: String) -> Position? {
        let prefix = projection + "."
        guard name.hasPrefix(prefix), name.hasSuffix(checkpointSuffix),
            let position = Position(name.dropFirst(prefix.count).dropLast(checkpointSuffix.count)),
            checkpointName(projection, at: position) == name
        else { return nil }
        return position
    }

    /// Returns whether a text is a valid projection name: 1 to 32 ASCII letters, digits and
    /// hyphens.
    static func isProjectionName(_ text: some StringProtocol) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    static func isCheckpoint(_ name: String) -> Bool {
        guard name.hasSuffix(checkpointSuffix), let projection = name.split(separator: ".").first, isProjectionName(projection) else {
            return false
        }
        return name == checkpointName(String(projection)) || checkpointPosition(of: name, String(projection)) != nil
    }
}
