import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Projections
import StubRewriter
import TestSupport
import Testing

@testable import Chat

/// Opening with a checkpoint gives the same state as a replay.
///
/// An invalid checkpoint costs time only.
@Suite struct CheckpointLoadingTests {
    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 8))) func openingWithCheckpointEqualsReplay(seed: UInt64) throws
    {
        let fixture = CheckpointFixture(seed: seed)
        var generator = CommandGenerator(seed: seed)
        var random = SeededRandom(seed: seed)
        var store = try fixture.open()
        var checkpoint: Position?
        for _ in 0..<12 {
            try fixture.run(store, batches: Int.random(in: 0...8, using: &random), generator: &generator)
            if random.oneIn(2) {
                checkpoint = try store.writeCheckpoint()
                #expect(checkpoint == store.head.position)
                #expect(store.checkpointStatistics.lastWritten?.position == checkpoint)
            }
            let (head, models) = (store.head, store.storeModels)
            try store.close()
            let rebuilt = try fixture.replayed()
            store = try fixture.open()
            let statistics = store.checkpointStatistics
            #expect(statistics.loadedPosition == checkpoint)
            #expect(statistics.ignoredReason == (checkpoint == nil ? "absent" : nil))
            #expect(statistics.replayedCount == head.position - (checkpoint ?? 0))
            #expect(store.storeModels == models)
            #expect(store.storeModels == rebuilt.storeModels)
            #expect(store.storeModels.digests == rebuilt.storeModels.digests)
        }
        try store.close()
        #expect(try ChatStore.verify("journal", options: fixture.options.journal, deep: true).findings == [])
    }

    @Test func damagedByteIsDetected() throws {
        let fixture = CheckpointFixture(seed: 1)
        try fixture.make(batches: 9, beforeCheckpoint: 6)
        let bytes = try fixture.file()
        let expected = try fixture.replayed().storeModels
        let journal = try Journal.openReadOnly("journal", options: fixture.options.journal)
        #expect((try? StoreModels(checkpointOf: journal)) != nil)
        for offset in Repetitions.oneIn(8, of: bytes.indices) {
            var damaged = bytes
            damaged[offset] ^= 1 << UInt8(offset % 8)
            try fixture.replaceFile(damaged)
            #expect(problem(of: journal) == .damaged, "byte \(offset)")
            if offset % 211 < 4 { try expectReplay(fixture, expected, "damaged") }
        }
    }

    /// The log of the host program learns of a checkpoint that is ignored, and not of an absent
    /// one.
    @Test func ignoredCheckpointIsReported() throws {
        var fixture = CheckpointFixture(seed: 1)
        let messages = Lock([LogMessage]())
        fixture.options.journal.log = { message in messages.withLock { $0.append(message) } }
        try fixture.make(batches: 3, beforeCheckpoint: 2)
        #expect(messages.withLock { $0 }.allSatisfy { $0.level == .info })
        var damaged = try fixture.file()
        damaged[damaged.count / 2] ^= 1
        try fixture.replaceFile(damaged)
        try fixture.open().close()
        let warnings = messages.withLock { $0 }.filter { $0.level == .warning }
        #expect(warnings.map { $0.metadata["code"] } == ["damaged"])
    }

    @Test func wrongLengthIsDetected() throws {
        let fixture = CheckpointFixture(seed: 2)
        try fixture.make(batches: 9, beforeCheckpoint: 6)
        let bytes = try fixture.file()
        let expected = try fixture.replayed().storeModels
        let journal = try Journal.openReadOnly("journal", options: fixture.options.journal)
        for count in 0...bytes.count + 2 where count != bytes.count {
            try fixture.replaceFile(
                Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - bytes.count)))
            #expect(problem(of: journal) == .damaged, "\(count) of \(bytes.count) bytes")
            if count % 211 == 0 { try expectReplay(fixture, expected, "damaged") }
        }
    }

    @Test func checkpointOfAnotherJournalIsIgnored() throws {
        let (fixture, other) = (CheckpointFixture(seed: 1), CheckpointFixture(seed: 2))
        try fixture.make(batches: 9, beforeCheckpoint: 9)
        try other.make(batches: 6, beforeCheckpoint: 3)
        try fixture.replaceFile(try other.file())
        try expectReplay(fixture, try fixture.replayed().storeModels, "otherJournal")
    }

    /// A rolled-back journal is shorter than its checkpoint at first, and then has another history.
    @Test func checkpointOfRolledBackHistoryIsIgnored() throws {
        let (past, future) = (CheckpointFixture(seed: 3), CheckpointFixture(seed: 3))
        try past.make(batches: 6, beforeCheckpoint: 3)
        try future.make(batches: 12, beforeCheckpoint: 12)
        #expect(try past.replayed().head.journal == future.replayed().head.journal)
        try past.replaceFile(try future.file())
        try expectReplay(past, try past.replayed().storeModels, "beyondEnd")
        let store = try past.open()
        var generator = CommandGenerator(seed: 99)
        while store.head.position <= (try future.replayed().head.position) {
            try past.run(store, batches: 4, generator: &generator)
        }
        try store.close()
        try expectReplay(past, try past.replayed().storeModels, "otherHistory")
    }

    /// The histories have equal counts of events and commits, so only the chain value differs.
    @Test func checkpointOfAnotherHistoryOfEqualLengthIsIgnored() throws {
        let (one, other) = (CheckpointFixture(seed: 3), CheckpointFixture(seed: 3))
        for (fixture, username) in [(one, "Ann"), (other, "Bob")] {
            let store = try fixture.open()
            try store.executeBlocking(.registerUser(id: UserID(bits: 1), username: username))
            try store.writeCheckpoint()
            try store.close()
        }
        #expect(try one.replayed().head.journal == other.replayed().head.journal)
        try one.replaceFile(try other.file())
        try expectReplay(one, try one.replayed().storeModels, "otherHistory")
        let store = try one.open()
        for _ in 0..<3 { try store.executeBlocking(.startSession(device: "phone", by: UserID(bits: 1))) }
        try store.close()
        try expectReplay(one, try one.replayed().storeModels, "otherHistory")
    }

    /// The header names the projection, not the file's name.
    @Test func checkpointOfAnotherProjectionIsIgnored() throws {
        let fixture = CheckpointFixture(seed: 7)
        try fixture.make(batches: 6, beforeCheckpoint: 6)
        let journal = try Journal.open("journal", options: fixture.options.journal)
        let reader = try journal.checkpoint(ReadModels.name, version: StoreModels.checkpointVersion)
        let writer = try journal.beginCheckpoint(
            "another", version: StoreModels.checkpointVersion, at: journal.lastPosition,
            sections: StoreModels.componentNames)
        var block = [UInt8](repeating: 0, count: CheckpointHeader.blockByteCount + CheckpointHeader.checksumByteCount)
        for name in StoreModels.componentNames {
            writer.beginSection()
            let section = try #require(reader.section(name))
            while case let count = try section.read(into: &block), count > 0 { writer.write(Array(block[..<count])) }
        }
        _ = try writer.finish()
        try journal.close()
        try fixture.replaceFile(try fixture.storage.contents(of: "journal/another.checkpoint"))
        try expectReplay(fixture, try fixture.replayed().storeModels, "damaged")
    }

    @Test func checkpointOfAnotherVersionIsIgnored() throws {
        let fixture = CheckpointFixture(seed: 4)
        try fixture.make(batches: 6, beforeCheckpoint: 6)
        let journal = try Journal.open("journal", options: fixture.options.journal)
        let writer = try journal.beginCheckpoint(
            ReadModels.name, version: StoreModels.checkpointVersion + 1, at: journal.lastPosition,
            sections: ["everything"])
        writer.beginSection()
        writer.write([1, 2, 3])
        _ = try writer.finish()
        try journal.close()
        try expectReplay(fixture, try fixture.replayed().storeModels, "otherVersion")
    }

    /// A checkpoint holds names, and must not restore names that the journal has erased.
    @Test func checkpointFromBeforeErasureIsIgnored() throws {
        let fixture = CheckpointFixture(seed: 5, segmentSize: 2_048)
        try fixture.make(batches: 40, beforeCheckpoint: 30)
        let erased = try StubRewriter("journal", on: fixture.storage).rewrite { _, _, _ in .erased }
        #expect(!erased.isEmpty)
        try expectReplay(fixture, try fixture.replayed().storeModels, "beforeErasure")
        let store = try fixture.open()
        try store.writeCheckpoint()
        try store.close()
        let again = try fixture.open()
        #expect(again.checkpointStatistics.loadedPosition == again.head.position)
        #expect(again.storeModels == (try fixture.replayed().storeModels))
    }

    @Test func readOnlyStoreLoadsButWritesNoCheckpoint() throws {
        let fixture = CheckpointFixture(seed: 6)
        try fixture.make(batches: 9, beforeCheckpoint: 6)
        let before = try fixture.file()
        var options = fixture.options
        options.checkpoints = CheckpointOptions(interval: 1, atClose: 1, afterReplay: 1)
        let reader = try ChatStore.openReadOnly("journal", options: options)
        #expect(reader.checkpointStatistics.loadedPosition != nil)
        expectError("readOnly") { _ = try reader.writeCheckpoint() }
        try reader.close()
        #expect(try fixture.file() == before)
    }

    private func problem(of journal: Journal) -> CheckpointProblem.Code? {
        do throws(CheckpointProblem) {
            _ = try StoreModels(checkpointOf: journal)
            return nil
        } catch {
            return error.code
        }
    }

    private func expectReplay(_ fixture: CheckpointFixture, _ expected: StoreModels, _ reason: String) throws {
        let store = try ChatStore.openReadOnly("journal", options: fixture.options)
        #expect(store.storeModels == expected)
        #expect(store.checkpointStatistics.ignoredReason == reason)
        #expect(store.checkpointStatistics.ignoredReasonMessage?.isEmpty == false)
        #expect(store.checkpointStatistics.loadedPosition == nil)
        #expect(store.checkpointStatistics.replayedCount == expected.position)
    }
}
