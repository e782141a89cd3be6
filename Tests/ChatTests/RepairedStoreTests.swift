import Chat
import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

/// Repairs of randomly damaged stores, and backups of stores.
@Suite struct RepairedStoreTests {
    /// Returns the storage of a closed store with several segments, and its events.
    private static func store(_ seed: UInt64) throws -> (storage: MemoryStorage, events: [RecordedEvent]) {
        let storage = MemoryStorage()
        let options = options(storage, seed: seed)
        let store = try ChatStore.open("journal", options: options)
        var generator = CommandGenerator(seed: seed)
        for _ in 0..<150 { _ = try answer(generator.nextRequest(), of: store) }
        let events = try store.allEvents()
        try store.close()
        return (storage, events)
    }

    private static func options(_ storage: MemoryStorage, seed: UInt64) -> StoreOptions {
        let journal = JournalOptions(segmentSize: 4096, storage: storage, entropy: SeededEntropy(seed: seed))
        return StoreOptions(journal: journal, clock: ManualClock(), ids: SeededIDs(seed: seed))
    }

    /// Flips bits, zeroes ranges, truncates files and removes files.
    private static func damage(_ storage: MemoryStorage, _ random: inout SeededRandom) throws {
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let files = storage.allContents().filter { $0.key != "journal/lock" && !$0.value.isEmpty }.sorted {
                $0.key < $1.key
            }
            guard let (path, whole) = files.randomElement(using: &random) else { return }
            var bytes = whole
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0 where files.count > 3:
                try storage.remove(path)
                continue
            case 1: bytes.removeLast(bytes.count - place)
            case 2, 3: for index in place..<min(bytes.count, place + 600) { bytes[index] = 0 }
            default: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
            storage.setContents(bytes, of: path)
        }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 25))) func repairKeepsIntactEventsAndMarksOthersLost(
        seed: UInt64
    ) throws {
        let (storage, events) = try Self.store(seed)
        var random = SeededRandom(seed: seed)
        try Self.damage(storage, &random)
        let report = try ChatStore.repair(
            journalAt: "journal", to: "new", options: RepairOptions(storage: storage, destinationStorage: storage))
        let repaired = try ChatStore.open("new", options: Self.options(storage, seed: seed))
        var found = try repaired.allEvents()
        #expect(
            found.count <= events.count + (report.isComplete ? 0 : 1) && UInt64(found.count) == report.head.position)
        if let first = report.losses.first?.positions.lowerBound {
            #expect(found.removeLast().event.details == .init(.historyRepaired, .repair(from: first)))
        }
        var lost: [Position] = []
        var time = Timestamp(millisecondsSince1970: 0)
        for (original, recorded) in zip(events, found) {
            #expect(recorded.position == original.position)
            if recorded.kind == .lost {
                lost.append(recorded.position)
                #expect(recorded.event == ChatEvent(recordedAt: time, details: .init(.lost)))
            } else {
                #expect(recorded == original)
            }
            time = recorded.event.recordedAt
        }
        #expect(report.losses.flatMap { Array($0.positions) } == lost)
        #expect(report.lostCount == UInt64(lost.count) && report.isComplete == lost.isEmpty)
        #expect(try ChatStore.verify("new", options: Self.options(storage, seed: seed).journal).findings == [])

        // The repaired store accepts commands, and its new events verify.
        var generator = CommandGenerator(seed: seed &+ 1)
        for _ in 0..<60 { _ = try answer(generator.nextRequest(), of: repaired) }
        for thread in try repaired.reader(as: .host).threads() {
            _ = try repaired.reader(as: .host).timeline(thread.id)
        }
        let head = repaired.head
        #expect(head.position > report.head.position)
        try repaired.close()
        let verification = try ChatStore.verify("new", options: Self.options(storage, seed: seed).journal, deep: true)
        #expect(
            verification.findings.map(\.message) == [] && verification.position == head.position,
            "\(verification.findings.map(\.message)) \(lost)")
    }

    @Test func backupOfOpenStoreIsIncremental() throws {
        let fixture = StoreFixture(seed: 5)
        let store = try fixture.open()
        var generator = CommandGenerator(seed: 5)
        var copies: [BackupReport] = []
        for _ in 0..<3 {
            for _ in 0..<40 { _ = try answer(generator.nextRequest(), of: store) }
            copies.append(try store.backup(to: "copy"))
            #expect(copies.last?.head == store.head)
        }
        #expect(Set(copies.map(\.head)).count == 3)
        let events = try store.allEvents()
        try store.close()
        let storage = fixture.options.journal.storage
        let again = try ChatStore.backup(
            ofJournalAt: fixture.directory, to: "copy",
            options: BackupOptions(storage: storage, destinationStorage: storage))
        #expect(again.bytesCopied == 0 && again.head == copies.last?.head)
        let copy = try ChatStore.open("copy", options: fixture.options)
        #expect(try copy.allEvents() == events)
        try copy.close()
        #expect(try ChatStore.verify("copy", options: fixture.options.journal, deep: true).findings == [])
    }
}
