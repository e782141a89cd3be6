import EventJournal
import Foundation
import Locking
import TestSupport

/// A log whose durable position a test limits, and that counts the reads and waits of
/// followers.
///
/// Waits for a position beyond the gate block until the gate opens.
final class GatedLog: CommitLog {
    private struct State {
        var gate: Position
        var recordsRead = 0
        var waits = 0
        var waiting = 0
        var damaged: Position?
        var waitFailure: JournalError?
        var held: Position?
        var isHolding = false
        var beforeAppend: (@Sendable () -> Void)?
    }

    let journal: any ErasableLog
    private let state: Lock<State>

    /// Creates a log that is durable up to `gate` at most.
    init(_ journal: any ErasableLog, gate: Position = .max) {
        self.journal = journal
        state = Lock(State(gate: gate))
    }

    /// The upper bound of the durable position.
    var gate: Position {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    /// A position whose read throws `damaged`.
    var damaged: Position? {
        get { state.withLock { $0.damaged } }
        set { state.withLock { $0.damaged = newValue } }
    }
    /// The error of a wait while no further record is durable.
    var waitFailure: JournalError? {
        get { state.withLock { $0.waitFailure } }
        set { state.withLock { $0.waitFailure = newValue } }
    }

    /// Is called before a commit is appended, by who appends it.
    var beforeAppend: (@Sendable () -> Void)? {
        get { state.withLock { $0.beforeAppend } }
        set { state.withLock { $0.beforeAppend = newValue } }
    }

    /// Blocks the next read of a position until ``letGo()``.
    func hold(_ position: Position) { state.withLock { $0.held = position } }
    /// Whether a read is blocked.
    var isHolding: Bool { state.withLock { $0.isHolding } }
    /// Releases the blocked read.
    func letGo() { state.withLock { $0.isHolding = false } }

    /// Blocks the reading thread at the held position, for many turns at most.
    private func pass(_ position: Position) {
        let isHeld = state.withLock { state in
            guard state.held == position else { return false }
            (state.held, state.isHolding) = (nil, true)
            return true
        }
        if isHeld { _ = inTurns { !isHolding } }
    }

    /// The number of records read.
    var recordsRead: Int { state.withLock { $0.recordsRead } }
    /// The number of waits for more records that have begun.
    var waits: Int { state.withLock { $0.waits } }
    /// The number of waits for more records in progress.
    var waiting: Int { state.withLock { $0.waiting } }

    var id: JournalID { journal.id }
    var isReadOnly: Bool { journal.isReadOnly }
    var lastPosition: Position { journal.lastPosition }
    var durablePosition: Position { min(gate, journal.durablePosition) }
    var head: JournalHead { journal.head }
    var failure: JournalError? { journal.failure }

    func reserve(_ byteCount: Int) throws(JournalError) { try journal.reserve(byteCount) }

    func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position>
    {
        beforeAppend?()
        return try journal.append(draft, expecting: head)
    }

    func waitUntilDurable(_ position: Position) throws(JournalError) { try journal.waitUntilDurable(position) }

    func waitUntilDurable(_ position: Position) async throws(JournalError) {
        try await journal.waitUntilDurable(position)
        for _ in 0..<30_000 where gate < position { try? await Task<Never, Never>.sleep(for: .milliseconds(1)) }
        if gate < position {
            throw JournalError(.cancelled, "the gate was never opened", positions: position...position)
        }
    }

    func forEachRecord(
        in positions: ClosedRange<Position>, _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) {
        let damaged = damaged
        var isDamaged = false
        try journal.forEachRecord(in: positions) { position, recordState, kept, erasable in
            state.withLock { $0.recordsRead += 1 }
            pass(position)
            isDamaged = position == damaged
            return isDamaged ? false : body(position, recordState, kept, erasable)
        }
        if isDamaged, let damaged { throw JournalError(.damaged, "injected", positions: damaged...damaged) }
    }

    func waitForRecords(after position: Position) async throws(JournalError) -> Position {
        state.withLock {
            $0.waits += 1
            $0.waiting += 1
        }
        defer { state.withLock { $0.waiting -= 1 } }
        while durablePosition <= position {
            if let waitFailure { throw waitFailure }
            if gate > position { return min(gate, try await journal.waitForRecords(after: position)) }
            if Task.isCancelled { throw JournalError(.cancelled, "cancelled") }
            await Task.yield()
        }
        return durablePosition
    }

    func close() throws(JournalError) { try journal.close() }
}

extension GatedLog: ErasableLog {
    var hiddenContent: PositionSet { journal.hiddenContent }
    var erasedThrough: Position? { journal.erasedThrough }

    func setHiddenContent(_ positions: PositionSet) { journal.setHiddenContent(positions) }

    func eraseContent(of positions: PositionSet, orderedThrough order: Position) throws(JournalError) {
        try journal.eraseContent(of: positions, orderedThrough: order)
    }

    func readLedger() throws(JournalError) -> [UInt8]? { try journal.readLedger() }

    func writeLedger(_ bytes: [UInt8]) throws(JournalError) { try journal.writeLedger(bytes) }
}
