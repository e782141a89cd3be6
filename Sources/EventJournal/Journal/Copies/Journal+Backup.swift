internal import Locking

extension Journal {
    /// Makes or continues a copy of the journal in a directory, while a writer may go on with it.
    ///
    /// The copy is a journal with the same id: it can be read, verified and, as a restored journal, opened for writing. It holds the history
    /// up to a commit's end, at or before the position asked for, and is closed in good order. Everything that is copied is checked.
    ///
    /// Run again, it copies what is new: segments that are there are left alone, the last one is added to, and one of another generation is
    /// copied anew. If it is cut off at any moment, the destination is no journal yet, or a valid copy of less, and running it again goes on
    /// from there. A copy never gets shorter.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory; another process may be writing it.
    ///   - destination: The copy's directory; made when there is none, its parent must exist.
    ///   - options: See ``BackupOptions``.
    /// - Returns: What was copied, and the head of the copy.
    /// - Throws: What ``openReadOnly(_:options:)`` throws; `outOfRange` (a position beyond what is durable); `notAJournal` (of the destination,
    ///   which is left alone), `locked` (somebody has the copy open for writing), `sameDirectory` (the destination is the journal itself, by
    ///   whatever path; a journal that is open for writing is `locked`), `headMismatch` (the destination is another journal, or its
    ///   history is not the beginning of this one's; left alone); `damaged` (the journal is, at the place named, and the copy ends before it;
    ///   or the copy is, and is left alone), `newerVersion`, `storageFull`, `ioFailed`, `syncFailed`.
    /// - Complexity: Opens both journals; then linear in what is copied. Memory is bounded by the largest commit.
    @discardableResult
    public static func backup(
        _ directory: String, to destination: String, options: BackupOptions = BackupOptions()
    ) throws(JournalError) -> BackupReport {
        let journal = try openReadOnly(
            directory, options: JournalOptions(storage: options.storage, expectedHead: options.expectedHead, createIfMissing: false))
        return try journal.backup(to: destination, upTo: options.upTo, on: options.destinationStorage)
    }

    /// Makes or continues a copy of this journal on its own storage, as ``backup(to:upTo:on:)`` does.
    @discardableResult
    public func backup(to destination: String, upTo position: Position?) throws(JournalError) -> BackupReport {
        try backup(to: destination, upTo: position, on: nil)
    }

    /// Makes or continues a copy of this journal, as ``backup(_:to:options:)`` does, while it is open.
    ///
    /// Blocks the calling thread, and nobody else. What is not durable, under `.written` or left by a writer that was killed, is synced first, so
    /// that no power cut can leave the journal with less than its copy.
    ///
    /// - Parameters:
    ///   - destination: The copy's directory.
    ///   - position: Not to go beyond this; nil for the last durable one.
    ///   - storage: What the copy's files are on; nil for the journal's own storage.
    /// - Returns: What was copied, and the head of the copy.
    /// - Throws: As ``backup(_:to:options:)``; `closed`.
    @discardableResult
    public func backup(
        to destination: String, upTo position: Position? = nil, on storage: (any JournalStorage)? = nil
    ) throws(JournalError) -> BackupReport {
        if isReadOnly {
            syncWhatIsShown()
        } else if durability == .written {
            try synchronize()
        }
        let source = try snapshotForBackup(upTo: position)
        return try Backup.run(source, to: JournalDirectory(destination, storage ?? directory.storage))
    }

    /// Syncs what a reader has found, which a writer that was killed, or works under `.written`, has not.
    ///
    /// As well as it can be: a storage that can only be read, or no longer be synced, is one to copy what there is from.
    private func syncWhatIsShown() {
        try? published.withLock { $0.active.file }.sync()
        try? directory.storage.syncDirectory(directory.path)
    }

    private func snapshotForBackup(upTo position: Position?) throws(JournalError) -> BackupSource {
        let (isClosed, starts, active, synced) = published.withLock {
            (
                $0.isClosed, $0.sealedStarts, $0.activeWithoutIndex,
                JournalHead(journal: id, position: $0.syncedPosition, chain: $0.syncedChain)
            )
        }
        if isClosed { throw JournalError(.closed, "The journal has been closed.", path: directory.path) }
        if let position, position > synced.position {
            throw JournalError(
                .outOfRange, "The journal is durable up to position \(synced.position).", path: directory.path,
                positions: position...position)
        }
        return BackupSource(
            journal: id, directory: directory, segments: SegmentReference.all(starts, active), sealed: SealedSegments(directory, id),
            limit: position ?? synced.position, head: synced)
    }
}

/// A log that copies itself to a directory while it is open.
public protocol BackupLog: CommitLog {
    /// Makes or continues a copy of the log in a directory.
    ///
    /// - Parameters:
    ///   - destination: The path of the copy's directory.
    ///   - position: The position that the copy is not to go beyond; nil for the last durable one.
    /// - Returns: What was copied, and the head of the copy.
    /// - Throws: `outOfRange` (a position beyond what is durable), `closed`, `headMismatch` (the destination has another history),
    ///   `storageFull`, `ioFailed` and what else the log documents.
    @discardableResult
    func backup(to destination: String, upTo position: Position?) throws(JournalError) -> BackupReport
}

extension Journal: BackupLog {}

/// What a backup is made of, and up to where.
public struct BackupOptions: Sendable {
    /// What the journal's files are on.
    public var storage: any JournalStorage
    /// What the copy's files are on.
    public var destinationStorage: any JournalStorage
    /// The position that the copy is not to go beyond; nil for the last one that is durable when the backup begins.
    public var upTo: Position?
    /// A head taken earlier, which the journal must contain.
    public var expectedHead: JournalHead?

    /// Makes options; every one has a default.
    public init(
        storage: any JournalStorage = FileStorage(), destinationStorage: any JournalStorage = FileStorage(), upTo: Position? = nil,
        expectedHead: JournalHead? = nil
    ) {
        self.storage = storage
        self.destinationStorage = destinationStorage
        self.upTo = upTo
        self.expectedHead = expectedHead
    }
}

/// What a backup did.
public struct BackupReport: Hashable, Sendable {
    /// The head of the copy: its id is the journal's, its position the copy's last.
    public var head: JournalHead
    /// The names of the segments that were copied, or added to.
    public var copiedSegments: [String] = []
    /// The names of the segments that were there already.
    public var skippedSegments: [String] = []
    /// The names of the segments that were there in another generation, and were copied anew.
    public var rewrittenSegments: [String] = []
    /// How many bytes of segments were written.
    public var bytesCopied: UInt64 = 0

    /// Makes the report of a copy to which nothing has been added.
    public init(head: JournalHead) {
        self.head = head
    }
}

extension JournalError.Code {
    /// The destination of a copy is the directory of what is copied; it was left untouched.
    public static let sameDirectory = JournalError.Code(rawValue: "sameDirectory")
}
