/// A journal's directory on its storage.
struct JournalDirectory: Sendable {
    let path: String
    let storage: any JournalStorage

    init(_ path: String, _ storage: any JournalStorage) {
        // "a/b/" and "a/b" are the same directory; the root stays itself.
        self.path = StoragePath.withoutTrailingSlashes(path)
        self.storage = storage
    }

    func file(_ name: String) -> String { StoragePath.join(path, name) }

    var lockPath: String { file(DirectoryListing.lockName) }

    /// The directory that holds this one's name.
    var parent: String { StoragePath.parent(of: path) }

    /// The error for a path at which there is something else than a journal.
    var notAJournal: JournalError {
        JournalError(.notAJournal, "There is something else than a journal at the path.", path: path)
    }

    func list() throws(JournalError) -> DirectoryListing {
        DirectoryListing(try EventJournal.storage { () throws(StorageError) in try storage.list(path) })
    }

    /// Makes a file that begins with these bytes, so that it is there whole or not at all: written aside and synced; taking it gives it its
    /// name.
    func make(
        _ name: String, _ bytes: [UInt8], prepare: (any StorageFile) throws(JournalError) -> Void = { (_) in }
    ) throws(JournalError) -> NewFile {
        let new = NewFile(name: name, directory: self)
        do throws(JournalError) {
            let created = try EventJournal.storage { () throws(StorageError) in
                let created = try storage.open(new.temporary, .create)
                try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try created.write(span, at: 0) }
                return created
            }
            try prepare(created)
            try EventJournal.storage { () throws(StorageError) in try created.sync() }
            return new
        } catch {
            new.abandon()
            throw error
        }
    }
}

/// A file that has been made aside, whole and synced.
struct NewFile {
    /// The name that it is to have.
    let name: String
    let directory: JournalDirectory

    var temporary: String { directory.file(name + DirectoryListing.temporarySuffix) }

    /// Gives the file its name, durably, and opens it under it, so that later errors name it as it is called from now on.
    func take() throws(JournalError) -> any StorageFile {
        try storage { () throws(StorageError) in
            try directory.storage.rename(temporary, to: directory.file(name))
            try directory.storage.syncDirectory(directory.path)
            return try directory.storage.open(directory.file(name), .readWrite)
        }
    }

    /// Gives back the space that the file takes.
    ///
    /// Done as well as it can be: nobody reads the file under this name, and the next writer removes it.
    func abandon() {
        try? directory.storage.remove(temporary)
    }
}

/// The names of a journal's directory, sorted out.
struct DirectoryListing {
    static let lockName = "lock"
    static let durableName = "durable"
    static let cutName = "cut"
    static let scrubName = "scrub"
    static let temporarySuffix = ".tmp"
    static let segmentSuffix = ".segment"
    static let checkpointSuffix = ".checkpoint"

    /// The segment files in the order of their first positions.
    var segments: [(first: Position, name: String)] = []
    /// What an interrupted creation left.
    var temporaries: [String] = []
    var hasDurable = false
    /// Whether there are names that no journal makes.
    var hasForeign = false

    init(_ names: [String]) {
        for name in names {
            switch name {
            case Self.lockName, Self.scrubName, Self.cutName: break
            case Self.durableName: hasDurable = true
            default:
                if let first = Self.firstPosition(of: name) {
                    segments.append((first, name))
                } else if Self.isTemporary(name) {
                    temporaries.append(name)
                } else if Self.isCheckpoint(name) {
                    continue
                } else {
                    hasForeign = true
                }
            }
        }
        segments.sort { $0.first < $1.first }
    }

    /// Whether this is a journal, as far as names tell.
    var isJournal: Bool { hasDurable || !segments.isEmpty }

    static func segmentName(_ first: Position) -> String {
        padded(first) + segmentSuffix
    }

    /// Twenty digits, so that names sort as positions do.
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
        return target == durableName || firstPosition(of: target) != nil || isCheckpoint(target)
    }

    /// The file of a projection's checkpoint.
    static func checkpointName(_ projection: String) -> String { projection + checkpointSuffix }

    /// Whether a text can name a projection in a directory: 1 to 32 ASCII letters, digits and hyphens.
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

    private static func isCheckpoint(_ name: String) -> Bool {
        name.hasSuffix(checkpointSuffix) && isProjectionName(name.dropLast(checkpointSuffix.count))
    }
}
