import Primitives

extension Journal {
    /// Salvages the readable records of a journal, which opening may reject, into a new journal.
    ///
    /// The new journal has a new id and the same positions. A record is copied byte for byte, with
    /// its salt and state, if its checksum and the checksum of its commit's header are valid; the
    /// first such record of a position is kept. Up to the highest position that any readable slot,
    /// header or commit attests as synced, each position without a valid record gets a placeholder
    /// and is reported as lost. Beyond that position, only complete commits that follow without a
    /// gap are kept, as in recovery: those records were never reported as durable.
    ///
    /// The damaged journal is only read. The last step writes the new journal's durable file. An
    /// interrupted repair leaves a directory that does not open and has to be removed.
    ///
    /// - Parameters:
    ///   - directory: The damaged journal's directory.
    ///   - destination: The new journal's directory: missing or empty; its parent must exist.
    ///   - options: See ``RepairOptions``.
    ///   - lostRecord: Returns the kept part of the placeholder for a position; its erasable part
    ///     is empty. Receives the kept part of the preceding record in the new journal, which is
    ///     empty for the first.
    ///   - ending: Returns the kept part of a last record, which ends a history with losses; its
    ///     erasable part is empty. Receives the first lost position and the kept part of the record
    ///     before; nil for none.
    /// - Returns: The kept and lost records.
    /// - Throws: One of the following errors. Files written so far are removed if possible.
    ///   - `notFound`, `notAJournal`, `accessDenied`, `newerVersion`.
    ///   - `damaged`: no slot, segment header or commit of the damaged journal is readable; the
    ///     destination is unchanged.
    ///   - `locked`: the damaged journal is open for writing, or another process is writing to the
    ///     destination.
    ///   - `notEmpty`: the destination is not empty.
    ///   - `tooLarge`: more positions are lost than the options allow, or a placeholder exceeds the
    ///     limit.
    ///   - `storageFull`, `ioFailed`, `syncFailed`.
    /// - Complexity: Reads every segment twice. Memory is bounded by the largest commit and the
    ///   listed losses.
    public static func repair(
        _ directory: String, to destination: String, options: RepairOptions = RepairOptions(),
        lostRecord: (_ position: Position, _ previousKept: RawSpan) -> [UInt8],
        ending: (_ firstLost: Position, _ previousKept: RawSpan) -> [UInt8]? = { _, _ in nil }
    ) throws(JournalError) -> RepairReport {
        let place = JournalDirectory(directory, options.storage)
        try checkReadable(place)
        guard try !isLocked(place) else {
            throw JournalError(.locked, "The journal is open for writing: it needs no repair.", path: place.path)
        }
        let source = try SalvageSource(place)
        var repair = Repair(
            source, try RepairWriter(JournalDirectory(destination, options.destinationStorage), options), options)
        return try repair.run(lostRecord, ending)
    }
}

/// Options for a repair.
public struct RepairOptions: Sendable {
    /// The storage of the damaged journal's files.
    public var storage: any JournalStorage
    /// The storage of the new journal's files.
    public var destinationStorage: any JournalStorage
    /// The maximum size of a segment file in bytes, as in ``JournalOptions/segmentSize``.
    public var segmentSize: UInt64
    /// The source of the new id, the framing salts and the placeholders' salts.
    public var entropy: any EntropySource
    /// The maximum number of lost positions, so that a damaged position cannot fill the disk with
    /// placeholders.
    public var maximumLostCount: UInt64

    /// Creates options.
    ///
    /// All have defaults.
    public init(
        storage: any JournalStorage = FileStorage(), destinationStorage: any JournalStorage = FileStorage(),
        segmentSize: UInt64 = 128 << 20,
        entropy: any EntropySource = SystemEntropy(), maximumLostCount: UInt64 = 1 << 24
    ) {
        self.storage = storage
        self.destinationStorage = destinationStorage
        self.segmentSize = segmentSize
        self.entropy = entropy
        self.maximumLostCount = maximumLostCount
    }
}

/// The kept and lost records of a repair.
public struct RepairReport: Hashable, Sendable, Codable {
    /// A range of positions that could not be salvaged.
    public struct Loss: Hashable, Sendable, Codable {
        /// The positions, each of which has a placeholder in the new journal.
        public var positions: ClosedRange<Position>
        /// The file of the damaged journal that should contain them, if known.
        public var segment: String?
        /// The affected bytes of the file.
        public var bytes: Range<UInt64>?
        /// The problem found there, as in ``JournalFinding/problem``.
        public var problem: String

        private enum CodingKeys: AbsentAsNullKey { case positions, segment, bytes, problem }
    }

    /// The maximum number of entries in ``losses``.
    public static let maximumLossCount = 100_000

    /// The id of the damaged journal; nil if no readable file names it.
    public var source: JournalID?
    /// The head of the new journal, with the new id; the last record can be the ending, which is
    /// not counted below.
    public var head: JournalHead
    /// The number of records copied byte for byte.
    public var salvagedCount: UInt64 = 0
    /// The number of positions with placeholders.
    public var lostCount: UInt64 = 0
    /// The lost positions in ascending order, in at most ``maximumLossCount`` ranges.
    public var losses: [Loss] = []
    /// Whether every record was salvaged.
    public var isComplete: Bool { lostCount == 0 }

    private enum CodingKeys: String, AbsentAsNullKey {
        case source, head
        case salvagedCount = "salvaged"
        case lostCount = "lost"
        case losses
    }

    init(source: JournalID?, head: JournalHead) {
        self.source = source
        self.head = head
    }
}
