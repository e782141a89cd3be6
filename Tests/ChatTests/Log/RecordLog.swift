import ChatTesting
import EventJournal
import Locking
import Primitives
import TestSupport

/// A log with all that a log can do by itself from stored records, as one outside of files does.
///
/// The records are those of a journal, and an erasure works on them.
final class RecordLog: RecordTreeLog, RefreshableLog, MovableLog, VerifiableLog {
    let journal: Journal
    let tree = RecordTree()
    /// The storage of tiles.
    private let storage: any JournalStorage
    /// Changes the records that a read delivers, as damage does.
    private let change: @Sendable (Position, [UInt8]) -> [UInt8]?

    /// Called after each read of the head.
    private let afterHead: @Sendable () -> Void

    /// A position at which reads with commits fail, as for a medium that fails for a time; nil for
    /// none.
    let unreadable = Lock<Position?>(nil)
    /// The number of records that were read in their stored form.
    let storedReads = Lock(0)
    /// Called once, before the next read with commits.
    let willRead = Lock<(@Sendable () -> Void)?>(nil)
    /// Called once, before the next wait that blocks its thread.
    let willWait = Lock<(@Sendable () -> Void)?>(nil)
    /// Called once, after the next read of records.
    let didRead = Lock<(@Sendable () -> Void)?>(nil)

    /// Creates the log on a journal.
    ///
    /// - Parameters:
    ///   - change: Returns the bytes to deliver in the place of a record; nil to leave it out.
    ///   - afterHead: Called after each read of the head.
    init(
        _ journal: Journal, _ storage: any JournalStorage,
        change: @escaping @Sendable (Position, [UInt8]) -> [UInt8]? = { $1 },
        afterHead: @escaping @Sendable () -> Void = {}
    ) {
        (self.journal, self.storage, self.change, self.afterHead) = (journal, storage, change, afterHead)
    }

    func forEachStoredRecord(
        in positions: ClosedRange<Position>, _ body: (Position, Int, RawSpan) -> Bool
    ) throws(JournalError) {
        try journal.forEachStoredRecord(in: positions) { position, recordsLeft, record in
            storedReads.withLock { $0 += 1 }
            guard let bytes = change(position, record.toArray()) else { return true }
            return bytes.withBytes { body(position, recordsLeft, $0) }
        }
    }

    func erasedRecords(through last: Position) throws(JournalError) -> PositionSet {
        try journal.erasedRecords(through: last)
    }

    func treeHead(at size: Position) throws(JournalError) -> TreeHead { try tree.head(at: size, of: self) }

    func inclusionProof(of position: Position, at size: Position) throws(JournalError) -> InclusionProof {
        try tree.inclusionProof(of: position, at: size, of: self)
    }

    func consistencyProof(from oldSize: Position, at size: Position) throws(JournalError) -> ConsistencyProof {
        try tree.consistencyProof(from: oldSize, at: size, of: self)
    }

    func disclosedRecord(at position: Position) throws(JournalError) -> DisclosedRecord {
        try tree.disclosedRecord(at: position, of: self)
    }

    func forEachTreePart(of size: Position, disclosing positions: [Position], _ body: (TreePart) -> Bool)
        throws(JournalError)
    {
        try tree.forEachPart(of: size, disclosing: positions, of: self, body)
    }

    func writeTiles(to destination: String, includingEntries: Bool) throws(JournalError) -> TilesReport {
        try tree.writeTiles(
            to: destination, includingEntries: includingEntries, on: storage, size: durablePosition, of: self)
    }

    // MARK: The journal's own

    var id: JournalID { journal.id }
    var isReadOnly: Bool { journal.isReadOnly }
    var lastPosition: Position { journal.lastPosition }
    var failure: JournalError? { journal.failure }
    var durablePosition: Position { journal.durablePosition }
    var head: JournalHead {
        defer { afterHead() }
        return journal.head
    }
    var hiddenContent: PositionSet { journal.hiddenContent }
    var erasedThrough: Position? { journal.erasedThrough }

    func checkOpen() throws(JournalError) { try journal.checkOpen() }
    func reserve(_ byteCount: Int) throws(JournalError) { try journal.reserve(byteCount) }
    func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position>
    {
        try journal.append(draft, expecting: head)
    }
    func waitUntilDurable(_ position: Position) throws(JournalError) {
        willWait.withLock { $0.take() }?()
        try journal.waitUntilDurable(position)
    }
    func waitUntilDurable(_ position: Position) async throws(JournalError) {
        try await journal.waitUntilDurable(position)
    }
    func waitForRecords(after position: Position) async throws(JournalError) -> Position {
        try await journal.waitForRecords(after: position)
    }
    func forEachRecord(
        in positions: ClosedRange<Position>, _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) {
        try journal.forEachRecord(in: positions, body)
        didRead.withLock { $0.take() }?()
    }
    func forEachCommittedRecord(
        in positions: ClosedRange<Position>,
        _ body: (Position, JournalHead, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) {
        willRead.withLock { $0.take() }?()
        let unreadable = unreadable.withLock { $0 }
        try journal.forEachCommittedRecord(in: positions) { position, head, state, kept, erasable in
            position != unreadable && body(position, head, state, kept, erasable)
        }
        if let unreadable, positions.contains(unreadable) {
            throw JournalError(.damaged, "injected", positions: unreadable...unreadable)
        }
    }
    func head(at position: Position) throws(JournalError) -> JournalHead { try journal.head(at: position) }
    func contains(_ head: JournalHead) throws(JournalError) -> Bool { try journal.contains(head) }
    func refresh() throws(JournalError) -> Position { try journal.refresh() }
    func setHiddenContent(_ positions: PositionSet) { journal.setHiddenContent(positions) }
    func eraseContent(of positions: PositionSet, orderedThrough order: Position) throws(JournalError) {
        try journal.eraseContent(of: positions, orderedThrough: order)
    }
    func readLedger() throws(JournalError) -> [UInt8]? { try journal.readLedger() }
    func writeLedger(_ bytes: [UInt8]) throws(JournalError) { try journal.writeLedger(bytes) }
    func movedTo() throws(JournalError) -> String? { try journal.movedTo() }
    func isUnfinishedCopy() throws(JournalError) -> Bool { try journal.isUnfinishedCopy() }
    func syncForCopy() throws(JournalError) -> Position { try journal.syncForCopy() }
    func fence(at position: Position, destination: String) throws(JournalError) {
        try journal.fence(at: position, destination: destination)
    }
    func close() throws(JournalError) { try journal.close() }
}
