// Optional capabilities of a log beyond ``CommitLog``. A store tests its log for each conformance
// and works without it.

/// Receives a record of a log and the head at the end of its commit; returns whether to continue.
public typealias CommittedRecordHandler = (
    _ position: Position, _ commit: JournalHead, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan
) -> Bool

/// A log that reports where its commits end and names its history up to each of them.
///
/// Resume tokens, exports and ``RefreshableLog`` rely on it. A log without this conformance names
/// only its durable history (``CommitLog/head``).
public protocol HistoryLog: CommitLog {
    /// Returns the head at the end of the commit that contains a position.
    ///
    /// For position 0, returns the head of the empty log.
    ///
    /// - Parameter position: At most ``CommitLog/lastPosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    func head(at position: Position) throws(JournalError) -> JournalHead

    /// Whether the log contains the history that a head names: a commit ends there, with that chain
    /// value.
    ///
    /// A position beyond the end returns false.
    ///
    /// - Throws: `closed`, `damaged`, `ioFailed`.
    func contains(_ head: JournalHead) throws(JournalError) -> Bool

    /// Calls a closure with each record in a range of positions and the head at the end of its
    /// commit.
    ///
    /// Otherwise the same as ``CommitLog/forEachRecord(in:_:)``. The head equals ``head(at:)`` of
    /// the position.
    func forEachCommittedRecord(in positions: ClosedRange<Position>, _ body: CommittedRecordHandler)
        throws(JournalError)
}

/// A log that another process may write, so that readers must refresh it.
public protocol RefreshableLog: HistoryLog {
    /// Reads what has become durable since the log was opened for reading or last refreshed.
    ///
    /// Does nothing on a log that is open for writing.
    ///
    /// - Returns: The last position that may be shown.
    /// - Throws: `closed`, `damaged`, `notFound`, `ioFailed`. Records read earlier stay readable.
    @discardableResult
    func refresh() throws(JournalError) -> Position
}

/// A log whose reads wait for other machines, for seconds if one fails.
///
/// Tasks of a store read it on an executor of the log, so that they block no thread of the
/// cooperative pool.
package protocol RemoteLog: CommitLog {
    /// Has a thread for each task that waits.
    var readExecutor: any TaskExecutor { get }
    /// What the log knows of the other machines; told at once, whatever they do.
    var contact: LogContact { get }
}

/// When the machines of a log have answered, and since when a caller waits for them.
package struct LogContact: Sendable {
    /// When they last confirmed the end of the log.
    package var answeredAt: ContinuousClock.Instant
    /// Since when the caller who has waited longest waits; nil if none waits.
    package var waitingSince: ContinuousClock.Instant?
    /// The longest time between two confirmations while all is well.
    package var longestSilence: Duration

    /// The longest wait of a caller while all is well.
    package static let longestWait = Duration.seconds(5)

    package init(
        answeredAt: ContinuousClock.Instant, waitingSince: ContinuousClock.Instant?, longestSilence: Duration
    ) {
        (self.answeredAt, self.waitingSince, self.longestSilence) = (answeredAt, waitingSince, longestSilence)
    }

    /// Whether a caller has waited too long, or the log is not known any more.
    package func isLate(at now: ContinuousClock.Instant) -> Bool {
        now - answeredAt >= longestSilence || waitingSince.map { now - $0 >= Self.longestWait } ?? false
    }
}

/// A log with a directory for the checkpoints of projections.
///
/// A store uses a checkpoint only if the log contains the checkpoint's history
/// (``HistoryLog/contains(_:)``), and no content of that history was erased afterwards.
public protocol CheckpointLog: HistoryLog {
    /// The path of the directory and its storage; the directory exists while the log is open.
    var checkpointDirectory: (path: String, storage: any JournalStorage) { get }

    /// Returns a mark of the erasures up to a position.
    ///
    /// The mark is 0 before the first erasure and changes with each one.
    func erasureMark(through position: Position) -> UInt64
}

/// A log with a Merkle tree over its records, so that a reader without the log can verify that a
/// record is in it and that it only grew.
///
/// The size of a tree is the position of its last record; the trees of all sizes up to
/// ``CommitLog/durablePosition`` exist. Erasing content changes no tree.
public protocol TreeLog: CommitLog {
    /// Returns the head of the tree of the records up to a position.
    ///
    /// - Parameter size: At most ``CommitLog/durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    func treeHead(at size: Position) throws(JournalError) -> TreeHead

    /// Returns a proof that the record at a position is in the tree of a size.
    ///
    /// - Parameters:
    ///   - position: Within 1 and `size`.
    ///   - size: At most ``CommitLog/durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    func inclusionProof(of position: Position, at size: Position) throws(JournalError) -> InclusionProof

    /// Returns a proof that the tree of a size begins with the tree of an earlier size.
    ///
    /// - Parameters:
    ///   - oldSize: At most `size`.
    ///   - size: At most ``CommitLog/durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    func consistencyProof(from oldSize: Position, at size: Position) throws(JournalError) -> ConsistencyProof

    /// Returns the parts of a record that its leaf covers.
    ///
    /// - Parameter position: Within 1 and ``CommitLog/durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    func disclosedRecord(at position: Position) throws(JournalError) -> DisclosedRecord

    /// Calls a closure with the parts of a tree, from left to right: these records, and the hash of
    /// each maximal subtree without one.
    ///
    /// - Parameters:
    ///   - size: At most ``CommitLog/durablePosition``.
    ///   - positions: The disclosed records, ascending without duplicates, each within 1 and
    ///     `size`.
    ///   - body: Receives each part; returns whether to continue.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    func forEachTreePart(of size: Position, disclosing positions: [Position], _ body: (TreePart) -> Bool)
        throws(JournalError)

    /// Writes the tree of the durable records to a directory as static files, or continues one.
    ///
    /// The layout is that of C2SP *tlog-tiles*. The tree checkpoint is written last.
    ///
    /// - Parameters:
    ///   - destination: The directory: new, empty, or that of an earlier run.
    ///   - includingEntries: Whether to write the entries as well; they contain the kept parts.
    /// - Throws: `notAJournal`, `headMismatch` and `damaged` (the directory has other content or
    ///   another tree; it is unchanged), `locked`, `closed`, `storageFull`, `ioFailed`,
    ///   `syncFailed`.
    func writeTiles(to destination: String, includingEntries: Bool) throws(JournalError) -> TilesReport
}

/// The result of writing tiles: ``Journal/writeTiles(to:includingEntries:on:)``.
public struct TilesReport: Hashable, Sendable {
    /// The head of the tree that the directory has.
    public var head: TreeHead
    /// The number of files written, the tree checkpoint included.
    public var writtenFiles: Int
    /// The number of partial tiles removed because full ones replace them.
    public var removedFiles: Int
}

extension Journal: HistoryLog, RefreshableLog, TreeLog, StoredRecordLog {}
