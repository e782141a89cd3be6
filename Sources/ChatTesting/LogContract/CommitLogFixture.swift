public import EventJournal
import Primitives

/// A fixture of ``CommitLogContract``: opens a log, and damages its stored records.
public struct CommitLogFixture: Sendable {
    /// Opens the log: an empty one on the first call, the same one after a close.
    public var open: @Sendable () throws -> any CommitLog
    /// Changes some of the given bytes in the storage of the log, which may be open.
    ///
    /// The bytes are part of one record and occur nowhere else. Nil if the log cannot be damaged.
    public var damage: (@Sendable (_ content: [UInt8]) throws -> Void)?

    /// Creates a fixture from its parts.
    public init(
        open: @escaping @Sendable () throws -> any CommitLog,
        damage: (@Sendable (_ content: [UInt8]) throws -> Void)? = nil
    ) {
        self.open = open
        self.damage = damage
    }

    /// Creates a fixture of a journal in a directory, optionally wrapped in another log.
    ///
    /// - Parameters:
    ///   - directory: A directory that does not exist yet; its parent exists.
    ///   - options: The storage, the durability and other options. A small segment size causes
    ///     rotations during the checks.
    ///   - wrap: Returns the log for the journal.
    public static func journal(
        in directory: String, options: JournalOptions, wrap: @escaping @Sendable (Journal) -> any CommitLog = { $0 }
    ) -> CommitLogFixture {
        CommitLogFixture {
            wrap(try Journal.open(directory, options: options))
        } damage: { content in
            for name in try options.storage.list(directory) {
                let file = try options.storage.open(directory + "/" + name, .readWrite)
                guard let offset = try file.contents().firstOffset(of: content) else { continue }
                return try file.invertByte(at: UInt64(offset))
            }
            throw ContentNotFound()
        }
    }
}

/// No file contains the content to damage.
struct ContentNotFound: Error {}

extension [UInt8] {
    /// Returns the index of the first occurrence of a pattern.
    fileprivate func firstOffset(of pattern: [UInt8]) -> Int? {
        guard let first = pattern.first, count >= pattern.count else { return nil }
        return (0...(count - pattern.count)).first { start in
            self[start] == first && self[start..<(start + pattern.count)].elementsEqual(pattern)
        }
    }
}

extension StorageFile {
    /// Returns the content of the file.
    fileprivate func contents() throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(try size()))
        let count = try bytes.withMutableBytes(0..<bytes.count) { (target) throws(StorageError) in
            try read(into: &target, at: 0)
        }
        return Array(bytes[..<count])
    }

    /// Inverts all bits of a byte.
    fileprivate func invertByte(at offset: UInt64) throws(StorageError) {
        var byte: [UInt8] = [0]
        _ = try byte.withMutableBytes(0..<1) { (target) throws(StorageError) in try read(into: &target, at: offset) }
        try [~byte[0]].withBytes { (bytes) throws(StorageError) in try write(bytes, at: offset) }
    }
}
