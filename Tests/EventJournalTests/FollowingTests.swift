import Locking
import Testing

@testable import EventJournal

/// `Journal.waitForRecords(after:)`: wake-up conditions, results and errors.
// The time limit only ends a wait that would never return.
@Suite(.timeLimit(.minutes(3))) struct FollowingTests {
    private func journal(
        _ durability: Durability = .synced, _ storage: any JournalStorage = MemoryStorage(),
        segmentSize: UInt64 = 1 << 20,
        slotSyncDelay: Duration? = .milliseconds(100)
    ) throws -> Journal {
        try Journal.open(
            "journal",
            options: JournalOptions(
                durability: durability, segmentSize: segmentSize, storage: storage, slotSyncDelay: slotSyncDelay))
    }

    /// Starts tasks that wait after a position; returns when all of them wait.
    private func followers(_ count: Int, of journal: Journal, after position: Position) async throws -> [Task<
        Position, any Error
    >] {
        let before = journal.followerCount
        let tasks = (0..<count).map { _ in Task { try await journal.waitForRecords(after: position) } }
        while journal.followerCount < before + count { await Task.yield() }
        return tasks
    }

    private func value(of task: Task<Position, any Error>) async throws -> Position {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func code(of task: Task<Position, any Error>) async -> JournalError.Code? {
        do {
            _ = try await value(of: task)
            return nil
        } catch {
            return (error as? JournalError)?.code
        }
    }

    @Test func tenThousandFollowersWakeOnce() async throws {
        let journal = try journal()
        let tasks = try await followers(10_000, of: journal, after: 0)
        try journal.append([Entry("a", "b"), Entry("c", "d")])
        #expect(journal.followerCount == 10_000)
        try await journal.waitUntilDurable(2)
        for task in tasks { #expect(try await value(of: task) == 2) }
        #expect(journal.followerCount == 0)
    }

    @Test func appendWakesFollowersUnderWritten() async throws {
        let journal = try journal(.written)
        let tasks = try await followers(3, of: journal, after: 0)
        try journal.append([Entry("a", "b")])
        for task in tasks { #expect(try await value(of: task) == 1) }
    }

    @Test func synchronizeWakesFollowers() async throws {
        let journal = try journal()
        let tasks = try await followers(2, of: journal, after: 0)
        try journal.append([Entry("a", "b")])
        try journal.synchronize()
        for task in tasks { #expect(try await value(of: task) == 1) }
    }

    @Test func rotationWakesFollowers() async throws {
        let journal = try journal(segmentSize: 512)
        let tasks = try await followers(2, of: journal, after: 0)
        let long = Entry(kept: [UInt8](repeating: 1, count: 300), erasable: [])
        try journal.append([long])
        #expect(journal.followerCount == 2)
        try journal.append([long])
        for task in tasks { #expect(try await value(of: task) == 1) }
    }

    @Test func rotationByReservationWakesFollowers() async throws {
        let journal = try journal(segmentSize: 512)
        try journal.append([Entry(kept: [UInt8](repeating: 1, count: 300), erasable: [])])
        let tasks = try await followers(2, of: journal, after: 0)
        try journal.reserve(400)
        for task in tasks { #expect(try await value(of: task) == 1) }
    }

    @Test func followerWaitsForDurablePosition() async throws {
        let journal = try journal()
        try journal.append([Entry("a", "b")])
        let late = try await followers(1, of: journal, after: 1)
        try await journal.waitUntilDurable(1)
        #expect(journal.followerCount == 1)
        try journal.append([Entry("a", "b")])
        try await journal.waitUntilDurable(2)
        #expect(try await value(of: late[0]) == 2)
    }

    @Test func closeWakesFollowersThenFailsWithClosed() async throws {
        let journal = try journal()
        try journal.append([Entry("a", "b")])
        let behind = try await followers(2, of: journal, after: 0)
        let atEnd = try await followers(2, of: journal, after: 1)
        try journal.close()
        for task in behind { #expect(try await value(of: task) == 1) }
        for task in atEnd { #expect(await code(of: task) == .closed) }
    }

    @Test(arguments: Durability.allCases)
    func writeFailureWakesFollowers(durability: Durability) async throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try journal(durability, storage)
        try journal.append([Entry("a", "b")])
        try journal.synchronize()
        let tasks = try await followers(3, of: journal, after: 1)
        storage.fail {
            $0.operation == .sync || $0.operation == .write
                ? StorageError(.failed, .sync, path: $0.path, errno: 5) : nil
        }
        #expect(journalError { try journal.append([Entry("c", "d")]) } != nil)
        for task in tasks { #expect(await code(of: task) == .syncFailed) }
        // Positions that were durable before the failure are still announced.
        #expect(try await journal.waitForRecords(after: 0) == 1)
    }

    @Test func syncFailureWakesFollowers() async throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try journal(.synced, storage)
        let tasks = try await followers(3, of: journal, after: 0)
        try journal.append([Entry("a", "b")])
        storage.fail { $0.operation == .sync ? StorageError(.failed, .sync, path: $0.path, errno: 5) : nil }
        #expect(journalError { try journal.waitUntilDurable(1) }?.code == .syncFailed)
        for task in tasks { #expect(await code(of: task) == .syncFailed) }
    }

    /// The background sync of the idle journal is the only caller that meets this failure, so it
    /// must wake the followers.
    @Test func idleSyncFailureWakesFollowers() async throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try journal(.synced, storage, slotSyncDelay: .milliseconds(200))
        try journal.append([Entry("a", "b")])
        let tasks = try await followers(3, of: journal, after: 1)
        storage.fail {
            $0 == .init(.sync, "journal/durable") ? StorageError(.failed, .sync, path: $0.path, errno: 5) : nil
        }
        try await journal.waitUntilDurable(1)
        for task in tasks { #expect(await code(of: task) == .syncFailed) }
    }

    @Test func cancellationRemovesOnlyItsFollower() async throws {
        let journal = try journal()
        let tasks = try await followers(200, of: journal, after: 0)
        for task in tasks[..<150] { task.cancel() }
        for task in tasks[..<150] { #expect(await code(of: task) == .cancelled) }
        #expect(journal.followerCount == 50)
        try journal.append([Entry("a", "b")])
        try await journal.waitUntilDurable(1)
        for task in tasks[150...] { #expect(try await value(of: task) == 1) }
    }

    @Test func readerFollowerIsCancelledAndClosed() async throws {
        let storage = MemoryStorage()
        let writer = try journal(.synced, storage)
        try writer.append([Entry("a", "b")])
        try await writer.waitUntilDurable(1)
        let reader = try Journal.openReadOnly("journal", options: JournalOptions(storage: storage))
        #expect(try await reader.waitForRecords(after: 0) == 1)
        let beyond = Task { try await reader.waitForRecords(after: 2) }
        #expect(await code(of: beyond) == .outOfRange)
        let cancelled = Task { try await reader.waitForRecords(after: 1) }
        cancelled.cancel()
        #expect(await code(of: cancelled) == .cancelled)
        let closed = Task { try await reader.waitForRecords(after: 1) }
        try reader.close()
        #expect(await code(of: closed) == .closed)
    }
}

extension Journal {
    fileprivate var followerCount: Int { published.withLock { $0.followers.count } }
}
