import ChatDomain
public import EventJournal
import Locking

extension ChatStore {
    /// Opens a store that decides commands and discards their events, to try an import.
    ///
    /// Commands are decided as by a store on the log, one after the other, with the effects of
    /// those before. Nothing is written. The new events count and are found by queries without
    /// texts; they cannot be read or followed. Memory is proportional to the events of the log and
    /// the new ones, as for any store, without their texts.
    ///
    /// - Parameters:
    ///   - log: An open log, which the store owns. Another process may be writing it; later events
    ///     are not seen. Nil for a new log.
    ///   - options: As for ``open(log:options:)``; there are no checkpoints, so that the whole log
    ///     is replayed.
    /// - Throws: The errors of ``open(log:options:)``.
    public static func openForDryRun(log: (any CommitLog)?, options: StoreOptions = StoreOptions()) throws(ChatError)
        -> ChatStore
    {
        try open(log: DiscardingLog(log), options: options)
    }

    /// Whether new events are discarded.
    var isDryRun: Bool { log is DiscardingLog }
}

/// A log that begins with the records of another log and discards what is appended.
private final class DiscardingLog: CommitLog {
    private let base: (any CommitLog)?
    private let baseHead: JournalHead
    private let state: Lock<(last: Position, isClosed: Bool)>

    init(_ base: (any CommitLog)?) {
        self.base = base
        baseHead = base?.head ?? JournalHead(journal: JournalID(bits: 0), position: 0, chain: 0)
        state = Lock((baseHead.position, false))
    }

    var id: JournalID { baseHead.journal }
    var isReadOnly: Bool { false }
    var lastPosition: Position { state.withLock { $0.last } }
    var durablePosition: Position { lastPosition }
    var failure: JournalError? { base?.failure }
    /// Has the chain value of the base, because discarded records have none.
    var head: JournalHead { JournalHead(journal: id, position: lastPosition, chain: baseHead.chain) }

    func reserve(_ byteCount: Int) throws(JournalError) { _ = try openPosition() }

    func append(_ draft: borrowing CommitDraft, expecting expected: Position) throws(JournalError) -> ClosedRange<
        Position
    > {
        let count = Position(draft.recordCount)
        guard count > 0 else { throw JournalError(.tooLarge, "The draft is empty.") }
        try state.withLock { state throws(JournalError) in
            if state.isClosed { throw Self.closed }
            guard state.last == expected else { throw JournalError(.conflict, "The last position is \(state.last).") }
            state.last += count
        }
        return expected + 1...expected + count
    }

    func waitUntilDurable(_ position: Position) throws(JournalError) {
        guard position <= lastPosition else { throw JournalError(.outOfRange, "The last position is \(lastPosition).") }
    }

    func waitUntilDurable(_ position: Position) async throws(JournalError) {
        guard position <= lastPosition else { throw JournalError(.outOfRange, "The last position is \(lastPosition).") }
    }

    func forEachRecord(
        in positions: ClosedRange<Position>, _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) {
        _ = try openPosition()
        guard let base, positions.upperBound <= baseHead.position else {
            throw JournalError(.outOfRange, "A dry run keeps no new events.", positions: positions)
        }
        try base.forEachRecord(in: positions, body)
    }

    func waitForRecords(after position: Position) async throws(JournalError) -> Position {
        let last = try openPosition()
        guard position < last else { throw JournalError(.closed, "A dry run cannot be followed.") }
        return last
    }

    func close() throws(JournalError) {
        state.withLock { $0.isClosed = true }
        try base?.close()
    }

    private func openPosition() throws(JournalError) -> Position {
        let (last, isClosed) = state.withLock { $0 }
        if isClosed { throw Self.closed }
        return last
    }

    private static var closed: JournalError { JournalError(.closed, "The log is closed.") }
}
