/// What opening found and did.
public struct RecoveryReport: Hashable, Sendable {
    /// Whether the journal was made by this opening.
    public var wasCreated = false
    /// Whether the last writer closed it in good order.
    public var wasClean = true
    /// Whether a writer had it open at the time (reading only).
    public var hasLiveWriter = false
    /// The highest position that the files attest as synced.
    public var attestedPosition: Position = 0
    /// The last position after recovery.
    public var lastPosition: Position = 0
    /// The positions that were there beyond the attested one: valid, kept, and (by a writer) written again and synced.
    public var recoveredPositions: ClosedRange<Position>?
    /// The bytes after the last valid commit that a torn write explains, and the segment that they are in.
    ///
    /// A writer cuts them off.
    public var cutBytes: Range<UInt64>?
    /// The segment of ``cutBytes``.
    public var cutSegment: String?
    /// Where a writer kept the bytes that it cut off, relative to the journal's directory.
    public var cutFile: String?
    /// Which of the two slots of the `durable` file, 0 and 1, could not be read.
    public var damagedSlots: [Int] = []
    /// Sealed segments whose footer could not be read; their records were read instead.
    public var damagedFooters: [String] = []
    /// Files of an interrupted creation that a writer removed.
    public var removedFiles: [String] = []

    init() {}
}

extension RecoveryReport: Codable {
    private enum CodingKeys: String, CodingKey {
        case wasCreated = "created"
        case wasClean, hasLiveWriter, attestedPosition, lastPosition, recoveredPositions, cutBytes, cutSegment, cutFile,
            damagedSlots, damagedFooters, removedFiles
    }

    /// Writes every field under its name, ranges as two numbers; what is not there is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(wasCreated, forKey: .wasCreated)
        try container.encode(wasClean, forKey: .wasClean)
        try container.encode(hasLiveWriter, forKey: .hasLiveWriter)
        try container.encode(attestedPosition, forKey: .attestedPosition)
        try container.encode(lastPosition, forKey: .lastPosition)
        try container.encode(recoveredPositions, forKey: .recoveredPositions)
        try container.encode(cutBytes, forKey: .cutBytes)
        try container.encode(cutSegment, forKey: .cutSegment)
        try container.encode(cutFile, forKey: .cutFile)
        try container.encode(damagedSlots, forKey: .damagedSlots)
        try container.encode(damagedFooters, forKey: .damagedFooters)
        try container.encode(removedFiles, forKey: .removedFiles)
    }
}
