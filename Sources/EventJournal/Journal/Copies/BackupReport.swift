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

    init(head: JournalHead) {
        self.head = head
    }
}

extension JournalError.Code {
    /// The destination of a copy is the directory of what is copied; it was left untouched.
    public static let sameDirectory = JournalError.Code(rawValue: "sameDirectory")
}
