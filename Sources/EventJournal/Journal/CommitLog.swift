/// Receives a record of a log; returns whether to continue.
///
/// - Parameters:
///   - kept: The part of the record that no erasure removes.
///   - erasable: The erasable part; empty if it was erased.
public typealias RecordHandler = (
    _ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan
) -> Bool

/// The log that a store requires: an ordered sequence of records, appended in commits.
///
/// ``Journal`` implements it with files. A replicated log can take its place. A store relies only
/// on the contract below, and `CommitLogContract` of `ChatTesting` tests an implementation against
/// it.
///
/// - **Order.** Records have the positions 1, 2, 3, ... without gaps, in the order of their
///   commits, and within a commit in the order of its draft. A position always refers to the same
///   record. If a record is readable, all records before it are readable.
/// - **Atomicity.** A commit exists completely or not at all: for readers (``durablePosition`` is
///   never inside a commit), after a crash, and after an error.
/// - **Durability.** A durable record survives every failure that the log promises to survive.
///   ``durablePosition`` never decreases and never exceeds ``lastPosition``. A crash may lose the
///   records between the two, so they must not be shown to users.
/// - **Errors.** Every error is a ``JournalError``. The rejections (`conflict`, `storageFull`,
///   `tooLarge`, `outOfRange`, `closed`, `readOnly`, `cancelled`) change nothing. After any other
///   error of ``append(_:expecting:)`` or of a wait, it is unknown whether the commit is durable,
///   and the log has stopped: appends and waits throw that error until the log is reopened, and
///   reads continue to work.
/// - **Stopping.** A log that finds by itself that it cannot go on (its files are gone, another
///   writer has taken over) stops as after a failed append: ``failure`` has the error, and callers
///   that wait are woken with it.
///
/// All requirements may be called from any thread, concurrently.
public protocol CommitLog: Sendable {
    /// The log's identity.
    ///
    /// A copy of the records under another id is another log.
    var id: JournalID { get }

    /// Whether the log rejects appends while it is open.
    var isReadOnly: Bool { get }

    /// The last position appended; 0 when the log is empty.
    ///
    /// Includes every append that has returned, on any thread.
    var lastPosition: Position { get }

    /// The last durable position; 0 when the log is empty.
    var durablePosition: Position { get }

    /// The head of the durable history: the log's id, ``durablePosition`` and the chain value
    /// there.
    ///
    /// The position and the chain value are of the same moment. The chain value depends on every
    /// record up to the position, so it changes with each commit and stays the same when the log is
    /// reopened.
    var head: JournalHead { get }

    /// The error that stopped the log; nil while it runs, and after a close without one.
    ///
    /// Asked for by each command and query of a store, so it must not wait.
    var failure: JournalError? { get }

    /// Ensures that the next commits of at most `byteCount` bytes in total do not fail for lack of
    /// space.
    ///
    /// The unit is that of ``CommitDraft/encodedByteCount``. Reservations do not add up: a later
    /// one replaces an earlier one. A log that cannot run out of space may do nothing.
    ///
    /// - Throws: `storageFull` (the caller may retry), `tooLarge`, `readOnly`, `closed`, or the
    ///   error that stopped the log.
    func reserve(_ byteCount: Int) throws(JournalError)

    /// Appends the draft's records as one commit if `expected` is the last position.
    ///
    /// If several appends expect the same position, one succeeds and the others throw `conflict`.
    /// The call need not wait until the commit is durable. The draft is unchanged;
    /// ``CommitDraft/forEachRecord(_:)`` returns its records.
    ///
    /// - Returns: The positions of the records, starting at `expected + 1`.
    /// - Throws: `conflict` (`expected` is not the last position), `tooLarge` (the draft is empty
    ///   or exceeds a limit), `storageFull`, `readOnly`, `closed`, or the error that stopped the
    ///   log.
    func append(_ draft: borrowing CommitDraft, expecting expected: Position) throws(JournalError) -> ClosedRange<
        Position
    >

    /// Blocks until the records up to `position` are durable.
    ///
    /// - Throws: `outOfRange` (beyond ``lastPosition``), `closed`, or the error that stopped the
    ///   log. Does not throw if the position was already durable.
    func waitUntilDurable(_ position: Position) throws(JournalError)

    /// Waits until the records up to `position` are durable, without blocking a thread.
    ///
    /// Otherwise the same as the blocking form. Cancelling the task does not end the wait.
    func waitUntilDurable(_ position: Position) async throws(JournalError)

    /// Calls a closure with each record in a range of positions, in order.
    ///
    /// A record that cannot be delivered as it was appended ends the read with an error. No record
    /// is skipped, changed or delivered twice, and every record delivered before the error is
    /// correct. The spans are valid only during the call of the closure.
    ///
    /// - Parameters:
    ///   - positions: Within 1 and ``lastPosition``.
    ///   - body: Receives the position, the state of the record's content, the kept part and the
    ///     erasable part (empty unless the record is whole). Returns whether to continue.
    /// - Throws: `outOfRange` (no record was delivered), `closed`, `damaged`, `ioFailed`.
    func forEachRecord(in positions: ClosedRange<Position>, _ body: RecordHandler) throws(JournalError)

    /// Calls a closure with the record at each of the given positions, in ascending order.
    ///
    /// Equivalent to ``forEachRecord(in:_:)`` for each position, which is the default
    /// implementation. Does nothing for an empty list.
    ///
    /// - Parameters:
    ///   - positions: Each within 1 and ``lastPosition``, in ascending order; duplicates are
    ///     allowed.
    ///   - body: The same as for ``forEachRecord(in:_:)``.
    /// - Throws: `outOfRange` (a position does not exist or is less than its predecessor; no record
    ///   was delivered), `closed`, `damaged`, `ioFailed`.
    func forEachRecord(at positions: [Position], _ body: RecordHandler) throws(JournalError)

    /// Waits until a position after `position` is durable, without blocking a thread, and returns
    /// the durable position.
    ///
    /// Returns at once if a later position is already durable, even after the log was closed or has
    /// stopped. A reader that reads up to the returned position and then waits after it sees every
    /// record exactly once.
    ///
    /// - Throws: `outOfRange` (`position` is beyond ``lastPosition``). If no later position is
    ///   durable: `closed` after the log is closed, the error that stopped the log, and `cancelled`
    ///   after the task is cancelled.
    func waitForRecords(after position: Position) async throws(JournalError) -> Position

    /// Makes all appended records durable and releases the log; a second call does nothing.
    ///
    /// Afterwards appends, reservations and reads throw `closed`, and followers that wait for more
    /// records are woken.
    ///
    /// - Throws: The error that stopped the log, now or earlier; the log is closed in any case.
    func close() throws(JournalError)
}

extension CommitLog {
    /// Calls a closure with the record at each of the given positions, with one read for each.
    ///
    /// - Parameters:
    ///   - positions: Each within 1 and ``lastPosition``, in ascending order; duplicates are
    ///     allowed.
    ///   - body: The same as for ``forEachRecord(in:_:)``.
    /// - Throws: `outOfRange` (a position does not exist or is less than its predecessor; no record
    ///   was delivered), `closed`, `damaged`, `ioFailed`.
    public func forEachRecord(at positions: [Position], _ body: RecordHandler) throws(JournalError) {
        try checkAscending(positions)
        let last = lastPosition
        if let wrong = positions.first(where: { $0 < 1 || $0 > last }) {
            throw JournalError(.outOfRange, "The log holds the positions from 1 to \(last).", positions: wrong...wrong)
        }
        var continues = true
        for position in positions where continues {
            try forEachRecord(in: position...position) { position, state, kept, erasable in
                continues = body(position, state, kept, erasable)
                return continues
            }
        }
    }

    /// Throws `outOfRange` if a position is less than its predecessor.
    func checkAscending(_ positions: [Position]) throws(JournalError) {
        if let wrong = zip(positions, positions.dropFirst()).first(where: { $0 > $1 }) {
            throw JournalError(
                .outOfRange, "Position \(wrong.1) comes after position \(wrong.0).", positions: wrong.1...wrong.0)
        }
    }

    /// Reads a range of records in order, with a closure that may throw.
    ///
    /// - Parameters:
    ///   - positions: Within 1 and ``lastPosition``. Records beyond ``durablePosition`` must not be
    ///     shown to users.
    ///   - body: Receives the position, the state of the record's content, the kept part and the
    ///     erasable part (empty unless the record is whole). The spans are valid only during the
    ///     call.
    /// - Throws: ``ReadError/journal(_:)`` with the errors of ``forEachRecord(in:_:)``;
    ///   ``ReadError/body(_:)`` with the error of `body`.
    /// - Complexity: The same as ``forEachRecord(in:_:)``.
    package func read<Failure: Error>(
        _ positions: ClosedRange<Position>,
        _ body: (_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan)
            throws(Failure) -> Void
    ) throws(ReadError<Failure>) {
        var thrown: Failure?
        do throws(JournalError) {
            try forEachRecord(in: positions) { position, state, kept, erasable in
                do throws(Failure) {
                    try body(position, state, kept, erasable)
                    return true
                } catch {
                    thrown = error
                    return false
                }
            }
        } catch {
            throw .journal(error)
        }
        if let thrown { throw .body(thrown) }
    }
}

/// The reason that `CommitLog.read` ended early.
package enum ReadError<Body: Error>: Error {
    /// The log could not deliver a record.
    case journal(JournalError)
    /// The caller's closure threw an error.
    case body(Body)
}
