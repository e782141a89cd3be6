import ChatDomain
import ChatTesting
import Columns
import EventJournal
import Primitives
import Projections
import Testing

@testable import Chat

/// A section of columns in memory.
private final class Section: ColumnSink, ColumnSource {
    var bytes: [UInt8] = []
    private var offset = 0

    var byteCount: Int { bytes.count }

    func write(_ block: [UInt8]) { bytes += block }

    func read(into block: inout [UInt8]) throws(ColumnError) -> Int {
        let count = min(ColumnWriter.blockByteCount, bytes.count - offset)
        block.replaceSubrange(0..<count, with: bytes[offset..<offset + count])
        offset += count
        return count
    }
}

/// Checkpoints with valid checksums and invalid contents.
@Suite struct ForgedCheckpointTests {
    /// The next event takes at least this time, and six bytes must hold it.
    @Test(arguments: [.max, 1 << 48, -1, .min] as [Int64]) func impossibleTimeIsRejected(_ time: Int64) throws {
        let fixture = CheckpointFixture(seed: 3)
        try fixture.make(batches: 20, beforeCheckpoint: 20)
        let models = try fixture.replayed().storeModels
        try forge(models, in: fixture) { section in
            // The time follows the position in the section.
            for byte in 0..<8 { section.bytes[8 + byte] = UInt8(truncatingIfNeeded: time >> Int64(8 * byte)) }
        }
        try expectDamage(in: fixture)
    }

    /// The header fits the journal, but the state is of an earlier position.
    @Test func stateOfAnotherPositionIsRejected() throws {
        let fixture = CheckpointFixture(seed: 3)
        try fixture.make(batches: 20, beforeCheckpoint: 10)
        let journal = try Journal.openReadOnly("journal", options: fixture.options.journal)
        let earlier = try StoreModels(checkpointOf: journal)
        #expect(earlier.position > 0 && earlier.position < journal.lastPosition)
        try forge(earlier, in: fixture)
        try expectDamage(in: fixture)
    }

    /// Only the newer version knows the effect of its events, so the store writes no such
    /// checkpoint.
    @Test func stateWithUnknownEventsIsRejected() throws {
        let fixture = CheckpointFixture(seed: 3)
        try fixture.make(batches: 6, beforeCheckpoint: 6)
        let journal = try Journal.open("journal", options: fixture.options.journal)
        var draft = CommitDraft()
        let unknown: [UInt8] = [200, 0, 1, 2, 3, 4, 5, 6, 9, 9]
        unsafe try draft.append(kept: unknown.span.bytes, erasable: [1, 2, 3].span.bytes)
        _ = try journal.append(draft, expecting: journal.lastPosition)
        try journal.close()
        let models = try fixture.replayed().storeModels
        #expect(models.rules.hasUnknownEvents)
        try forge(models, in: fixture)
        try expectDamage(in: fixture)
    }

    /// A later format version keeps the magic number and increments the version.
    @Test func laterFormatIsIgnored() throws {
        let fixture = CheckpointFixture(seed: 3)
        try fixture.make(batches: 6, beforeCheckpoint: 6)
        var bytes = try fixture.file()
        let end = 96 + 40 * StoreModels.componentNames.count
        #expect(bytes[8] == 1 && bytes[9] == 0)
        bytes[8] = 2
        let checksum = CRC32C.checksum(of: Array(bytes[..<end]))
        for byte in 0..<4 { bytes[end + byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * byte)) }
        try fixture.replaceFile(bytes)
        let store = try fixture.open()
        #expect(store.checkpointStatistics.ignoredReason == "otherVersion")
        try store.close()
    }

    /// The slots of an id table are not checked, so a post can have an id that no search finds.
    @Test func reportsOfPostsWithForgedIDsAreOmitted() throws {
        let fixture = CheckpointFixture(seed: 3)
        let (owner, thread) = (UserID(bits: 1), ThreadID(bits: 2))
        let messages = (1...8).map { MessageID(bits: 0x1234_5678_9abc_def0_0f1e_2d3c_4b5a_6978 * UInt128($0)) }
        var commands: [ChatCommand] = [
            .registerUser(id: owner, username: "Ann"), .openThread(id: thread, name: "Dogs", by: owner),
        ]
        for message in messages {
            commands.append(.postMessage(id: message, thread: thread, body: "x", by: owner))
            commands.append(.report(.message(message), reason: "spam", by: owner))
        }
        let store = try fixture.open()
        for command in commands { try store.executeBlocking(command) }
        #expect(try store.reader(as: .host).reports(in: thread).count == messages.count)
        try store.close()
        try forge(try fixture.replayed().storeModels, in: fixture, section: "identities") { section in
            for message in messages {
                let id = (0..<16).map { UInt8(truncatingIfNeeded: message.bits >> UInt128(8 * $0)) }
                for offset in section.bytes.indices where section.bytes[offset...].starts(with: id) {
                    section.bytes[offset] ^= 1
                }
            }
        }
        let forged = try fixture.open()
        #expect(forged.checkpointStatistics.loadedPosition == forged.head.position)
        // The search for a forged id can end at its slot by chance.
        #expect(try forged.reader(as: .host).reports(in: thread).count < messages.count)
        try forged.close()
    }

    /// Writes a checkpoint of `models` with the position of the journal's end.
    ///
    /// - Parameters:
    ///   - changedName: The name of the changed section.
    ///   - change: Changes the bytes of that section.
    private func forge(
        _ models: StoreModels, in fixture: CheckpointFixture, section changedName: String = "rules",
        change: (Section) -> Void = { _ in }
    ) throws {
        let journal = try Journal.open("journal", options: fixture.options.journal)
        let file = try journal.beginCheckpoint(
            ReadModels.name, version: StoreModels.checkpointVersion, at: journal.lastPosition,
            sections: StoreModels.componentNames)
        for name in StoreModels.componentNames {
            let section = Section()
            var writer = ColumnWriter(section)
            models.write(component: name, to: &writer)
            writer.flush()
            if name == changedName { change(section) }
            file.beginSection()
            file.write(section.bytes)
        }
        _ = try file.finish()
        try journal.close()
    }

    /// Expects the store to ignore the checkpoint as damaged and to replay.
    private func expectDamage(in fixture: CheckpointFixture) throws {
        let store = try fixture.open()
        #expect(store.checkpointStatistics.ignoredReason == "damaged")
        #expect(store.storeModels == (try fixture.replayed().storeModels))
        try store.close()
    }
}
