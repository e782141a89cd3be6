/// The names of a journal's directory, sorted out.
struct DirectoryListing {
    static let lockName = "lock"
    static let durableName = "durable"
    static let cutName = "cut"
    static let temporarySuffix = ".tmp"
    static let segmentSuffix = ".segment"

    /// The segment files in the order of their first positions.
    var segments: [(first: Position, name: String)] = []
    /// What an interrupted creation left.
    var temporaries: [String] = []
    var hasDurable = false
    var hasCut = false
    /// Whether there are names that no journal makes.
    var hasForeign = false

    init(_ names: [String]) {
        for name in names {
            switch name {
            case Self.lockName: break
            case Self.durableName: hasDurable = true
            case Self.cutName: hasCut = true
            default:
                if let first = Self.firstPosition(of: name) {
                    segments.append((first, name))
                } else if Self.isTemporary(name) {
                    temporaries.append(name)
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
        return target == durableName || firstPosition(of: target) != nil
    }
}

/// A journal's directory on its storage.
struct JournalDirectory: Sendable {
    let path: String
    let storage: any Storage

    init(_ path: String, _ storage: any Storage) {
        // "a/b/" and "a/b" are the same directory; the root stays itself.
        var path = path
        while path.utf8.count > 1 && path.hasSuffix("/") { path.removeLast() }
        self.path = path
        self.storage = storage
    }

    func file(_ name: String) -> String { path == "/" ? "/" + name : path + "/" + name }

    var lockPath: String { file(DirectoryListing.lockName) }

    /// The directory that holds this one's name.
    var parent: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    func list() throws(JournalError) -> DirectoryListing {
        DirectoryListing(try EventJournal.storage { () throws(StorageError) in try storage.list(path) })
    }

    /// Makes a file of these bytes with `size` bytes of space, so that it is there whole or not at all: written aside, synced, renamed,
    /// the directory synced.
    func create(_ name: String, _ bytes: [UInt8], prepare: (any StorageFile) throws(JournalError) -> Void = { (_) in })
        throws(JournalError) -> any StorageFile
    {
        let temporary = file(name + DirectoryListing.temporarySuffix)
        let created = try EventJournal.storage { () throws(StorageError) in
            let created = try storage.open(temporary, .create)
            try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try created.write(span, at: 0) }
            return created
        }
        try prepare(created)
        return try EventJournal.storage { () throws(StorageError) in
            try created.sync()
            try storage.rename(temporary, to: file(name))
            try storage.syncDirectory(path)
            // Opened once more, so that later errors name the file as it is called from now on.
            return try storage.open(file(name), .readWrite)
        }
    }
}
