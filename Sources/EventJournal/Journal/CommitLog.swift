/// What a store asks of its log: an ordered sequence of records, appended in commits.
///
/// ``Journal`` is one, on files. A log that is replicated can take its place with nothing else changed; the contract below is all that a
/// store relies on, and `CommitLogContract` of `ChatTesting` holds any implementation to it.
///
/// - **Order.** Records are numbered 1, 2, 3, ... with no gap, in the order of their commits and within a commit in that of its draft. A
///   position, once given, never stands for another record. Whoever can read a record can read all before it.
/// - **Atomicity.** A commit is there whole or not at all: to readers (``durablePosition`` never lies inside a commit), after a crash, and
///   after an error.
/// - **Durable** means that the log will have it after whatever it promises to survive. ``durablePosition`` never decreases, and is never
///   beyond ``lastPosition``. What lies between the two may still vanish in a crash and must not be shown to anybody.
/// - **Errors** are ``JournalError``s. One that is documented as refusing (`conflict`, `storageFull`, `tooLarge`, `outOfRange`, `closed`,
///   `readOnly`, `cancelled`) has changed nothing. After any other error of ``append(_:expecting:)`` or of a wait nobody can say whether the
///   commit will be there; the log has then stopped: appends and waits throw that error until it is opened again, and reads go on.
///
/// All requirements may be called from any thread, at the same time.
public protocol CommitLog: Sendable {
    /// The log's identity; copies of its records under another identity are another log.
    var id: JournalID { get }

    /// Whether appends are refused for as long as the log is open.
    var isReadOnly: Bool { get }

    /// The last position appended; 0 when there is none.
    ///
    /// An append that returned is counted, by whatever thread asks afterwards.
    var lastPosition: Position { get }

    /// The last position that is durable; 0 when there is none.
    var durablePosition: Position { get }

    /// The token of everything that is durable.
    ///
    /// Its position is ``durablePosition`` at one moment, and its chain value depends on every record up to there: it is another after each
    /// commit, and the same after closing and opening again.
    var head: JournalHead { get }

    /// Makes sure that the next commits of together at most `byteCount` bytes (``CommitDraft/encodedByteCount``) will not be refused for want
    /// of space.
    ///
    /// Reservations do not add up: a later one replaces an earlier one. A log that cannot run out of space need not do anything.
    ///
    /// - Throws: `storageFull` (tried again at the next call), `tooLarge`, `readOnly`, `closed`; or the error that stopped the log.
    func reserve(_ byteCount: Int) throws(JournalError)

    /// Appends the draft's records as one commit, if `head` is the last position.
    ///
    /// Of several appends that expect the same head one takes effect, and the others are refused. It need not wait until the commit is
    /// durable. The draft is left as it is; ``CommitDraft/forEachRecord(_:)`` gives its records.
    ///
    /// - Returns: The positions of the records: from `head + 1` on, as many as the draft has records.
    /// - Throws: `conflict` (`head` is not the last position), `tooLarge` (an empty draft, or one over a limit), `storageFull`, `readOnly`,
    ///   `closed`; or the error that stopped the log.
    func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position>

    /// Blocks until everything up to `position` is durable.
    ///
    /// - Throws: `outOfRange` (beyond ``lastPosition``); `closed` or the error that stopped the log, unless the position was durable before.
    func waitUntilDurable(_ position: Position) throws(JournalError)

    /// Waits until everything up to `position` is durable, without holding a thread; otherwise as the blocking form.
    ///
    /// Cancelling the task does not end the wait.
    func waitUntilDurable(_ position: Position) async throws(JournalError)

    /// Calls a closure with the records at some positions, in order, each with its position.
    ///
    /// A record that cannot be delivered as it was appended ends the reading with an error; none is ever skipped, changed or given twice.
    /// What was delivered before the error is right. The spans are valid only during the call of the closure.
    ///
    /// - Parameters:
    ///   - positions: Within 1 and ``lastPosition``.
    ///   - body: Is given the position, what the record still holds, its kept part and its erasable part (empty unless the record is whole);
    ///     returns whether to go on.
    /// - Throws: `outOfRange` (nothing was delivered), `closed`, `damaged`, `ioFailed`.
    func forEachRecord(
        in positions: ClosedRange<Position>,
        _ body: (_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) -> Bool
    ) throws(JournalError)

    /// Calls a closure with the records at each of some positions.
    ///
    /// As ``forEachRecord(in:_:)`` for each of them, which is what it does where a log has no better way; for none it does nothing.
    ///
    /// - Parameters:
    ///   - positions: Each within 1 and ``lastPosition`` and not below the one before it.
    ///   - body: As for ``forEachRecord(in:_:)``.
    /// - Throws: `outOfRange` (one is not there, or below the one before it; nothing was delivered), `closed`, `damaged`, `ioFailed`.
    func forEachRecord(
        at positions: [Position],
        _ body: (_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) -> Bool
    ) throws(JournalError)

    /// Waits until more than `position` is durable, without holding a thread, and returns the durable position.
    ///
    /// It returns at once when that is so already, also when the log has been closed or has stopped. A reader that reads up to the position
    /// returned and then waits after it meets every record once.
    ///
    /// - Throws: `outOfRange` (`position` is beyond ``lastPosition``); when nothing more is durable: `closed` once the log is closed, the error
    ///   that stopped the log once it has stopped, and `cancelled` once the task is cancelled.
    func waitForMore(after position: Position) async throws(JournalError) -> Position

    /// Makes everything appended durable and releases the log; the second time it does nothing.
    ///
    /// Afterwards appends, reservations and reads are refused with `closed`, and whoever waits for more is woken.
    ///
    /// - Throws: The error that stopped the log, now or earlier; it is closed all the same.
    func close() throws(JournalError)
}

extension CommitLog {
    /// Calls a closure with the records at each of some positions, by a reading of its own for each.
    ///
    /// - Parameters:
    ///   - positions: Each within 1 and ``lastPosition`` and not below the one before it.
    ///   - body: As for ``forEachRecord(in:_:)``.
    /// - Throws: `outOfRange` (one is not there, or below the one before it; nothing was delivered), `closed`, `damaged`, `ioFailed`.
    public func forEachRecord(
        at positions: [Position],
        _ body: (_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) -> Bool
    ) throws(JournalError) {
        try checkAscending(positions)
        let last = lastPosition
        if let wrong = positions.first(where: { $0 < 1 || $0 > last }) {
            throw JournalError(.outOfRange, "The log holds the positions from 1 to \(last).", positions: wrong...wrong)
        }
        var goesOn = true
        for position in positions where goesOn {
            try forEachRecord(in: position...position) { position, state, kept, erasable in
                goesOn = body(position, state, kept, erasable)
                return goesOn
            }
        }
    }

    /// Throws `outOfRange` unless none of some positions is below the one before it.
    func checkAscending(_ positions: [Position]) throws(JournalError) {
        if let wrong = zip(positions, positions.dropFirst()).first(where: { $0 > $1 }) {
            throw JournalError(.outOfRange, "Position \(wrong.1) comes after position \(wrong.0).", positions: wrong.1...wrong.0)
        }
    }

    /// Reads records in order, with a closure that may throw.
    ///
    /// - Parameters:
    ///   - positions: Within 1 and ``lastPosition``. What is beyond ``durablePosition`` must not be shown to anybody.
    ///   - body: Is given the position, what the record still holds, the kept part and the erasable part (empty unless the record is whole),
    ///     valid only during the call.
    /// - Throws: ``ReadError/journal(_:)`` with what ``forEachRecord(in:_:)`` throws; ``ReadError/body(_:)`` with what `body` threw.
    /// - Complexity: As ``forEachRecord(in:_:)``.
    package func read<Failure: Error>(
        _ positions: ClosedRange<Position>,
        _ body: (_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) throws(Failure) -> Void
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

/// Why `CommitLog.read` ended early: the log's failure, or the error that the caller's own closure threw.
package enum ReadError<Body: Error>: Error {
    /// The log could not deliver a record.
    case journal(JournalError)
    /// The caller's closure threw this.
    case body(Body)
}
