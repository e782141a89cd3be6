/// What a repair reads and writes.
public struct RepairOptions: Sendable {
    /// What the damaged journal's files are on.
    public var storage: any JournalStorage
    /// What the new journal's files are on.
    public var destinationStorage: any JournalStorage
    /// The size in bytes at which a new segment file is begun, as in ``JournalOptions/segmentSize``.
    public var segmentSize: UInt64
    /// Where the new id, the framing salts and the salt of placeholders come from.
    public var entropy: any EntropySource
    /// The most positions that may be lost: a damaged number must not fill the disk with placeholders.
    public var mostLost: UInt64

    /// Makes options; every one has a default.
    public init(
        storage: any JournalStorage = FileStorage(), destinationStorage: any JournalStorage = FileStorage(),
        segmentSize: UInt64 = 128 << 20,
        entropy: any EntropySource = SystemEntropy(), mostLost: UInt64 = 1 << 24
    ) {
        self.storage = storage
        self.destinationStorage = destinationStorage
        self.segmentSize = segmentSize
        self.entropy = entropy
        self.mostLost = mostLost
    }
}

/// What a repair saved, and what it could not.
public struct RepairReport: Hashable, Sendable {
    /// Positions that could not be salvaged.
    public struct Loss: Hashable, Sendable {
        /// The positions, each of which holds a placeholder in the new journal.
        public var positions: ClosedRange<Position>
        /// The file of the damaged journal in which they should have been, as far as that is known.
        public var segment: String?
        /// The bytes of the file.
        public var bytes: Range<UInt64>?
        /// What was found there: a problem as in ``JournalFinding/problem``.
        public var problem: String
    }

    /// How many losses ``losses`` lists at most.
    public static let listedLosses = 100_000

    /// The id of the damaged journal; nil when nothing readable names it.
    public var source: JournalID?
    /// The head of the new journal, with its own id.
    public var head: JournalHead
    /// How many records were kept, byte for byte.
    public var salvagedCount: UInt64 = 0
    /// How many positions hold placeholders.
    public var lostCount: UInt64 = 0
    /// The lost positions in order: all of them, unless there are more than ``listedLosses`` stretches.
    public var losses: [Loss] = []

    init(source: JournalID?, head: JournalHead) {
        self.source = source
        self.head = head
    }
}

extension JournalError.Code {
    /// There is something in a directory that has to be empty; it was left untouched.
    public static let notEmpty = JournalError.Code(rawValue: "notEmpty")
}
