import Primitives
import Testing

@testable import EventJournal

/// Backup and salvage copy stubs unchanged: erased content stays erased, kept content stays.
@Suite struct CopiedStubTests {
    @Test(arguments: [RecordContentState.erased, .withheld, .reserved]) func stubsAreCopiedUnchanged(
        _ state: RecordContentState
    ) throws {
        let storage = try FormatTests.example()
        let name = JournalFileName.segment(1)
        let copies = MemoryStorage()
        let options = BackupOptions(storage: storage, destinationStorage: copies)
        let whole = try Journal.backup("journal", to: "copy", options: options)
        var bytes = try #require(storage.allContents()["journal/" + name])
        let sound = bytes
        #expect(copies.allContents()["copy/" + name]?.count == bytes.count)

        // The first record is erased, and the segment has the next generation.
        bytes = try #require(StubTests.stub(bytes, commit: SegmentHeader.size, record: 0, state: state))
        var header = try bytes.withBytes(0..<SegmentHeader.size) { (span) throws in try SegmentHeader(decoding: span) }
        header.generation += 1
        bytes.storeBytes(header.encoded(), 0..<SegmentHeader.size, at: 0)
        storage.setContents(bytes, of: "journal/" + name)
        let entries = try Journal.openReadOnly("journal", options: JournalOptions(storage: storage)).entries()
        #expect(entries[0].state == state)

        let report = try Journal.backup("journal", to: "copy", options: options)
        #expect(report.rewrittenSegments == [name] && report.head == whole.head)
        let copy = try Journal.openReadOnly("copy", options: JournalOptions(storage: copies, expectedHead: whole.head))
        #expect(try copy.recovery.wasClean && copy.entries() == entries)
        try copy.verify { Issue.record("\($0)") }
        let copied = try #require(copies.allContents()["copy/" + name])
        #expect(copied.count == bytes.count && copied.count != sound.count)

        // Another record is damaged: salvage keeps the stub with its digest and original CRC.
        bytes[bytes.count - 1] ^= 1
        storage.setContents(bytes, of: "journal/" + name)
        let repaired = try Journal.repair(
            "journal", to: "new", options: RepairOptions(storage: storage, destinationStorage: copies)
        ) { _, _ in [7] }
        #expect(repaired.losses.map(\.positions) == [3...3] && repaired.salvagedCount == 2)
        let new = try Journal.openReadOnly("new", options: JournalOptions(storage: copies))
        #expect(try new.entries() == [entries[0], entries[1], Entry(kept: [7], erasable: [])])
        let saved = try #require(copies.allContents()["new/" + name])
        let start = SegmentHeader.size + CommitHeader.size
        #expect(saved[start..<(start + 40)] == bytes[start..<(start + 40)])
    }
}
