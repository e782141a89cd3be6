/// A log as of the start of a run of its backup.
protocol BackupSource {
    var journal: JournalID { get }
    /// The directory of the log; nil if it has none.
    var directory: JournalDirectory? { get }
    /// The last position that may be copied.
    var limit: Position { get }

    /// Whether a commit within the limit ends at a position, with this chain value.
    func contains(_ position: Position, _ chain: UInt64) throws(JournalError) -> Bool

    /// Whether a copy with these segments, which has a prefix of the history, can be continued.
    func canContinue(_ present: [SegmentReference]) -> Bool

    /// The segments that a copy must have, in order.
    ///
    /// - Parameters:
    ///   - present: The segments of the copy that have records.
    ///   - chain: The chain value after them.
    func segments(besides present: [SegmentReference], chain: UInt64) -> [BackupSegment]

    /// Opens a segment.
    mutating func load(_ segment: BackupSegment) throws(JournalError) -> BackupOriginal

    /// Whether a segment of the copy has lost the same content as its original.
    ///
    /// If so, commits can be added to it.
    func isSame(_ copy: Segment, as original: BackupOriginal) -> Bool

    /// Copies the commits of a segment up to the limit, starting at the writer's position.
    ///
    /// - Parameter position: A segment may end there at the earliest.
    /// - Returns: What is left of the log if the segment is full.
    /// - Throws: `damaged` when the records are not as written, and the errors of the writer.
    func copyCommits(
        of original: BackupOriginal, to writer: inout SegmentWriter, atLeastThrough position: Position
    ) throws(JournalError) -> BackupSegment?

    /// Whether the copy must have a last segment, which may be empty.
    func needs(_ last: Segment) -> Bool

    /// Returns the generation of a segment that was copied up to a position.
    func generation(of original: BackupOriginal, through position: Position) -> UInt32

    /// Whether the log has erased content since it was read.
    ///
    /// - Parameter generations: The generations of the segments that the copy has, by their first
    ///   positions.
    func hasErasedContent(since generations: [Position: UInt32]) throws(JournalError) -> Bool
}

/// A segment that a copy must have.
struct BackupSegment {
    var start: SegmentStart
    /// The last position; beyond the limit for a segment that is copied in part.
    var lastPosition: Position
    /// The segment of the log, if it has segments.
    var reference: SegmentReference?

    var name: String { JournalFileName.segment(start.position) }
}

/// A segment of the log that was opened to be copied.
struct BackupOriginal {
    /// The header that the copy gets.
    var header: SegmentHeader
    var lastPosition: Position
    /// The segment's file, if the log has segments.
    var segment: Segment?
}

/// What the owner of a log's content knows of its erasures, for a backup.
package struct BackupErasures {
    /// Returns the ledger that the copy gets; nil for none.
    package typealias Merge = (_ log: [UInt8]?, _ copy: [UInt8]?) throws(JournalError) -> [UInt8]?

    /// Joins the ledger of the log and that of the copy.
    var mergeLedgers: Merge
    /// Returns the records whose content the log still has and a copy must not have.
    var pendingContent: () throws(JournalError) -> PositionSet

    /// Creates the knowledge; by default the ledger of the log replaces that of the copy.
    package init(
        mergeLedgers: @escaping Merge = { log, copy in log ?? copy },
        pendingContent: @escaping () throws(JournalError) -> PositionSet = { PositionSet() }
    ) {
        (self.mergeLedgers, self.pendingContent) = (mergeLedgers, pendingContent)
    }
}
