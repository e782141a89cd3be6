import ChatDomain
import ChatTesting
import Columns
import EventJournal
import Projections
import Testing

@testable import Chat

/// Columns in memory.
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

/// Files of which every checksum is right, and what they hold is not.
@Suite struct ForgedCheckpointTests {
    /// The time of the next event is not earlier, so that one that six bytes do not hold would be written as one long ago.
    @Test(arguments: [.max, 1 << 48, -1, .min] as [Int64]) func aTimeThatNoEventHasIsRefused(_ time: Int64) throws {
        let fixture = CheckpointFixture(seed: 3)
        try fixture.make(batches: 20, beforeCheckpoint: 20)
        let models = try fixture.replayed().storeModels
        try forge(models, in: fixture) { section in
            // The time follows the position of the last event.
            for byte in 0..<8 { section.bytes[8 + byte] = UInt8(truncatingIfNeeded: time >> Int64(8 * byte)) }
        }
        try expectDamage(in: fixture)
    }

    /// What it says of itself fits the journal, and the state in it is an earlier one, which what follows would not lead on from.
    @Test func aStateOfAnotherPositionIsRefused() throws {
        let fixture = CheckpointFixture(seed: 3)
        try fixture.make(batches: 20, beforeCheckpoint: 10)
        let journal = try Journal.openReadOnly("journal", options: fixture.options.journal)
        let earlier = try StoreModels(checkpointOf: journal)
        #expect(earlier.position > 0 && earlier.position < journal.lastPosition)
        try forge(earlier, in: fixture)
        try expectDamage(in: fixture)
    }

    /// None is written of a history with events of a newer version: what these mean for the state only that version knows.
    @Test func aStateOfAHistoryWithUnknownEventsIsRefused() throws {
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

    /// Of a later version of the format, which says with the same beginning that it is one.
    @Test func aFileOfALaterFormatIsIgnored() throws {
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
        #expect(store.checkpointStatistics.ignored == "otherVersion")
        try store.close()
    }

    /// Writes a checkpoint of some models as if they were those of the journal's end.
    ///
    /// - Parameter change: Changes the section of the rules.
    private func forge(_ models: StoreModels, in fixture: CheckpointFixture, change: (Section) -> Void = { _ in }) throws {
        let journal = try Journal.open("journal", options: fixture.options.journal)
        let file = try journal.beginCheckpoint(
            ReadModels.name, version: StoreModels.checkpointVersion, at: journal.lastPosition, sections: StoreModels.componentNames)
        for name in StoreModels.componentNames {
            let section = Section()
            var writer = ColumnWriter(section)
            models.write(component: name, to: &writer)
            writer.finish()
            if name == "rules" { change(section) }
            file.beginSection()
            file.write(section.bytes)
        }
        _ = try file.finish()
        try journal.close()
    }

    /// The checkpoint is taken for damaged, and the store replays.
    private func expectDamage(in fixture: CheckpointFixture) throws {
        let store = try fixture.open()
        #expect(store.checkpointStatistics.ignored == "damaged")
        #expect(store.storeModels == (try fixture.replayed().storeModels))
        try store.close()
    }
}
