import EventJournal

/// A whole simulated disk as a value: directories, files, and their pending changes.
///
/// A copy shares files and sectors with the original until one of them changes, so a copy before
/// every operation is cheap.
struct DiskImage: Sendable {
    /// The file or directory that a name refers to, by a number that is never reused.
    enum Node: Hashable, Sendable {
        case file(Int)
        case directory(Int)
    }

    /// The names in a directory.
    struct Directory: Sendable {
        var current: [StorageName: Node] = [:]
        var durable: [StorageName: Node] = [:]
    }

    /// A name that is added or removed.
    struct NameChange: Sendable {
        var directory: Int
        var name: StorageName
        var node: Node
        var isAddition: Bool
    }

    /// The effect of a creation, rename or removal, which a crash keeps or drops as one.
    ///
    /// Changes that a directory sync has made durable are removed.
    struct NameTransaction: Sendable {
        var title: String
        var changes: [NameChange]
    }

    var tearing: SectorTearing?
    /// Increases with every change.
    private(set) var changeCount = 0
    private var files: [FileImage] = []
    private var directories: [Directory] = [Directory()]
    private var pendingNameTransactions: [NameTransaction] = []

    /// Creates an empty disk.
    init(tearing: SectorTearing? = nil) {
        self.tearing = tearing
    }

    // MARK: - Files

    /// Returns the current content of a file.
    func file(_ number: Int) -> SparseBytes { files[number].current }

    /// Changes a file; the body receives the number of the change.
    mutating func change(_ file: Int, _ body: (inout FileImage, Int) -> Void) {
        changeCount += 1
        body(&files[file], changeCount)
    }

    /// Makes the content of a file durable, but not its name.
    mutating func sync(_ file: Int) {
        changeCount += 1
        files[file].sync()
    }

    // MARK: - Names

    /// Returns the entry at a path, nil if none exists.
    func node(at path: String, _ operation: StorageError.Operation) throws(StorageError) -> Node? {
        var node = Node.directory(0)
        for name in Self.components(of: path) {
            guard case .directory(let number) = node else {
                throw StorageError(.notADirectory, operation, path: path, number: .notADirectory)
            }
            guard let next = directories[number].current[name] else { return nil }
            node = next
        }
        return node
    }

    /// Returns the number of the file at a path; throws if it does not exist.
    func fileNumber(at path: String, _ operation: StorageError.Operation) throws(StorageError) -> Int {
        guard let node = try node(at: path, operation) else {
            throw StorageError(.notFound, operation, path: path, number: .notFound)
        }
        guard case .file(let number) = node else {
            throw StorageError(.failed, operation, path: path, number: .isADirectory)
        }
        return number
    }

    /// Returns the number of the directory at a path; throws if it does not exist.
    func directoryNumber(at path: String, _ operation: StorageError.Operation) throws(StorageError) -> Int {
        guard let node = try node(at: path, operation) else {
            throw StorageError(.notFound, operation, path: path, number: .notFound)
        }
        guard case .directory(let number) = node else {
            throw StorageError(.notADirectory, operation, path: path, number: .notADirectory)
        }
        return number
    }

    /// Returns the names in a directory, sorted.
    func names(in directory: Int) -> [String] { directories[directory].current.keys.sorted().map(\.text) }

    /// Creates an empty file at an unused path.
    mutating func createFile(at path: String, _ operation: StorageError.Operation) throws(StorageError) -> Int {
        let (directory, name) = try parentAndName(of: path, operation)
        files.append(FileImage())
        let node = Node.file(files.count - 1)
        record("create \(path)", [NameChange(directory: directory, name: name, node: node, isAddition: true)])
        return files.count - 1
    }

    /// Creates an empty directory.
    mutating func createDirectory(at path: String) throws(StorageError) {
        let present = try node(at: path, .createDirectory)
        guard present == nil else {
            throw StorageError(.alreadyExists, .createDirectory, path: path, number: .alreadyExists)
        }
        let (directory, name) = try parentAndName(of: path, .createDirectory)
        directories.append(Directory())
        let node = Node.directory(directories.count - 1)
        record("create \(path)", [NameChange(directory: directory, name: name, node: node, isAddition: true)])
    }

    /// Renames a file and replaces an existing target.
    mutating func rename(_ path: String, to target: String) throws(StorageError) {
        let file = Node.file(try fileNumber(at: path, .rename))
        let (from, oldName) = try parentAndName(of: path, .rename)
        let (to, newName) = try parentAndName(of: target, .rename)
        if case .directory = directories[to].current[newName] {
            throw StorageError(.failed, .rename, path: target, number: .isADirectory)
        }
        guard directories[to].current[newName] != file else { return }
        record(
            "rename \(path) to \(target)",
            [
                NameChange(directory: from, name: oldName, node: file, isAddition: false),
                NameChange(directory: to, name: newName, node: file, isAddition: true),
            ])
    }

    /// Removes the name of a file; open handles can still read and write it.
    mutating func remove(_ path: String) throws(StorageError) {
        let file = Node.file(try fileNumber(at: path, .remove))
        let (directory, name) = try parentAndName(of: path, .remove)
        record("remove \(path)", [NameChange(directory: directory, name: name, node: file, isAddition: false)])
    }

    /// Makes the names in a directory durable, but not the name of the directory itself.
    mutating func syncDirectory(_ directory: Int) {
        changeCount += 1
        directories[directory].durable = directories[directory].current
        for index in pendingNameTransactions.indices {
            pendingNameTransactions[index].changes.removeAll { $0.directory == directory }
        }
        pendingNameTransactions.removeAll { $0.changes.isEmpty }
    }

    private mutating func record(_ title: String, _ changes: [NameChange]) {
        changeCount += 1
        for change in changes { Self.apply(change, to: &directories[change.directory].current) }
        pendingNameTransactions.append(NameTransaction(title: title, changes: changes))
    }

    private static func apply(_ change: NameChange, to names: inout [StorageName: Node]) {
        if change.isAddition {
            names[change.name] = change.node
        } else if names[change.name] == change.node {
            names[change.name] = nil
        }
    }

    /// Returns the directory of a path's last name, and that name.
    private func parentAndName(of path: String, _ operation: StorageError.Operation) throws(StorageError) -> (
        directory: Int, name: StorageName
    ) {
        var names = Self.components(of: path)
        guard let name = names.popLast() else {
            throw StorageError(.failed, operation, path: path, number: .isADirectory)
        }
        return (try directoryNumber(at: names.map(\.text).joined(separator: "/"), operation), name)
    }

    /// Returns the names of a path; the root, the current directory and the root's parent are
    /// equal.
    private static func components(of path: String) -> [StorageName] {
        StoragePath.components(of: StoragePath.normalized("/" + path)).map(StorageName.init)
    }
}

extension DiskImage {
    // MARK: - Crash

    /// The number of alternatives of each choice of a crash, in a fixed order: files first, then
    /// names.
    var alternativeCounts: [Int] {
        files.flatMap { $0.alternativeCounts(tearing) } + pendingNameTransactions.map { _ in 2 }
    }

    /// The choices of a crash, with their titles.
    var pendingChoices: [PendingChoice] {
        var paths: [Int: String] = [:]
        var waiting = [(number: 0, prefix: "")]
        while let (number, prefix) = waiting.popLast() {
            let directory = directories[number]
            for (name, node) in directory.durable.merging(directory.current, uniquingKeysWith: { $1 }) {
                switch node {
                case .file(let file): paths[file] = prefix + name.text
                case .directory(let inner): waiting.append((inner, prefix + name.text + "/"))
                }
            }
        }
        let titles =
            files.enumerated().flatMap { number, file in
                file.choiceTitles.map { "\(paths[number] ?? "file \(number)"): \($0)" }
            }
            + pendingNameTransactions.map(\.title)
        return zip(titles, alternativeCounts).map { PendingChoice(title: $0, alternativeCount: $1) }
    }

    /// Replaces the picks that have no effect by 0.
    ///
    /// These are the picks of files without a name after the crash, and of sectors beyond the end
    /// of their file. Two different canonical lists give different disks, except in rare cases.
    func canonicalPicks(_ picks: [Int]) -> [Int] {
        var picks = picks
        let named = reachableFiles(crashedDirectories(picks))
        var next = 0
        for (number, file) in files.enumerated() {
            let count = file.alternativeCounts(tearing).count
            if named.contains(number) {
                file.makeCanonical(&picks, from: next)
            } else {
                for index in next..<(next + count) { picks[index] = 0 }
            }
            next += count
        }
        return picks
    }

    /// Returns the disk after a power failure with one pick for each of ``alternativeCounts``.
    ///
    /// All content of the new disk is durable.
    func afterCrash(_ picks: [Int]) -> DiskImage {
        var image = DiskImage(tearing: tearing)
        image.changeCount = changeCount + 1
        image.directories = crashedDirectories(picks)
        let named = reachableFiles(image.directories)
        var next = 0
        image.files.reserveCapacity(files.count)
        for (number, file) in files.enumerated() {
            let crashed = file.afterCrash(picks, &next, tearing)
            image.files.append(named.contains(number) ? crashed : FileImage())
        }
        return image
    }

    private func crashedDirectories(_ picks: [Int]) -> [Directory] {
        var names = directories.map(\.durable)
        for (transaction, pick) in zip(pendingNameTransactions, picks.suffix(pendingNameTransactions.count))
        where pick == 1 {
            for change in transaction.changes { Self.apply(change, to: &names[change.directory]) }
        }
        return names.map { Directory(current: $0, durable: $0) }
    }

    /// The files that are reachable from the root by durable names.
    private func reachableFiles(_ directories: [Directory]) -> Set<Int> {
        var found: Set<Int> = []
        var waiting = [0]
        while let number = waiting.popLast() {
            for node in directories[number].durable.values {
                switch node {
                case .file(let file): found.insert(file)
                // A directory has at most one name, because directories are never renamed.
                case .directory(let directory): waiting.append(directory)
                }
            }
        }
        return found
    }
}
