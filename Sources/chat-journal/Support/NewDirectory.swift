import EventJournal

/// A directory of files that appears complete or not at all.
///
/// The files are created beside the directory, in `PATH.incomplete`, synced, and renamed at the
/// end. A process that is killed, or a power failure, leaves that directory, and the next run
/// reports it.
struct NewDirectory {
    /// A file with a function that writes its contents.
    struct File {
        let name: String
        let write: (inout BufferedOutput) throws -> Void
    }

    private let path: String
    private let storage = FileStorage()

    /// Checks that nothing is at the path, or an empty directory.
    ///
    /// - Throws: `ArgumentError`, `StorageError`.
    init(_ path: String) throws {
        // "a/" names the same directory as "a", and "a/.incomplete" is within it.
        let name = path.reversed().drop { $0 == "/" }
        self.path = name.isEmpty ? path : String(String(name).reversed())
        if try storage.isLink(self.path) { throw ArgumentError(symbolicLink: path) }
        switch try storage.kind(of: self.path) {
        case nil: break
        case .directory where try storage.list(self.path).isEmpty: break
        default: throw ArgumentError("\(path): not a new or an empty directory; nothing is replaced")
        }
    }

    /// Creates the directory with its files, which only their owner may read.
    ///
    /// After an error none of the files exists.
    func create(_ files: [File]) throws {
        let incomplete = path + ".incomplete"
        do throws(StorageError) { try storage.createDirectory(incomplete) } catch {
            guard error.kind == .alreadyExists else { throw error }
            throw ArgumentError(
                "\(incomplete): the directory of a run that was interrupted or is in progress; remove it")
        }
        var created: [String] = []
        do {
            for file in files {
                let name = "\(incomplete)/\(file.name)"
                let descriptor = try SystemIO.create(name)
                created.append(name)
                do {
                    var output = BufferedOutput(descriptor: descriptor, name: name)
                    try file.write(&output)
                    try output.flush()
                } catch {
                    SystemIO.closeAfterReading(descriptor)
                    throw error
                }
                try SystemIO.closeAfterWriting(descriptor, name: name)
            }
            try storage.syncDirectory(incomplete)
            // Replaces an empty directory only: a link or another entry is an error.
            try storage.rename(incomplete, to: path)
            try storage.syncDirectory(StoragePath.parent(of: path))
        } catch {
            for name in created { SystemIO.removeIncomplete(name) }
            SystemIO.removeIncompleteDirectory(incomplete)
            throw error
        }
    }
}
