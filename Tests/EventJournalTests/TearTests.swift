import ChatTesting
import Locking
import Primitives
import TestSupport
import Testing

@testable import EventJournal

@Suite struct TearTests {
    /// A journal with two acknowledged commits, followed by commits without waiters.
    private func specimen(_ sizes: [Int], seed: UInt64) throws -> (
        storage: MemoryStorage, model: [[Entry]], ends: [UInt64]
    ) {
        let storage = MemoryStorage()
        let journal = try Journal.open(
            "journal", options: JournalOptions(segmentSize: 8192, storage: storage, entropy: SeededEntropy(seed: seed)))
        var generator = SeededGenerator(seed)
        var model: [[Entry]] = []
        var ends: [UInt64] = []
        for (index, size) in ([100, 30] + sizes).enumerated() {
            let commit = [
                Entry(kept: generator.bytes(9), erasable: generator.bytes(size / 2)),
                Entry(kept: [], erasable: generator.bytes(size / 2)),
            ]
            try journal.append(commit)
            model.append(commit)
            if index == 1 { try journal.waitUntilDurable(journal.lastPosition) }
            ends.append(journal.state.withLock { $0.active.end })
        }
        return (storage.copy(), model, ends)
    }

    @Test(arguments: [[3000], [200], [700, 900], [100, 100, 100, 2000], [450, 60], [10, 10, 10, 10]])
    func everySubsetOfSectorsRecovers(_ sizes: [Int]) throws {
        for seed in 1...UInt64(Repetitions.few(1, of: 3)) {
            let (storage, model, ends) = try specimen(sizes, seed: seed)
            let name = "journal/" + JournalFileName.segment(1)
            let contents = storage.allContents()[name] ?? []
            let synced = Int(ends[1])
            let sectors = Array((synced / 512)...((Int(ends[ends.count - 1]) - 1) / 512))
            #expect(sectors.count <= 9)
            for subset in 0..<(1 << sectors.count) {
                var bytes = contents
                for (bit, sector) in sectors.enumerated() where subset >> bit & 1 == 0 {
                    for index in max(synced, sector * 512)..<min(bytes.count, sector * 512 + 512) { bytes[index] = 0 }
                }
                try check(storage, name, bytes, model, ends, "sizes \(sizes), seed \(seed), sectors kept \(subset)")
            }
            // The new size of the file did not reach the disk.
            for size in stride(from: synced, through: Int(ends[ends.count - 1]), by: 37) {
                try check(
                    storage, name, Array(contents.prefix(size)), model, ends,
                    "sizes \(sizes), seed \(seed), size \(size)")
            }
        }
    }

    /// Checks that recovery yields a prefix of the commits with all acknowledged ones, for readers
    /// and writers, and again after a second crash.
    private func check(
        _ storage: MemoryStorage, _ name: String, _ bytes: [UInt8], _ model: [[Entry]], _ ends: [UInt64],
        _ place: String
    ) throws {
        let torn = storage.copy()
        torn.setContents(bytes, of: name)
        let whole = ends.indices.prefix {
            Int(ends[$0]) <= bytes.count
                && bytes[..<Int(ends[$0])] == (storage.allContents()[name] ?? [])[..<Int(ends[$0])]
        }
        let expected = Array(model[..<whole.count].joined())
        let options = JournalOptions(segmentSize: 8192, storage: torn)
        #expect(try Journal.openReadOnly("journal", options: options).entries() == expected, "\(place)")
        let isWhole = whole.count == model.count
        let end = Int(ends[whole.count - 1])
        do {
            let journal = try Journal.open("journal", options: options)
            #expect(try journal.entries() == expected, "\(place)")
            #expect(journal.recovery.wasClean == false)
            let tail = bytes[min(end, bytes.count)...]
            let cut = Array(tail[..<(tail.lastIndex { $0 != 0 }.map { $0 + 1 } ?? tail.startIndex)])
            #expect((journal.recovery.cutFile == nil) == cut.isEmpty, "\(place)")
            if let file = journal.recovery.cutFile {
                #expect(!isWhole)
                #expect(torn.allContents()["journal/" + file] == cut, "\(place)")
            }
            try journal.append([Entry("after", "recovery")])
            try journal.waitUntilDurable(journal.lastPosition)
        }
        let again = try Journal.open("journal", options: JournalOptions(segmentSize: 8192, storage: torn.copy()))
        #expect(try again.entries() == expected + [Entry("after", "recovery")], "\(place)")
        var findings: [JournalFinding] = []
        try again.verify { findings.append($0) }
        #expect(findings == [], "\(place)")
    }

    @Test func damageWithoutTearIsRefused() throws {
        let (storage, _, ends) = try specimen([3000, 100], seed: 9)
        let name = "journal/" + JournalFileName.segment(1)
        let contents = storage.allContents()[name] ?? []
        // Flips one bit in every tenth byte after the acknowledged end. No sector is zero, so a
        // tear cannot explain the damage.
        for index in stride(from: Int(ends[1]), to: Int(ends[3]), by: 10) {
            let damaged = storage.copy()
            var bytes = contents
            bytes[index] ^= 0x10
            damaged.setContents(bytes, of: name)
            let error = journalError {
                _ = try Journal.open("journal", options: JournalOptions(segmentSize: 8192, storage: damaged))
            }
            #expect(error?.code == .damaged)
            #expect(error?.segment == JournalFileName.segment(1))
            #expect(error?.bytes != nil && error?.positions != nil)
            #expect(damaged.allContents()[name] == bytes)
        }
    }

    /// A forged commit without waiters: all its checksums are valid, but it is not the written one.
    ///
    /// It is complete, so it is no tear, although it has a sector of zeros (a record of zeros).
    @Test(arguments: ["chain", "position", "records", "attestation"]) func forgedEndIsRefused(_ field: String) throws {
        let storage = MemoryStorage()
        let options = JournalOptions(segmentSize: 8192, storage: storage)
        let journal = try Journal.open("journal", options: options)
        try journal.append([Entry("a", "b")])
        try journal.waitUntilDurable(1)
        let start = Int(journal.state.withLock { $0.active.end })
        try journal.append([Entry(kept: [], erasable: [UInt8](repeating: 0, count: 2000))])
        let copy = storage.copy()
        let name = "journal/" + JournalFileName.segment(1)
        let bytes = try #require(storage.allContents()[name])
        let seed = journal.state.withLock { $0.active.framingSeed }
        var header = try #require(
            bytes.withBytes(0..<bytes.count) { CommitHeader(decoding: $0, at: start, seed: seed) })
        #expect(try Journal.openReadOnly("journal", options: JournalOptions(storage: copy)).lastPosition == 2)
        switch field {
        case "chain": header.chain ^= 1
        case "position": header.firstPosition += 1
        case "records": header.recordsCRC ^= 1
        default: (header.firstPosition, header.syncedPosition) = (9, 8)
        }
        var forged = [UInt8](repeating: 0, count: CommitHeader.size)
        header.encode(into: &forged, seed: seed)
        copy.setContents(bytes[..<start] + forged + bytes[(start + CommitHeader.size)...], of: name)
        let before = copy.allContents()
        let error = journalError { _ = try Journal.openReadOnly("journal", options: JournalOptions(storage: copy)) }
        #expect(error?.code == .damaged)
        #expect(error?.positions?.lowerBound == 2)
        #expect(error?.positions?.upperBound == (field == "attestation" ? 8 : 2))
        #expect(
            journalError { _ = try Journal.open("journal", options: JournalOptions(storage: copy)) }?.code == .damaged)
        #expect(copy.allContents().filter { $0.key != "journal/lock" } == before.filter { $0.key != "journal/lock" })
    }

    @Test func laterCommitAttestsEarlierCommit() throws {
        // The slots are old (not every commit syncs them), but a commit after the torn one was
        // written only after the torn one was synced.
        let storage = MemoryStorage()
        let journal = try Journal.open("journal", options: JournalOptions(segmentSize: 8192, storage: storage))
        let slots = storage.allContents()["journal/durable"] ?? []
        try journal.append([Entry(kept: [], erasable: [UInt8](repeating: 1, count: 2000))])
        try journal.waitUntilDurable(1)
        try journal.append([Entry("later", "")])
        let damaged = storage.copy()
        damaged.setContents(slots, of: "journal/durable")
        #expect(
            try Journal.openReadOnly("journal", options: JournalOptions(segmentSize: 8192, storage: damaged))
                .lastPosition == 2)
        let name = "journal/" + JournalFileName.segment(1)
        var bytes = damaged.allContents()[name] ?? []
        for index in 512..<1024 { bytes[index] = 0 }
        damaged.setContents(bytes, of: name)
        let error = journalError {
            _ = try Journal.open("journal", options: JournalOptions(segmentSize: 8192, storage: damaged))
        }
        #expect(error?.code == .damaged)
        #expect(error?.positions == 1...1)
    }

    @Test func recoveredBytesAreRewrittenAndSynced() throws {
        let (storage, model, ends) = try specimen([300], seed: 4)
        let log = FaultyStorage(storage.copy())
        let journal = try Journal.open("journal", options: JournalOptions(segmentSize: 8192, storage: log))
        #expect(journal.recovery.recoveredPositions == 5...6)
        #expect(try journal.entries() == Array(model.joined()))
        let calls = log.calls
        let segment = "journal/" + JournalFileName.segment(1)
        let write = try #require(calls.firstIndex(of: .init(.write, segment, ends[1]..<ends[2])))
        let sync = try #require(calls[write...].firstIndex { $0.operation == .sync && $0.path == segment })
        let slot = try #require(calls.firstIndex { $0.operation == .write && $0.path == "journal/durable" })
        #expect(write < sync && sync < slot)
    }
}
