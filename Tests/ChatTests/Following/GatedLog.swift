import EventJournal
import Foundation
import Locking

/// A journal that is durable up to where a test says, and that counts what followers cost it.
///
/// While the gate is closed, whoever waits until something is durable, or for more, waits.
final class GatedLog: CommitLog {
    private struct State {
        var gate: Position
        var recordsRead = 0
        var waits = 0
        var waiting = 0
        var damaged: Position?
        var failure: JournalError?
        var held: Position?
        var isHolding = false
    }

    let journal: Journal
    private let state: Lock<State>

    /// Makes a log that is durable up to a position at most.
    init(_ journal: Journal, gate: Position = .max) {
        self.journal = journal
        state = Lock(State(gate: gate))
    }

    /// How far the log is durable at most.
    var gate: Position {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    /// A position that cannot be read.
    var damaged: Position? {
        get { state.withLock { $0.damaged } }
        set { state.withLock { $0.damaged = newValue } }
    }
    /// What a wait for more ends with while nothing more is durable, as if the log had stopped.
    var failure: JournalError? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }

    /// Holds up the next reading of a position, until ``letGo()``.
    func hold(_ position: Position) { state.withLock { $0.held = position } }
    /// Whether a reading is held up.
    var isHolding: Bool { state.withLock { $0.isHolding } }
    /// Lets the reading go on that is held up.
    func letGo() { state.withLock { $0.isHolding = false } }

    /// Blocks the thread of a reading that is to be held up, a minute at most.
    private func pass(_ position: Position) {
        let isHeld = state.withLock { state in
            guard state.held == position else { return false }
            (state.held, state.isHolding) = (nil, true)
            return true
        }
        let deadline = ContinuousClock.now + .seconds(60)
        while isHeld, isHolding, ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.001) }
    }

    /// How many records were read.
    var recordsRead: Int { state.withLock { $0.recordsRead } }
    /// How many waits for more were begun.
    var waits: Int { state.withLock { $0.waits } }
    /// How many wait for more now.
    var waiting: Int { state.withLock { $0.waiting } }

    var id: JournalID { journal.id }
    var isReadOnly: Bool { journal.isReadOnly }
    var lastPosition: Position { journal.lastPosition }
    var durablePosition: Position { min(gate, journal.durablePosition) }
    var head: JournalHead { journal.head }

    func reserve(_ byteCount: Int) throws(JournalError) { try journal.reserve(byteCount) }

    func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position> {
        try journal.append(draft, expecting: head)
    }

    func waitUntilDurable(_ position: Position) throws(JournalError) { try journal.waitUntilDurable(position) }

    func waitUntilDurable(_ position: Position) async throws(JournalError) {
        try await journal.waitUntilDurable(position)
        let deadline = ContinuousClock.now + .seconds(60)
        while gate < position {
            guard ContinuousClock.now < deadline else {
                throw JournalError(.cancelled, "the gate was never opened", positions: position...position)
            }
            await Task.yield()
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
        if isDamaged, let damaged { throw JournalError(.damaged, "planted", positions: damaged...damaged) }
    }

    func waitForMore(after position: Position) async throws(JournalError) -> Position {
        state.withLock {
            $0.waits += 1
            $0.waiting += 1
        }
        defer { state.withLock { $0.waiting -= 1 } }
        while durablePosition <= position {
            if let failure { throw failure }
            if gate > position { return min(gate, try await journal.waitForMore(after: position)) }
            if Task.isCancelled { throw JournalError(.cancelled, "cancelled") }
            await Task.yield()
        }
        return durablePosition
    }

    func close() throws(JournalError) { try journal.close() }
}
