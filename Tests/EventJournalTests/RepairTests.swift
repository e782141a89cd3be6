import ChatTesting
import Primitives
import Testing

@testable import EventJournal

/// A closed journal of several small segments.
///
/// Each test damages a copy of its storage.
private struct Patient {
    let storage: MemoryStorage
    let entries: [Entry]
    let id: JournalID
    let head: JournalHead

    init(seed: UInt64 = 3, commits: Int = 40) throws {
        storage = MemoryStorage()
        let journal = try Journal.open(
            "journal", options: JournalOptions(segmentSize: 1024, storage: storage, entropy: SeededEntropy(seed: seed)))
        var generator = SeededGenerator(seed)
        for _ in 0..<commits {
            try journal.append(
                (0..<Int.random(in: 1...4, using: &generator)).map { _ in generator.entry(kept: 20, erasable: 60) })
        }
        try journal.waitUntilDurable(journal.lastPosition)
        entries = try journal.entries()
        (id, head) = (journal.id, journal.head)
        try journal.close()
    }

    /// Salvages into another storage.
    ///
    /// A placeholder is `lost`, the position and the length of the preceding kept part.
    static func repair(_ damaged: MemoryStorage, maximumLostCount: UInt64 = 10_000) throws -> (
        report: RepairReport, journal: Journal
    ) {
        let saved = MemoryStorage()
        let options = RepairOptions(
            storage: damaged, destinationStorage: saved, segmentSize: 2048, entropy: SeededEntropy(seed: 1000),
            maximumLostCount: maximumLostCount)
        let report = try Journal.repair("journal", to: "new", options: options) { position, previous in
            Self.placeholder(position, previous.byteCount)
        }
        return (
            report, try Journal.openReadOnly("new", options: JournalOptions(storage: saved, expectedHead: report.head))
        )
    }

    static func placeholder(_ position: Position, _ previous: Int) -> [UInt8] {
        Array("lost \(position) after \(previous)".utf8)
    }

    /// Checks that each position holds its record, or a placeholder that the report lists, and that
    /// the journal is valid.
    func check(_ report: RepairReport, _ journal: Journal, _ what: String) throws {
        let found = try journal.entries()
        var lost: [Position] = []
        for (index, entry) in found.enumerated() {
            let position = Position(index + 1)
            let previous = index == 0 ? 0 : found[index - 1].kept.count
            if entry == Entry(kept: Self.placeholder(position, previous), erasable: []) {
                lost.append(position)
            } else if index >= entries.count || entry != entries[index] {
                Issue.record("\(what): record \(position) was never appended: \(entry)")
            }
        }
        #expect(report.losses.flatMap { Array($0.positions) } == lost, "\(what)")
        #expect(
            report.lostCount == UInt64(lost.count) && report.salvagedCount == UInt64(found.count - lost.count),
            "\(what)")
        #expect(report.losses.allSatisfy { !$0.problem.isEmpty }, "\(what)")
        #expect(found.count <= entries.count && journal.head == report.head && journal.id != id, "\(what)")
        #expect(journal.recovery.wasClean, "\(what)")
        try journal.verify { Issue.record("\(what): \($0)") }
    }
}

@Suite struct RepairTests {
    @Test func footersOfLongSegmentsHoldIndexes() throws {
        let storage = MemoryStorage()
        let journal = try Journal.open("journal", options: JournalOptions(segmentSize: 65_536, storage: storage))
        for _ in 0..<100 {
            try journal.append((1...5).map { Entry(kept: [UInt8](repeating: 1, count: 100 * $0), erasable: []) })
        }
        try journal.close()
        let saved = MemoryStorage()
        let options = RepairOptions(storage: storage, destinationStorage: saved, segmentSize: 65_536)
        _ = try Journal.repair("journal", to: "new", options: options) { _, _ in [] }
        try Journal.openReadOnly("new", options: JournalOptions(storage: saved)).verify { Issue.record("\($0)") }
    }

    @Test func validJournalIsFullySalvaged() throws {
        let patient = try Patient()
        let (report, journal) = try Patient.repair(patient.storage)
        try patient.check(report, journal, "sound")
        #expect(report.lostCount == 0 && report.losses.isEmpty && report.source == patient.id)
        #expect(report.head.position == patient.head.position)
        // Salvage keeps the bytes of records, salt included: the first record has the same place in
        // the first segment.
        let (old, new) = (patient.storage.allContents(), journal.directory.storage)
        let original = Array((old["journal/" + JournalFileName.segment(1)] ?? [])[168..<180])
        let file = try new.open("new/" + JournalFileName.segment(1), .read)
        var bytes = [UInt8](repeating: 0, count: 12)
        _ = try bytes.withMutableBytes(0..<12) { (span) throws(StorageError) in try file.read(into: &span, at: 168) }
        #expect(bytes == original)
    }

    @Test(arguments: 0..<60) func damageIsReportedAndOtherRecordsSurvive(seed: Int) throws {
        let patient = try Patient(seed: UInt64(seed % 3 + 1))
        var generator = SeededGenerator(UInt64(seed))
        let damaged = patient.storage.copy()
        var hits: [String] = []
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let files = damaged.allContents().filter { $0.key != "journal/lock" }.sorted { $0.key < $1.key }
            guard let (path, whole) = files.randomElement(using: &generator), !whole.isEmpty else { continue }
            var bytes = whole
            let place = Int.random(in: bytes.indices, using: &generator)
            let kind = Int.random(in: 0..<10, using: &generator)
            hits.append("\(path) \(place) \(kind)")
            switch kind {
            case 0 where files.count > 3:
                try damaged.remove(path)
                continue
            case 1: bytes = Array(bytes.prefix(place))
            case 2, 3: for index in place..<min(bytes.count, place + 700) { bytes[index] = 0 }
            case 4, 5:
                for index in place..<min(bytes.count, place + 30) {
                    bytes[index] = UInt8.random(in: 0...255, using: &generator)
                }
            default: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            }
            damaged.setContents(bytes, of: path)
        }
        let before = damaged.allContents()
        let (report, journal) = try Patient.repair(damaged)
        try patient.check(report, journal, "seed \(seed): \(hits)")
        #expect(damaged.allContents() == before)
    }

    @Test func oneFlippedBitLosesOneRecord() throws {
        let patient = try Patient(commits: 12)
        let name = JournalFileName.segment(1)
        let whole = patient.storage.allContents()["journal/" + name] ?? []
        // The segment is sealed. Salvage drops its footer, which ends with its own length.
        let footer = whole.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        for index in SegmentHeader.size..<(whole.count - footer) {
            let damaged = patient.storage.copy()
            var bytes = whole
            bytes[index] ^= 0x10
            damaged.setContents(bytes, of: "journal/" + name)
            let (report, journal) = try Patient.repair(damaged)
            try patient.check(report, journal, "byte \(index)")
            #expect(report.head.position == patient.head.position)
            // At most the records of one commit are lost, and the report locates them.
            #expect(report.lostCount >= 1 && report.lostCount <= 4, "byte \(index): \(report.losses)")
            #expect(
                report.losses.allSatisfy { $0.segment == name && $0.bytes?.contains(UInt64(index)) == true },
                "byte \(index): \(report)")
        }
    }

    @Test func salvageNeedsNoHeadersOrSlots() throws {
        let patient = try Patient()
        let damaged = patient.storage.copy()
        // Salvage needs only the salt of a header.
        for (path, bytes) in damaged.allContents() where path.hasSuffix(".segment") {
            damaged.setContents([UInt8](repeating: 0xAA, count: 56) + bytes[56...], of: path)
        }
        let (report, journal) = try Patient.repair(damaged)
        try patient.check(report, journal, "headers")
        #expect(report.lostCount == 0 && report.source == patient.id)
        try damaged.remove("journal/durable")
        let (second, again) = try Patient.repair(damaged)
        try patient.check(second, again, "headers and slots")
        #expect(second.lostCount == 0 && second.source == nil)
    }

    @Test func missingSegmentIsReportedAsLost() throws {
        let patient = try Patient()
        let names = try patient.storage.list("journal").filter { $0.hasSuffix(".segment") }
        for (index, name) in names.enumerated() {
            let damaged = patient.storage.copy()
            try damaged.remove("journal/" + name)
            let (report, journal) = try Patient.repair(damaged)
            try patient.check(report, journal, name)
            let first = Position(name.prefix(20)) ?? 0
            let last =
                index + 1 < names.count ? (Position(names[index + 1].prefix(20)) ?? 0) - 1 : patient.head.position
            #expect(report.losses.map(\.positions) == [first...last])
            #expect(report.losses.map(\.problem) == ["missingRecords"])
        }
    }

    /// Only the slots give the number of records: all are lost, and the report says so.
    @Test func withoutSegmentsAllAttestedRecordsAreLost() throws {
        let patient = try Patient()
        let damaged = patient.storage.copy()
        for name in try damaged.list("journal") where name.hasSuffix(".segment") {
            try damaged.remove("journal/" + name)
        }
        let (report, journal) = try Patient.repair(damaged)
        try patient.check(report, journal, "no segments")
        #expect(report.source == patient.id && report.head.position == patient.head.position)
        #expect(report.losses.map(\.positions) == [1...patient.head.position] && report.losses.map(\.segment) == [nil])
        #expect(report.losses.map(\.problem) == ["missingRecords"])
    }

    /// Records that a power failure tore were never acknowledged: salvage neither keeps nor reports
    /// them.
    @Test func tornEndIsNotReportedAsLost() throws {
        let storage = MemoryStorage()
        let journal = try Journal.open(
            "journal", options: JournalOptions(storage: storage, entropy: SeededEntropy(seed: 2)))
        try journal.append([Entry("a", "b")])
        try journal.waitUntilDurable(1)
        try journal.append((0..<3).map { Entry("torn \($0)", String(repeating: "x", count: 600)) })
        let torn = storage.copy()
        let name = "journal/" + JournalFileName.segment(1)
        var bytes = torn.allContents()[name] ?? []
        for index in 1024..<1536 { bytes[index] = 0 }
        torn.setContents(bytes, of: name)
        let (report, saved) = try Patient.repair(torn)
        #expect(report.lostCount == 0 && report.salvagedCount == 1)
        #expect(try saved.entries() == [Entry("a", "b")])
        try journal.close()
        // With a slot that attests the record, the same tear is a loss.
        let promised = storage.copy()
        promised.setContents(bytes, of: name)
        let (second, _) = try Patient.repair(promised)
        #expect(second.head.position == 4 && second.lostCount > 0)
    }

    @Test func unsalvageableSourceIsRefused() throws {
        let patient = try Patient(commits: 10)
        let storage = patient.storage.copy()
        let options = RepairOptions(storage: storage, destinationStorage: storage, maximumLostCount: 1000)
        func refuses(_ code: JournalError.Code, _ source: String = "journal", to destination: String = "new") {
            let before = storage.allContents()
            let error = journalError {
                _ = try Journal.repair(source, to: destination, options: options) { _, _ in [] }
            }
            #expect(error?.code == code)
            if code == .damaged { #expect(error?.path?.hasPrefix(source + "/") == true) }
            #expect(storage.allContents() == before)
        }
        refuses(.notFound, "nowhere")
        refuses(.notEmpty, to: "journal")
        storage.setContents([1], of: "file")
        refuses(.notEmpty, to: "file")
        try storage.createDirectory("letters")
        storage.setContents([1], of: "letters/a")
        refuses(.notAJournal, "letters")
        refuses(.notEmpty, to: "letters")
        // The files have the names of a journal and random content.
        var generator = SeededGenerator(1)
        try storage.createDirectory("garbage")
        for name in ["durable", JournalFileName.segment(1), JournalFileName.segment(40)] {
            storage.setContents(generator.bytes(5000), of: "garbage/" + name)
            refuses(.damaged, "garbage")
        }
        #expect(storage.kind(of: "new") == nil)
        do {
            let writer = try Journal.open("journal", options: JournalOptions(storage: storage))
            refuses(.locked)
            try writer.close()
        }
        // The name claims more records than any disk holds.
        let name = "journal/" + JournalFileName.segment(1 << 50)
        storage.setContents([], of: name)
        refuses(.tooLarge)
        // A failed salvage leaves no files in the destination.
        try storage.remove(name)
        let report = try Journal.repair("journal", to: "new", options: options) { _, _ in [] }
        #expect(report.lostCount == 0 && report.head.position == patient.head.position)
    }

    /// A failed sync of the parent directory leaves the destination empty, so that a repeated
    /// repair writes it.
    @Test func failedSyncOfTheParentCanBeRepeated() throws {
        let patient = try Patient()
        let saved = FaultyStorage(MemoryStorage())
        let options = RepairOptions(storage: patient.storage, destinationStorage: saved)
        saved.fail { call in
            call.operation == .syncDirectory && call.path != "new"
                ? StorageError(.failed, .syncDirectory, path: call.path) : nil
        }
        #expect(
            journalError { _ = try Journal.repair("journal", to: "new", options: options) { _, _ in [] } }?.code
                == .ioFailed)
        #expect(try saved.base.list("new") == [])
        saved.fail(nil)
        let report = try Journal.repair("journal", to: "new", options: options) { _, _ in [] }
        #expect(report.head.position == patient.head.position)
    }
}
