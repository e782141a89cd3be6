import Primitives

/// The result of opening a journal: its state before, and the repairs.
public struct RecoveryReport: Hashable, Sendable {
    /// Whether this opening created the journal.
    public var wasCreated = false
    /// Whether the last writer closed the journal cleanly.
    public var wasClean = true
    /// Whether a writer had the journal open; always false when opening for writing.
    public var hasLiveWriter = false
    /// The highest position that the files attest as synced.
    public var attestedPosition: Position = 0
    /// The last position after recovery.
    public var lastPosition: Position = 0
    /// The valid positions after the attested one.
    ///
    /// All are kept; a writer rewrites and syncs them.
    public var recoveredPositions: ClosedRange<Position>?
    /// The bytes after the last valid commit that a torn write explains, in ``cutSegment``.
    ///
    /// A writer removes them from the segment.
    public var cutBytes: Range<UInt64>?
    /// The segment of ``cutBytes``.
    public var cutSegment: String?
    /// The file to which a writer copied ``cutBytes``, relative to the journal's directory.
    public var cutFile: String?
    /// The indexes, 0 or 1, of the unreadable slots of the `durable` file.
    public var damagedSlots: [Int] = []
    /// Sealed segments with an unreadable footer; their records were read instead.
    public var damagedFooters: [String] = []
    /// Files of an interrupted creation that a writer removed.
    public var removedFiles: [String] = []

    init() {}
}

extension RecoveryReport: Codable {
    private enum CodingKeys: String, AbsentAsNullKey {
        case wasCreated = "created"
        case wasClean, hasLiveWriter, attestedPosition, lastPosition, recoveredPositions, cutBytes, cutSegment, cutFile,
            damagedSlots, damagedFooters, removedFiles
    }
}
