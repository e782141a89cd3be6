// What a log may offer beyond ``CommitLog``. A store asks its log for each of these and does without where the log does not conform.

/// A log that names its history up to any commit: what resume tokens are made of and compared with.
///
/// A log that does not conform names the history up to its durable end alone, by ``CommitLog/head``.
public protocol HistoryLog: CommitLog {
    /// The token of the log up to the end of the commit that holds a position; that of the empty log for 0.
    ///
    /// - Parameter position: Up to ``CommitLog/lastPosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    func head(at position: Position) throws(JournalError) -> JournalHead

    /// Whether the log holds exactly the history that a token names: a commit of this log ends there, with that chain value.
    ///
    /// - Throws: `closed`, `damaged`, `ioFailed`. A position beyond the end is no error: the log does not hold it.
    func contains(_ head: JournalHead) throws(JournalError) -> Bool
}

/// A log that tells where its commits end.
public protocol CommitBoundaryLog: CommitLog {
    /// Calls a closure with the records at some positions and with the last position of the commit of each.
    ///
    /// Otherwise as ``CommitLog/forEachRecord(in:_:)``.
    func forEachCommittedRecord(
        in positions: ClosedRange<Position>,
        _ body: (_ position: Position, _ commitEnd: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) -> Bool
    ) throws(JournalError)
}

/// A log that another process may be writing, so that a reader has to ask for what is new.
public protocol RefreshableLog: CommitBoundaryLog {
    /// Reads what has been made durable since the log was opened for reading, or since the last time.
    ///
    /// On a log that is open for writing it does nothing.
    ///
    /// - Returns: The last position that may be shown.
    /// - Throws: `closed`, `damaged`, `notFound`, `ioFailed`; what was read before stays.
    @discardableResult
    func refresh() throws(JournalError) -> Position
}

/// A log with a directory for the checkpoints of projections.
///
/// A checkpoint is used only if the log ``HistoryLog/contains(_:)`` the history that it was made of, and if no content of that history has
/// been erased since.
public protocol CheckpointLog: HistoryLog {
    /// The path of the directory, and the storage that it is on; it exists while the log is open.
    var checkpointDirectory: (path: String, storage: any JournalStorage) { get }

    /// A mark of the content that has been erased up to a position: 0 while none has, and another value after each erasure.
    func erasureMark(through position: Position) -> UInt64
}

extension Journal: HistoryLog, CommitBoundaryLog, RefreshableLog {}
