import ChatDomain
import ChatTesting
import EventJournal
import Testing

@testable import Chat

/// A store uses the capabilities of its log beyond `CommitLog`.
@Suite struct LogCapabilityTests {
    /// A log that adds checkpoints and a head per commit to `CommitLog`.
    private final class CapableLog: CheckpointLog {
        private let journal: Journal

        init(_ journal: Journal) { self.journal = journal }

        var id: JournalID { journal.id }
        var isReadOnly: Bool { journal.isReadOnly }
        var lastPosition: Position { journal.lastPosition }
        var failure: JournalError? { journal.failure }
        var durablePosition: Position { journal.durablePosition }
        var head: JournalHead { journal.head }
        var checkpointDirectory: (path: String, storage: any JournalStorage) { journal.checkpointDirectory }

        func reserve(_ byteCount: Int) throws(JournalError) { try journal.reserve(byteCount) }

        func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<
            Position
        > {
            try journal.append(draft, expecting: head)
        }

        func waitUntilDurable(_ position: Position) throws(JournalError) { try journal.waitUntilDurable(position) }

        func waitUntilDurable(_ position: Position) async throws(JournalError) {
            try await journal.waitUntilDurable(position)
        }

        func forEachRecord(
            in positions: ClosedRange<Position>, _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
        ) throws(JournalError) {
            try journal.forEachRecord(in: positions, body)
        }

        func waitForRecords(after position: Position) async throws(JournalError) -> Position {
            try await journal.waitForRecords(after: position)
        }

        func close() throws(JournalError) { try journal.close() }

        func head(at position: Position) throws(JournalError) -> JournalHead { try journal.head(at: position) }

        func contains(_ head: JournalHead) throws(JournalError) -> Bool { try journal.contains(head) }

        func forEachCommittedRecord(
            in positions: ClosedRange<Position>,
            _ body: (Position, JournalHead, RecordContentState, RawSpan, RawSpan) -> Bool
        ) throws(JournalError) {
            try journal.forEachCommittedRecord(in: positions, body)
        }

        func erasureMark(through position: Position) -> UInt64 { journal.erasureMark(through: position) }
    }

    private let storage = MemoryStorage()

    private func open(_ path: String = "journal") throws -> ChatStore {
        let journal = try Journal.open(path, options: JournalOptions(storage: storage, entropy: SeededEntropy(seed: 1)))
        return try ChatStore.open(
            log: CapableLog(journal),
            options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1), checkpoints: .loadingOnly))
    }

    /// Returns a store with a registration and a postcode change of three events.
    private func store() throws -> ChatStore {
        let store = try open()
        let ann = UserID(bits: 1)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))
        #expect(store.journal == nil && store.head.position == 4)
        return store
    }

    @Test func checkpointIsLoadedFromTheLogsDirectory() throws {
        let first = try store()
        try first.writeCheckpoint()
        let users = try first.userID(named: "Ann")
        try first.close()
        let second = try open()
        #expect(second.statistics.checkpoints?.loadedPosition == 4)
        #expect(try second.userID(named: "Ann") == users)
    }

    @Test func tokenOfAnyPositionNamesTheHistoryUpToItsCommit() throws {
        let store = try store()
        let tokens = try (0...4).map { try store.resumeToken(after: $0) }
        #expect(tokens.map(\.head.position) == [0, 1, 4, 4, 4])
        for token in tokens { try store.check(token) }
    }

    @Test func backupNeedsStoredRecords() throws {
        let store = try store()
        expectError("notAJournal") { try store.backup(to: "copy", upTo: 1) }
    }
}
