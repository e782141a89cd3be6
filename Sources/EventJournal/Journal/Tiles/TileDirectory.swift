import MerkleLog
import Primitives

/// The files of a tree in the layout of C2SP *tlog-tiles*.
///
/// A file is complete under its name: it is written under a temporary name, synced and renamed. The
/// tree checkpoint, the file `checkpoint`, is written last, after the names of all tiles are
/// synced. An empty directory begins with the tree checkpoint of size 0, so that an interrupted
/// first run can be told from a directory with other content. The directory may be a link; a link
/// within it is an error, because files would be replaced or removed elsewhere.
struct TileDirectory {
    /// The number of hashes of a full tile.
    static let width: UInt64 = 256
    static let treeCheckpointName = "checkpoint"
    /// The only file without its final name; the next write replaces it.
    private static let temporaryName = "tile.tmp"

    private let directory: JournalDirectory
    /// The number of files written so far, and of files removed.
    private(set) var counts = (written: 0, removed: 0)
    /// The directories that exist, and those whose names are not yet synced.
    private var (known, unsynced): (Set<String>, Set<String>) = ([], [])
    private let lock: any StorageLock

    /// Opens a directory of tiles, creates it, or makes one of an empty directory.
    ///
    /// - Parameter check: Receives the head of an existing tree checkpoint; an error leaves the
    ///   directory unchanged.
    /// - Throws: `notAJournal` (the path is a file, or a directory with other content or a link in
    ///   the place of one of its files; it is unchanged), `locked`, the errors of `check` and of
    ///   ``head(_:)``, and those of the storage.
    init(_ directory: JournalDirectory, check: (TreeHead) throws(JournalError) -> Void) throws(JournalError) {
        self.directory = directory
        let storage = directory.storage
        if try !directory.exists(orThrow: Self.foreign(directory)) {
            try convertingErrors(of: storage.createDirectory(directory.path))
        }
        for name in [JournalFileName.lock, Self.treeCheckpointName] {
            try Self.checkIsNoLink(directory.file(name), on: storage)
        }
        // Before the lock file is created, so that a directory that is rejected stays unchanged.
        if try Self.hasTreeCheckpoint(directory) { try check(try Self.readHead(directory)) }
        lock = try directory.lock(orThrow: "Another run writes tiles to the directory.")
        // A run that was killed may not have synced the names. No tile may depend on a tree
        // checkpoint that a power failure can still remove.
        unsynced = [directory.parent, directory.path]
        try syncNames()
    }

    /// Reads the head of the tree checkpoint; writes that of the empty tree to an empty directory.
    ///
    /// - Throws: `damaged` (the tree checkpoint has another form) and the errors of the storage.
    mutating func head(_ origin: String) throws(JournalError) -> TreeHead {
        guard try Self.hasTreeCheckpoint(directory) else {
            let head = TreeHead(origin: origin, size: 0, root: .emptyTree)
            try publish(head)
            return head
        }
        return try Self.readHead(directory)
    }

    private static func readHead(_ directory: JournalDirectory) throws(JournalError) -> TreeHead {
        let path = directory.file(treeCheckpointName)
        let bytes = try convertingStorageErrors { () throws(StorageError) -> [UInt8]? in
            let file = try directory.storage.open(path, .read)
            var bytes = [UInt8](repeating: 0, count: Int(min(try file.size(), UInt64(ProofText.byteLimit) + 1)))
            return try file.fill(&bytes, 0..<bytes.count, from: 0) ? bytes : nil
        }
        guard let bytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw JournalError(.damaged, "The checkpoint of the tiles is not UTF-8.", path: path)
        }
        do { return try TreeHead(parsing: text) } catch {
            throw JournalError(.damaged, "The checkpoint of the tiles has another form: \(error)", path: path)
        }
    }

    func unlock() { lock.unlock() }

    /// Whether a directory has a tree checkpoint; false if it is empty.
    private static func hasTreeCheckpoint(_ directory: JournalDirectory) throws(JournalError) -> Bool {
        let names = try convertingErrors(of: directory.storage.list(directory.path))
        if names.contains(treeCheckpointName) { return true }
        guard names.allSatisfy({ $0 == JournalFileName.lock || $0 == temporaryName }) else { throw foreign(directory) }
        return false
    }

    private static func checkIsNoLink(_ path: String, on storage: any JournalStorage) throws(JournalError) {
        guard try convertingErrors(of: storage.isLink(path)) else { return }
        throw JournalError(
            .notAJournal, "Not a directory of tiles: it has a symbolic link, which is not followed.", path: path)
    }

    private static func foreign(_ directory: JournalDirectory) -> JournalError {
        JournalError(
            .notAJournal,
            "Not a directory of tiles: the path is a file, or a directory with other content and no checkpoint.",
            path: directory.path)
    }

    // MARK: Writing

    /// Writes a tile or a bundle of entries of the first `width` of 256 items.
    mutating func write(_ bytes: [UInt8], _ tile: Tile, width: UInt64) throws(JournalError) {
        try write(bytes, tile.path(width: width))
    }

    /// Writes the tree checkpoint, after everything written before is durable.
    mutating func publish(_ head: TreeHead) throws(JournalError) {
        try syncNames()
        try write(Array(head.text.utf8), Self.treeCheckpointName)
        try syncNames()
    }

    /// Whether a tile of the first `width` of 256 items exists.
    func contains(_ tile: Tile, width: UInt64) throws(JournalError) -> Bool {
        let path = directory.file(tile.path(width: width))
        return try convertingErrors(of: directory.storage.kind(of: path)) == .file
    }

    /// Removes the partial tiles in the place of a full one.
    mutating func removePartialTiles(of tile: Tile) throws(JournalError) {
        let path = directory.file(tile.partialDirectory)
        try checkDirectories(through: path)
        counts.removed += try convertingStorageErrors { () throws(StorageError) in
            guard try directory.storage.kind(of: path) == .directory else { return 0 }
            let names = try directory.storage.list(path)
            for name in names { try directory.storage.remove(StoragePath.join(path, name)) }
            return names.count
        }
    }

    /// Syncs the names of the files and directories created so far.
    mutating func syncNames() throws(JournalError) {
        let directories = unsynced.sorted()
        try convertingStorageErrors { () throws(StorageError) in
            for path in directories { try directory.storage.syncDirectory(path) }
        }
        unsynced = []
    }

    private mutating func write(_ bytes: [UInt8], _ name: String) throws(JournalError) {
        let (path, temporary) = (directory.file(name), directory.file(Self.temporaryName))
        let parent = StoragePath.parent(of: path)
        try createDirectories(through: parent)
        try convertingStorageErrors { () throws(StorageError) in
            let file = try directory.storage.open(temporary, .create)
            try bytes.withBytes { (span) throws(StorageError) in try file.write(span, at: 0) }
            try file.sync()
            try directory.storage.rename(temporary, to: path)
        }
        unsynced.insert(parent)
        counts.written += 1
    }

    /// Throws if a directory between the tiles' directory and a path, or the path, is a link.
    private func checkDirectories(through path: String) throws(JournalError) {
        if path == directory.path || known.contains(path) { return }
        try checkDirectories(through: StoragePath.parent(of: path))
        try Self.checkIsNoLink(path, on: directory.storage)
    }

    private mutating func createDirectories(through path: String) throws(JournalError) {
        if path == directory.path || known.contains(path) { return }
        let parent = StoragePath.parent(of: path)
        try createDirectories(through: parent)
        try Self.checkIsNoLink(path, on: directory.storage)
        try convertingStorageErrors { () throws(StorageError) in
            if try directory.storage.kind(of: path) == nil { try directory.storage.createDirectory(path) }
        }
        known.insert(path)
        // Also of an existing one: a run that was killed may not have synced its name.
        unsynced.insert(parent)
    }
}

/// A tile of the tree, or a bundle of entries, by its place.
struct Tile: Hashable {
    /// The level: 0 for leaves, and one more for each 8 of height; nil for entries.
    var level: Int?
    /// The number of full tiles of the level before it.
    var index: UInt64

    /// The path below the directory: `tile/L/N`, or `tile/L/N.p/W` for fewer than 256 items.
    func path(width: UInt64) -> String { width == TileDirectory.width ? full : "\(partialDirectory)/\(width)" }

    /// The directory of the partial tiles.
    var partialDirectory: String { full + ".p" }

    /// The path of the full tile; its number is in groups of three digits: `x001/x234/067`.
    private var full: String {
        var groups: [String] = []
        var rest = index
        repeat {
            let group = String(rest % 1_000)
            groups.append((groups.isEmpty ? "" : "x") + String(repeating: "0", count: 3 - group.utf8.count) + group)
            rest /= 1_000
        } while rest > 0
        return "tile/" + (level.map { "\($0)" } ?? "entries") + "/" + groups.reversed().joined(separator: "/")
    }
}
