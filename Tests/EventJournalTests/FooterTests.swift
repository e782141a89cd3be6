import ChatTesting
import Locking
import Testing

@testable import EventJournal

/// Sealed segments and their footers, an optional index that only saves reads.
@Suite struct FooterTests {
    /// A closed journal of several segments and its records.
    private func journal(segments: Int, seed: UInt64 = 3) throws -> (storage: MemoryStorage, entries: [Entry]) {
        let storage = MemoryStorage()
        let options = JournalOptions(segmentSize: 20_000, storage: storage, entropy: SeededEntropy(seed: seed))
        let journal = try Journal.open("j", options: options)
        var generator = SeededGenerator(seed)
        var entries: [Entry] = []
        while journal.state.withLock({ $0.sealedStarts.count }) < segments - 1 {
            let some = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                generator.entry(kept: 40, erasable: 900)
            }
            try journal.append(some)
            entries += some
        }
        try journal.close()
        return (storage, entries)
    }

    private func options(_ storage: any JournalStorage, expecting head: JournalHead? = nil) -> JournalOptions {
        JournalOptions(segmentSize: 20_000, storage: storage, entropy: SeededEntropy(seed: 9), expectedHead: head)
    }

    @Test func sealedSegmentsEndInTheirFooter() throws {
        let (storage, entries) = try journal(segments: 6)
        let journal = try Journal.openReadOnly("j", options: options(storage))
        let starts = journal.state.withLock { $0.sealedStarts + [SegmentStart($0.active.header)] }
        #expect(starts.count == 6)
        for (start, next) in zip(starts, starts.dropFirst()) {
            let opened = try SegmentFile(
                JournalDirectory("j", storage), first: start.position, .read, journal: journal.id)
            var scan = SegmentScan(opened.segment, size: opened.size)
            try scan.run()
            let (footer, offset) = try #require(try opened.footer())
            #expect(
                scan.footer == footer && scan.segment.end == offset && offset + UInt64(footer.length) == opened.size)
            #expect(
                footer.firstPosition == next.position && footer.syncedPosition == next.position - 1
                    && footer.chain == scan.chain)
            let sealed = try journal.sealedSegments.segment(from: start, to: next)
            #expect(sealed.index == scan.segment.index && sealed.index.entries.count > 2)
        }
        #expect(try journal.entries() == entries)
    }

    /// An opening that has no space for the footer leaves no part of it.
    @Test func fullDiskLeavesNoPartialFooter() throws {
        let storage = MemoryStorage()
        let journal = try Journal.open("j", options: options(storage))
        try journal.append([Entry("a", "b")])
        try journal.synchronize()
        // A copy of an unclosed storage, as a crash leaves it.
        let faulty = FaultyStorage(storage.copy())
        faulty.fail { $0.operation == .allocate ? StorageError(.full, .allocate, path: $0.path) : nil }
        #expect(journalError { _ = try Journal.open("j", options: options(faulty)) }?.code == .storageFull)
        try Journal.verify("j", options: options(faulty.base)) { Issue.record("\($0)") }
        faulty.fail(nil)
        let again = try Journal.open("j", options: options(faulty))
        #expect(again.recovery.cutBytes == nil)
        #expect(try again.entries() == [Entry("a", "b")])
        try again.close()
        try journal.close()
    }

    /// The bytes that an opening reads of sealed segments do not depend on their length.
    @Test func openingDoesNotReadSealedRecords() throws {
        func bytesRead(segmentSize: UInt64) throws -> (segments: Int, bytes: Int) {
            let storage = MemoryStorage()
            let journal = try Journal.open("j", options: JournalOptions(segmentSize: segmentSize, storage: storage))
            let entry = Entry(kept: [UInt8](repeating: 1, count: 30), erasable: [UInt8](repeating: 2, count: 400))
            while journal.state.withLock({ $0.sealedStarts.count }) < 5 { try journal.append([entry, entry]) }
            try journal.close()
            let reading = CountingStorage(storage)
            let opened = try Journal.openReadOnly("j", options: JournalOptions(storage: reading))
            return (opened.state.withLock { $0.sealedStarts.count }, reading.bytesRead)
        }
        let short = try bytesRead(segmentSize: 8_000)
        let long = try bytesRead(segmentSize: 400_000)
        #expect(short.segments == 5 && long.segments == 5)
        #expect(short.bytes == long.bytes)
    }

    @Test(arguments: [0, 4, 20, 33, 38, 45, -1, -5]) func damagedFooterLosesNoRecords(place: Int) throws {
        let (storage, entries) = try journal(segments: 4)
        let name = JournalFileName.segment(1)
        var bytes = storage.allContents()["j/" + name] ?? []
        let opened = try SegmentFile(
            JournalDirectory("j", storage), first: 1, .read,
            journal: try Journal.openReadOnly("j", options: options(storage)).id)
        let footer = Int(try #require(try opened.footer()).offset)
        bytes[place < 0 ? bytes.count + place : footer + place] ^= 0x40
        storage.setContents(bytes, of: "j/" + name)

        var findings: [JournalFinding] = []
        try Journal.verify("j", options: options(storage)) { findings.append($0) }
        #expect(findings.map(\.problem) == ["footer"] && findings.first?.segment == name)
        for isReading in [true, false] {
            let journal =
                try isReading
                ? Journal.openReadOnly("j", options: options(storage)) : Journal.open("j", options: options(storage))
            // Damage in the index entries is detected when a read needs them.
            #expect(journal.recovery.damagedFooters == (place == 45 || place == -5 ? [] : [name]))
            #expect(try journal.entries() == entries)
            for position in stride(from: Position(1), through: Position(entries.count), by: 5) {
                #expect(try journal.entries(position...position) == [entries[Int(position) - 1]])
            }
            try journal.close()
        }
    }

    /// A footer spans two sectors, and the disk loses one of them after it acknowledged the sync:
    /// one damaged footer, one finding.
    @Test(arguments: [4, 40, 41]) func zeroedFooterStartIsOneFinding(zeros: Int) throws {
        let (storage, entries) = try journal(segments: 3)
        let name = JournalFileName.segment(1)
        var bytes = storage.allContents()["j/" + name] ?? []
        let opened = try SegmentFile(
            JournalDirectory("j", storage), first: 1, .read,
            journal: try Journal.openReadOnly("j", options: options(storage)).id)
        let footer = Int(try #require(try opened.footer()).offset)
        for index in footer..<(footer + zeros) { bytes[index] = 0 }
        storage.setContents(bytes, of: "j/" + name)
        var findings: [JournalFinding] = []
        try Journal.verify("j", options: options(storage)) { findings.append($0) }
        #expect(findings.map(\.problem) == ["footer"] && findings.first?.segment == name)
        #expect(findings.first?.bytes == UInt64(footer)..<UInt64(bytes.count))
        let journal = try Journal.open("j", options: options(storage))
        #expect(journal.recovery.damagedFooters == [name])
        #expect(try journal.entries() == entries)
    }

    @Test func truncatedSealedSegmentIsRefusedOrFullyRead() throws {
        let (storage, entries) = try journal(segments: 3)
        let name = "j/" + JournalFileName.segment(1)
        let bytes = storage.allContents()[name] ?? []
        for length in stride(from: 0, to: bytes.count, by: 13) {
            let cut = storage.copy()
            cut.setContents(Array(bytes.prefix(length)), of: name)
            do {
                let journal = try Journal.openReadOnly("j", options: options(cut))
                #expect(journal.recovery.damagedFooters.count == 1)
                #expect(try journal.entries() == entries, "cut to \(length)")
            } catch let error as JournalError {
                #expect(error.code == .damaged, "cut to \(length)")
            }
        }
    }

    @Test func expectedHeadInSealedSegmentIsCompared() throws {
        let (storage, entries) = try journal(segments: 4)
        let journal = try Journal.openReadOnly("j", options: options(storage))
        var chain = Chain.start(journal.id)
        var heads = [JournalHead(journal: journal.id, position: 0, chain: chain)]
        for first in journal.state.withLock({ $0.sealedStarts.map(\.position) }) {
            let opened = try SegmentFile(JournalDirectory("j", storage), first: first, .read, journal: journal.id)
            var scan = SegmentScan(
                opened.segment, size: opened.size, watchedPositions: Array(1...Position(entries.count)))
            try scan.run()
            heads += scan.chains.sorted { $0.key < $1.key }.map {
                JournalHead(journal: journal.id, position: $0.key, chain: $0.value)
            }
            chain = scan.chain
        }
        #expect(heads.count > 40)
        for var head in heads {
            #expect(throws: Never.self) { try Journal.openReadOnly("j", options: options(storage, expecting: head)) }
            head.chain ^= 1
            #expect(
                journalError { _ = try Journal.openReadOnly("j", options: options(storage, expecting: head)) }?.code
                    == .headMismatch)
        }
    }

    @Test func tornFooterIsRewritten() throws {
        let storage = MemoryStorage()
        let options = JournalOptions(storage: storage, entropy: SeededEntropy(seed: 1))
        let journal = try Journal.open("j", options: options)
        let entries = (0..<60).map { Entry("kept \($0)", String(repeating: "e", count: 700)) }
        for entry in entries { try journal.append([entry]) }
        try journal.synchronize()
        let footer = journal.state.withLock { $0.active.footer($0.lastChain) }
        let end = Int(journal.state.withLock { $0.active.end })
        let name = "j/" + JournalFileName.segment(1)
        let written = Array((storage.allContents()[name] ?? []).prefix(end)) + footer
        for sector in (end / 512)...(written.count / 512) {
            let torn = storage.copy()
            var bytes = written
            for index in max(end, 512 * sector)..<min(bytes.count, 512 * (sector + 1)) { bytes[index] = 0 }
            torn.setContents(bytes, of: name)
            try Journal.verify("j", options: self.options(torn)) { Issue.record("sector \(sector): \($0)") }
            let again = try Journal.open("j", options: self.options(torn))
            #expect(try again.entries() == entries)
            try again.append([Entry("more", "")])
            try again.close()
            var findings: [JournalFinding] = []
            try Journal.verify("j", options: self.options(torn)) { findings.append($0) }
            #expect(findings.isEmpty, "sector \(sector): \(findings)")
        }
    }
}
