extension Journal {
    /// Salvages what can be read of a journal, which need not be fit to be opened, into a new journal.
    ///
    /// The new journal has an id of its own and the same positions. A record is kept byte for byte, salt and state included, if its own
    /// checksum fits and it stands in a commit whose header's checksum fits; of several for one position the first one is kept. Each
    /// position up to the highest one that anything readable attests as synced, and for which there is no such record, gets a placeholder
    /// and is listed. Beyond that position, whole commits are kept as far as they follow without a gap: as in recovery, what comes after
    /// was never promised.
    ///
    /// The damaged journal is only read. The new one becomes a journal with the last step, that of its durable file: what a repair leaves
    /// that was cut off does not open, and is to be removed.
    ///
    /// - Parameters:
    ///   - directory: The damaged journal's directory.
    ///   - destination: The new journal's directory: absent or empty; its parent must exist.
    ///   - options: See ``RepairOptions``.
    ///   - lostRecord: Makes the kept part of the placeholder for a position, whose erasable part is empty. It is given the kept part of the
    ///     record before it in the new journal, empty for the first.
    /// - Returns: What was kept and what was lost.
    /// - Throws: `notFound`, `notAJournal`, `accessDenied`, `newerVersion`, `damaged` (not one slot, segment's header or commit of the damaged
    ///   journal can be read; the destination is left alone), `locked` (somebody has it open for writing), `notEmpty` (the destination),
    ///   `tooLarge` (more is lost than the options allow, or a placeholder is over the limit), `storageFull`, `ioFailed`, `syncFailed`; what
    ///   was written is then removed, as far as that succeeds.
    /// - Complexity: Reads every segment twice. Memory is bounded by the largest commit and the losses listed.
    public static func repair(
        _ directory: String, to destination: String, options: RepairOptions = RepairOptions(),
        lostRecord: (_ position: Position, _ previousKept: RawSpan) -> [UInt8]
    ) throws(JournalError) -> RepairReport {
        let place = JournalDirectory(directory, options.storage)
        try checkReadable(place)
        guard try !isLocked(place) else {
            throw JournalError(.locked, "The journal is open for writing: it needs no repair.", path: place.path)
        }
        let source = try SalvageSource(place)
        var repair = Repair(source, try RepairWriter(JournalDirectory(destination, options.destinationStorage), options), options)
        return try repair.run(lostRecord)
    }
}

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
