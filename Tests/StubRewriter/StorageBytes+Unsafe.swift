package import EventJournal

// Raw views of spans are marked unsafe because of padding, which bytes do not have.

extension JournalStorage {
    /// Returns all bytes of a file.
    package func contents(of path: String) throws(StorageError) -> [UInt8] {
        let file = try open(path, .read)
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        var span = bytes.mutableSpan
        var raw = unsafe span.mutableBytes
        guard try file.read(into: &raw, at: 0) == raw.byteCount else { throw StorageError(.failed, .read, path: path) }
        return bytes
    }

    /// Replaces a file atomically by one with these bytes.
    package func replace(_ name: String, in directory: String, with bytes: [UInt8]) throws(StorageError) {
        let path = directory + "/" + name
        let file = try open(path + ".tmp", .create)
        unsafe try file.write(bytes.span.bytes, at: 0)
        try file.sync()
        try rename(path + ".tmp", to: path)
        try syncDirectory(directory)
    }
}

extension EntropySource {
    func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        var raw = unsafe span.mutableBytes
        fill(&raw)
        return bytes
    }
}
