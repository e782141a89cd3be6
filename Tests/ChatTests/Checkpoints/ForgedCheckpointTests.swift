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
    /// A shelf that is larger than any that a table makes before it splits it.
    @Test func aShelfThatIsTooLargeIsRefused() throws {
        let count = 12_288
        let section = Section()
        var writer = ColumnWriter(section)
        Column((1...count).map { UInt128($0) }).write(to: &writer)
        writer.write(UInt64(1))
        writer.write(UInt64(2))
        writer.write(UInt32(24))
        writer.write(UInt32(0))
        writer.write([UInt32(0)])
        writer.write(1)
        writer.write([UInt32(0)])
        writer.write([UInt64(16_384)])
        writer.write((1...16_384).map { UInt32($0 <= count ? $0 : 0) })
        writer.finish()
        var reader = ColumnReader(section)
        #expect(throws: ColumnError.self) { try IDTable(from: &reader) }
    }

    /// The time of the next event is not earlier, so that one that six bytes do not hold would be written as one long ago.
    @Test(arguments: [.max, 1 << 48, -1, .min] as [Int64]) func aTimeThatNoEventHasIsRefused(_ time: Int64) throws {
        let fixture = CheckpointFixture(seed: 3)
        try fixture.make(batches: 20, beforeCheckpoint: 20)
        let models = try fixture.replayed().readModels
        let journal = try Journal.open("journal", options: fixture.options.journal)
        let file = try journal.beginCheckpoint(
            ReadModels.name, version: ReadModels.checkpointVersion, at: journal.lastPosition, sections: ReadModels.componentNames)
        for name in ReadModels.componentNames {
            let section = Section()
            var writer = ColumnWriter(section)
            models.copyForCheckpoint().write(component: name, to: &writer)
            writer.finish()
            // The time follows the position of the last event.
            if name == "state" { for byte in 0..<8 { section.bytes[8 + byte] = UInt8(truncatingIfNeeded: time >> Int64(8 * byte)) } }
            file.beginSection()
            file.write(section.bytes)
        }
        _ = try file.finish()
        try journal.close()
        let store = try fixture.open()
        #expect(store.checkpointStatistics.ignored == "damaged")
        #expect(store.readModels == models)
        try store.close()
    }
}
