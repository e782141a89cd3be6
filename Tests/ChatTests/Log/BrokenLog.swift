import EventJournal
import Locking

/// A journal with an injected fault that the contract has to detect.
final class BrokenLog: CommitLog {
    enum Fault: CaseIterable {
        /// A read skips its second record.
        case skipsRecords
        /// Two appends succeed at the same head.
        case ignoresTheHead
        /// Followers learn of records before the records are durable.
        case announcesEarly
        /// Damage ends a read without an error.
        case hidesDamage
        /// The durable position lies inside a commit.
        case cutsCommits
        /// A close does not end a follower's wait.
        case forgetsFollowers
        /// A cancellation does not end a follower's wait.
        case ignoresCancellation
        /// A read beyond the end stops at the end without an error.
        case readsWhatThereIs
        /// An append accepts an empty draft.
        case takesNothing
        /// The head does not depend on the history.
        case forgetsHistory
    }

    let fault: Fault
    let journal: Journal

    init(_ journal: Journal, _ fault: Fault) {
        self.journal = journal
        self.fault = fault
    }

    var id: JournalID { journal.id }
    var isReadOnly: Bool { journal.isReadOnly }
    var lastPosition: Position { journal.lastPosition }
    var failure: JournalError? { journal.failure }
    var head: JournalHead {
        var head = journal.head
        if fault == .forgetsHistory { head.chain = 0 }
        return head
    }
    var durablePosition: Position {
        let durable = journal.durablePosition
        return fault == .cutsCommits && durable > 1 ? durable - 1 : durable
    }

    func reserve(_ byteCount: Int) throws(JournalError) { try journal.reserve(byteCount) }

    func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position>
    {
        if fault == .takesNothing, draft.recordCount == 0 { return head...head }
        while true {
            do throws(JournalError) {
                return try journal.append(draft, expecting: fault == .ignoresTheHead ? journal.lastPosition : head)
            } catch {
                guard fault == .ignoresTheHead, error.code == .conflict else { throw error }
            }
        }
    }

    func waitUntilDurable(_ position: Position) throws(JournalError) { try journal.waitUntilDurable(position) }
    func waitUntilDurable(_ position: Position) async throws(JournalError) {
        try await journal.waitUntilDurable(position)
    }

    func forEachRecord(
        in positions: ClosedRange<Position>, _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) {
        var positions = positions
        if fault == .readsWhatThereIs {
            guard positions.overlaps(1...max(1, lastPosition)) else { return }
            positions = positions.clamped(to: 1...max(1, lastPosition))
        }
        do throws(JournalError) {
            try journal.forEachRecord(in: positions) { position, state, kept, erasable in
                if fault == .skipsRecords, position == positions.lowerBound + 1 { return true }
                return body(position, state, kept, erasable)
            }
        } catch {
            guard fault == .hidesDamage, error.code == .damaged else { throw error }
        }
    }

    func waitForRecords(after position: Position) async throws(JournalError) -> Position {
        if fault == .announcesEarly, journal.lastPosition > position { return journal.lastPosition }
        if fault == .ignoresCancellation { return try await Task { await self.outcome(after: position) }.value.get() }
        do throws(JournalError) {
            return try await journal.waitForRecords(after: position)
        } catch {
            guard fault == .forgetsFollowers, error.code == .closed else { throw error }
            do { try await Task.sleep(for: .seconds(3_600)) } catch { throw JournalError(.cancelled, "cancelled") }
            throw error
        }
    }

    private func outcome(after position: Position) async -> Result<Position, JournalError> {
        do throws(JournalError) { return .success(try await journal.waitForRecords(after: position)) } catch {
            return .failure(error)
        }
    }

    func close() throws(JournalError) { try journal.close() }
}
