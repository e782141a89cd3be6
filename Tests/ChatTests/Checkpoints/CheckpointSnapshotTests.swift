import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Projections
import Testing

@testable import Chat

/// A snapshot taken under load holds the state of its position.
@Suite struct CheckpointSnapshotTests {
    @Test(arguments: [Durability.synced, .written], Seeds.seeds(1))
    func snapshotUnderLoadEqualsRebuildAtItsPosition(durability: Durability, seed: UInt64) throws {
        var fixture = CheckpointFixture(seed: seed, segmentSize: 128 << 20)
        fixture.options.journal.durability = durability
        let store = try fixture.open()
        let options = fixture.options.journal
        try onThreads(3) { number in
            if number > 0 {
                var generator = CommandGenerator(seed: seed &* 10 &+ UInt64(number))
                for batch in 0..<300 {
                    _ = try store.executeBlocking((0...batch % 3).map { _ in generator.nextRequest() })
                }
                return
            }
            for _ in 0..<10 {
                let position = try store.writeCheckpoint()
                let journal = try Journal.openReadOnly("journal", options: options)
                let models = try StoreModels(checkpointOf: journal)
                var rebuilt = StoreModels()
                if position > 0 { try ChatStore.replay(journal, 1...position, into: &rebuilt) }
                #expect(models.position == position && models.digests == rebuilt.digests)
            }
        }
        try store.close()
    }

    /// Two commits become durable together.
    ///
    /// A snapshot requested between them holds the first only.
    @Test func snapshotExcludesLaterCommits() async throws {
        let log = HoldingLog()
        let store = try ChatStore.open(log: log, options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1)))
        try await store.execute(.registerUser(id: UserID(bits: 1), username: "Ann"))
        log.holdNextWait()
        let task = Task { try await store.execute(.registerUser(id: UserID(bits: 2), username: "Bob")) }
        try await FollowingFixture.until("a blocked wait") { log.isHolding }
        let snapshot = requestSnapshot(of: store)
        try await store.execute(.registerUser(id: UserID(bits: 3), username: "Cat"))
        var rebuilt = StoreModels()
        try ChatStore.replay(log, 1...2, into: &rebuilt)
        #expect(snapshot()?.position == 2 && snapshot()?.digests == rebuilt.digests)
        #expect(store.applyDurableEvents() == 3)
        log.letGo()
        _ = try await task.value
    }

    /// Requests a snapshot as a checkpoint does.
    private func requestSnapshot(of store: ChatStore) -> () -> StoreModels? {
        final class Snapshot: Sendable { let models = Lock<StoreModels?>(nil) }
        let snapshot = Snapshot()
        store.decider.withLock { decider in
            store.readSide.requestSnapshot(decider.rules) { models in snapshot.models.withLock { $0 = models } }
        }
        return { snapshot.models.withLock { $0 } }
    }
}
