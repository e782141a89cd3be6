@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Locking
import TestSupport
import Testing

/// A run with injected clock, ids, entropy, storage and executor is determined by its seeds.
///
/// Equal seeds give the same answers in the same order, and the same bytes.
@Suite struct SeededHistoryTests {
    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 20))) func equalSeedsGiveEqualBytes(seed: UInt64) throws {
        let one = try SeededHistory.run(world: seed, meeting: seed)
        let two = try SeededHistory.run(world: seed, meeting: seed)
        #expect(one.steps == two.steps)
        #expect(one.files == two.files)
        // Short runs without rotations would prove little.
        #expect(one.steps.count > 150 && one.files.count > 3)
    }

    /// The calls are the same; only their interleaving differs.
    @Test func executorSeedDeterminesInterleaving() throws {
        let histories = try (1...20 as ClosedRange<UInt64>).map { try SeededHistory.run(world: 1, meeting: $0) }
        #expect(Set(histories.map(\.steps)).count == 20)
        #expect(Set(histories.map(\.files)).count == 20)
    }
}

/// The recorded steps of eight callers and seven followers of one store, in order.
private struct SeededHistory {
    var steps: [String]
    /// The bytes of the journal's files by path.
    ///
    /// Checkpoints are excluded: they hold random seeds of hash tables.
    var files: [String: [UInt8]]

    /// Runs one history.
    ///
    /// - Parameters:
    ///   - world: The seed of the calls and of all injected dependencies except the executor.
    ///   - meeting: The seed of the executor.
    static func run(world: UInt64, meeting: UInt64) throws -> SeededHistory {
        let executor = SeededExecutor(seed: meeting)
        let storage = MemoryStorage()
        let notes = Notes()
        let journal = JournalOptions(
            durability: world % 4 == 0 ? .written : .synced, segmentSize: 1_000, storage: storage,
            entropy: SeededEntropy(seed: world),
            slotSyncDelay: nil, executor: executor)
        let options = StoreOptions(
            journal: journal, clock: JumpingClock(seed: world), ids: SeededIDs(seed: world),
            checkpoints: CheckpointOptions(interval: 20),
            recentEventCount: 8)
        let store = try ChatStore.open("journal", options: options)
        try executor.run {
            _ = try await store.execute(HistoryWorkload.beginning)
            try await withThrowingTaskGroup { followers in
                for (name, filter) in [
                    ("all", EventFilter(as: .host)), ("Ann", EventFilter(as: .user(UserID(bits: 1)))),
                ] {
                    followers.addTask {
                        for try await event in store.events(after: 2, matching: filter) {
                            notes.add("\(name) is shown \(event.position)")
                        }
                        notes.add("\(name) has seen the end")
                    }
                }
                // Followers of the store share one wait on the log, so these follow the log
                // directly.
                for number in 1...4 {
                    followers.addTask {
                        var seen: Position = 2
                        while let more = try? await store.log.waitForRecords(after: seen) {
                            seen = more
                            notes.add("\(number) is told of \(seen)")
                        }
                    }
                }
                // A follower that stops early.
                followers.addTask {
                    for try await event in store.events(matching: EventFilter(as: .host)) {
                        notes.add("a visitor is shown \(event.position)")
                        if event.position == 12 { break }
                    }
                }
                await withTaskGroup { callers in
                    for caller in 0..<8 {
                        callers.addTask {
                            var workload = HistoryWorkload(seed: world, caller: caller)
                            for _ in 0..<12 {
                                let call = workload.next(knowing: store.head.position)
                                notes.add("\(caller) asks \(call)")
                                notes.add("\(caller) is told \(await answer(call, of: store, blocks: caller == 0))")
                                await Task.yield()
                            }
                        }
                    }
                }
                try store.close()
                try await followers.waitForAll()
            }
        }
        return SeededHistory(steps: notes.all, files: storage.allContents().filter { !$0.key.contains("checkpoint") })
    }

    private static func answer(_ call: Call, of store: ChatStore, blocks: Bool) async -> String {
        switch call {
        case .ask(let query): "\(store.answer(query))"
        case .erase(let user): "\(store.erase(user))"
        case .execute(let batch):
            // A blocking call on this thread must not wait for a sync that this thread would run.
            if blocks { told { try block(batch, store) } } else { await told { try await store.execute(batch) } }
        }
    }

    private static func block(_ batch: [CommandRequest], _ store: ChatStore) throws -> [Result<Receipt, Rejection>] {
        try store.executeBlocking(batch)
    }

    private static func told(_ body: () async throws -> [Result<Receipt, Rejection>]) async -> String {
        do { return "\(try await body())" } catch { return "\(error)" }
    }

    private static func told(_ body: () throws -> [Result<Receipt, Rejection>]) -> String {
        do { return "\(try body())" } catch { return "\(error)" }
    }
}

private final class Notes: Sendable {
    private let notes = Lock<[String]>([])

    var all: [String] { notes.withLock { $0 } }

    func add(_ note: String) { notes.withLock { $0.append(note) } }
}
