import EventJournal
import Foundation
import Locking

/// An ``ArrayLog`` with injected failures, whose waits a test can block.
final class HoldingLog: CommitLog {
    /// The operation that fails.
    enum Fault: CaseIterable {
        /// Each append fails.
        case append
        /// Each sync fails.
        case sync
    }

    private struct State {
        var fault: Fault?
        var failure: JournalError?
        /// The number of waits to block when they begin.
        var toHold = 0
        var holding = 0
    }

    private let log = ArrayLog(ArrayLog.Store())
    private let state = Lock(State())

    /// Makes an operation fail from now on.
    func fail(_ fault: Fault) { state.withLock { $0.fault = fault } }
    /// Stops the log, although no call has failed.
    func stop(_ error: JournalError) { state.withLock { $0.failure = error } }
    /// Blocks the next asynchronous wait.
    func holdNextWait() { state.withLock { $0.toHold = 1 } }
    /// Whether a wait is blocked.
    var isHolding: Bool { state.withLock { $0.holding > 0 } }
    /// Releases the blocked wait.
    func letGo() { state.withLock { $0.holding = 0 } }

    var id: JournalID { log.id }
    var isReadOnly: Bool { log.isReadOnly }
    var lastPosition: Position { log.lastPosition }
    var durablePosition: Position { log.durablePosition }
    var head: JournalHead { log.head }
    var failure: JournalError? { state.withLock { $0.failure } }

    func reserve(_ byteCount: Int) throws(JournalError) { try log.reserve(byteCount) }

    func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position>
    {
        if state.withLock({ $0.fault == .append }) { throw JournalError(.ioFailed, "injected") }
        return try log.append(draft, expecting: head)
    }

    func waitUntilDurable(_ position: Position) throws(JournalError) {
        if position > durablePosition, state.withLock({ $0.fault == .sync }) {
            throw JournalError(.syncFailed, "injected")
        }
        try log.waitUntilDurable(position)
    }

    func waitUntilDurable(_ position: Position) async throws(JournalError) {
        let isHeld = state.withLock { state in
            guard state.toHold > 0 else { return false }
            (state.toHold, state.holding) = (0, 1)
            return true
        }
        for _ in 0..<30_000 where isHeld && isHolding { try? await Task<Never, Never>.sleep(for: .milliseconds(1)) }
        let wait: () throws(JournalError) -> Void = { () throws(JournalError) in try self.waitUntilDurable(position) }
        try wait()
    }

    func forEachRecord(
        in positions: ClosedRange<Position>, _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) {
        try log.forEachRecord(in: positions, body)
    }

    func waitForRecords(after position: Position) async throws(JournalError) -> Position {
        try await log.waitForRecords(after: position)
    }

    func close() throws(JournalError) { try log.close() }
}
