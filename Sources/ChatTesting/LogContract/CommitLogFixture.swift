public import EventJournal

/// A place where a log is kept, for ``CommitLogContract``: opens the log there, and damages what is stored.
public struct CommitLogFixture: Sendable {
    /// Opens the log: an empty one the first time, and after a close the same again.
    public var open: @Sendable () throws -> any CommitLog
    /// Changes some of these bytes, a part of one record that occurs nowhere else, wherever the log has stored them; the log may be open.
    ///
    /// Nil where nothing can be damaged.
    public var damage: (@Sendable (_ content: [UInt8]) throws -> Void)?

    /// Makes a fixture of its parts.
    public init(open: @escaping @Sendable () throws -> any CommitLog, damage: (@Sendable (_ content: [UInt8]) throws -> Void)? = nil) {
        self.open = open
        self.damage = damage
    }

    /// A journal in a directory of some storage, with whatever it is wrapped in.
    ///
    /// - Parameters:
    ///   - directory: A directory that does not exist yet; its parent does.
    ///   - options: The storage, durability and the rest; a small segment size lets the journal roll over in the middle of the checks.
    ///   - wrap: Makes the log of the journal.
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

/// The content to damage is in no file.
struct ContentNotFound: Error {}

extension [UInt8] {
    /// Where a pattern begins for the first time.
    fileprivate func firstOffset(of pattern: [UInt8]) -> Int? {
        guard let first = pattern.first, count >= pattern.count else { return nil }
        return (0...(count - pattern.count)).first { start in
            self[start] == first && self[start..<(start + pattern.count)].elementsEqual(pattern)
        }
    }
}
