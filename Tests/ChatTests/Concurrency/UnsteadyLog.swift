import ChatTesting
import EventJournal
import Foundation
import Locking

/// A log that pauses at random points, so that concurrent calls interleave in more ways.
///
/// A flaw makes it violate the contract of `CommitLog`.
final class UnsteadyLog: CommitLog {
    /// An intermittent violation of the contract.
    enum Flaw: CaseIterable {
        /// The durable position decreases, so that queries read an earlier state.
        case goesBack
        /// A wait returns at once, so that answers precede durability.
        case waitsForNothing
    }

    let journal: any CommitLog
    private let flaw: Flaw?
    private let random: Lock<SeededRandom>

    init(_ journal: any CommitLog, seed: UInt64, flaw: Flaw? = nil) {
        self.journal = journal
        self.flaw = flaw
        random = Lock(SeededRandom(seed: seed))
    }

    var id: JournalID { journal.id }
    var isReadOnly: Bool { journal.isReadOnly }
    var lastPosition: Position { journal.lastPosition }
    var head: JournalHead { journal.head }
    var failure: JournalError? { journal.failure }

    var durablePosition: Position {
        linger()
        let durable = journal.durablePosition
        linger()
        return flaw == .goesBack && oneIn(4) ? durable - min(durable, 3) : durable
    }

    func reserve(_ byteCount: Int) throws(JournalError) {
        linger()
        try journal.reserve(byteCount)
    }

    func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position>
    {
        linger()
        let positions = try journal.append(draft, expecting: head)
        linger()
        return positions
    }

    func waitUntilDurable(_ position: Position) throws(JournalError) {
        linger()
        if flaw == .waitsForNothing, oneIn(3) { return }
        try journal.waitUntilDurable(position)
        linger()
    }

    func waitUntilDurable(_ position: Position) async throws(JournalError) {
        if oneIn(3) { await Task.yield() }
        if flaw == .waitsForNothing, oneIn(3) { return }
        try await journal.waitUntilDurable(position)
        if oneIn(3) { await Task.yield() }
    }

    func forEachRecord(
        in positions: ClosedRange<Position>, _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) {
        linger()
        try journal.forEachRecord(in: positions, body)
    }

    func waitForRecords(after position: Position) async throws(JournalError) -> Position {
        try await journal.waitForRecords(after: position)
    }

    func close() throws(JournalError) { try journal.close() }

    private func oneIn(_ count: Int) -> Bool { random.withLock { $0.oneIn(count) } }

    /// Pauses the thread in one of eight calls.
    private func linger() {
        if oneIn(8) { Thread.sleep(forTimeInterval: 0.000_05) }
    }
}
