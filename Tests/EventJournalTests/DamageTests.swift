import ChatTesting
import Foundation
import Locking
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// A small journal of three segments in memory, with its expected records.
struct Specimen {
    let storage: MemoryStorage
    let model: [Entry]
    /// The number of records that were acknowledged when the storage was copied.
    let acknowledged: Int

    static let path = "journal"

    init(closing: Bool) throws {
        let storage = MemoryStorage()
        let journal = try Journal.open(
            Self.path, options: JournalOptions(segmentSize: 512, storage: storage, entropy: SeededEntropy(seed: 5)))
        var generator = SeededGenerator(6)
        var model: [Entry] = []
        while try storage.list(Self.path).filter({ $0.hasSuffix(".segment") }).count < 3 {
            let entries = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                generator.entry(kept: 12, erasable: 20)
            }
            try journal.append(entries)
            try journal.waitUntilDurable(journal.lastPosition)
            model += entries
        }
        if closing { try journal.close() }
        acknowledged = model.count
        self.model = model
        self.storage = storage.copy()
    }

    /// Opens a damaged copy for reading and for writing.
    ///
    /// Each opening either fails, or delivers every acknowledged record and only appended records,
    /// with an error for each unreadable one. Verification must report lost records of a sealed
    /// segment; with `mustFind`, it must report something.
    func check(_ damaged: MemoryStorage, _ place: @autoclosure () -> String, mustFind: Bool = false) {
        let before = damaged.allContents()
        lazy var found = findings(damaged)
        if mustFind && found == 0 { Issue.record("verification finds nothing: \(place())") }
        check(damaged, &found, place()) { () throws(JournalError) in
            try Journal.openReadOnly(Self.path, options: JournalOptions(storage: damaged))
        }
        if damaged.allContents() != before { Issue.record("reading changed the files: \(place())") }
        let refused = check(damaged, &found, place()) { () throws(JournalError) in
            try Journal.open(Self.path, options: JournalOptions(segmentSize: 512, storage: damaged))
        }
        if refused,
            damaged.allContents().filter({ $0.key != "journal/lock" }) != before.filter({ $0.key != "journal/lock" })
        {
            Issue.record("a failed opening changed the files: \(place())")
        }
    }

    @discardableResult
    private func check(
        _ damaged: MemoryStorage, _ found: inout Int, _ place: @autoclosure () -> String,
        _ open: () throws(JournalError) -> Journal
    ) -> Bool {
        do {
            let journal = try open()
            let last = Int(journal.lastPosition)
            if last < acknowledged || last > model.count {
                Issue.record("\(last) records remain of \(model.count): \(place())")
            }
            do {
                let entries = try journal.entries()
                if entries != Array(model.prefix(last)) {
                    Issue.record("records differ from the appended ones: \(place())")
                }
            } catch ReadError<Never>.journal(let error) where error.code == .damaged {
                // Opening does not read sealed segments, so a read can fail here. All delivered
                // records must equal the appended ones.
                if found == 0 { Issue.record("verification does not find \(error): \(place())") }
                for position in 1...Position(last) {
                    do {
                        let entries = try journal.entries(position...position)
                        if entries != [model[Int(position) - 1]] {
                            Issue.record("record \(position) is another: \(place())")
                        }
                    } catch ReadError<Never>.journal(let error) where error.code == .damaged {
                    }
                }
            }
            try journal.close()
            return false
        } catch let error as JournalError {
            if error.code != .damaged { Issue.record("fails with \(error): \(place())") }
            // Verification must also find the damage that makes an opening fail.
            if found == 0 { Issue.record("verification finds nothing: \(place())") }
            return true
        } catch {
            Issue.record("reading fails with \(error) after opening: \(place())")
            return false
        }
    }

    private func findings(_ damaged: MemoryStorage) -> Int {
        var findings = 0
        do {
            try Journal.verify(Self.path, options: JournalOptions(storage: damaged)) { _ in findings += 1 }
        } catch {
            Issue.record("verification fails with \(error)")
        }
        return findings
    }

    /// The paths of the sealed segments, in which every byte is significant.
    func sealedPaths() throws -> [String] {
        try storage.list(Self.path).filter { $0.hasSuffix(".segment") }.sorted().dropLast().map { Self.path + "/" + $0 }
    }
}

@Suite struct DamageTests {
    @Test(arguments: [true, false]) func everyBitFlipIsDetectedOrHarmless(closing: Bool) throws {
        let specimen = try Specimen(closing: closing)
        let sealed = try specimen.sealedPaths()
        for (path, bytes) in specimen.storage.allContents() where path != "journal/lock" {
            for bit in Repetitions.oneIn(128, of: 0..<8 * bytes.count) {
                let damaged = specimen.storage.copy()
                var flipped = bytes
                flipped[bit / 8] ^= 1 << (bit % 8)
                damaged.setContents(flipped, of: path)
                specimen.check(damaged, "bit \(bit % 8) of byte \(bit / 8) of \(path)", mustFind: sealed.contains(path))
            }
        }
    }

    @Test(arguments: [true, false]) func everyTruncationIsDetectedOrHarmless(closing: Bool) throws {
        let specimen = try Specimen(closing: closing)
        let sealed = try specimen.sealedPaths()
        for (path, bytes) in specimen.storage.allContents() where path != "journal/lock" {
            for length in Repetitions.oneIn(16, of: 0..<bytes.count) {
                let damaged = specimen.storage.copy()
                damaged.setContents(Array(bytes.prefix(length)), of: path)
                specimen.check(damaged, "\(path) cut to \(length)", mustFind: sealed.contains(path))
            }
        }
    }

    @Test func missingFileIsDetected() throws {
        let specimen = try Specimen(closing: true)
        for path in specimen.storage.allContents().keys where path != "journal/lock" {
            let damaged = specimen.storage.copy()
            try damaged.remove(path)
            let error = journalError { _ = try Journal.open(Specimen.path, options: JournalOptions(storage: damaged)) }
            #expect(error?.code == .damaged, "\(path)")
        }
    }

    @Test func swappedSegmentIsDetected() throws {
        let specimen = try Specimen(closing: true)
        let names = try specimen.storage.list("journal").filter { $0.hasSuffix(".segment") }
        let contents = specimen.storage.allContents()
        for target in names {
            for source in names where source != target {
                let damaged = specimen.storage.copy()
                damaged.setContents(contents["journal/" + source] ?? [], of: "journal/" + target)
                specimen.check(damaged, "\(source) in place of \(target)")
                #expect(
                    journalError { _ = try Journal.openReadOnly("journal", options: JournalOptions(storage: damaged)) }
                        != nil)
            }
        }
    }

    @Test func readDetectsChangesAfterOpening() throws {
        let specimen = try Specimen(closing: true)
        let storage = specimen.storage.copy()
        let journal = try Journal.openReadOnly(Specimen.path, options: JournalOptions(storage: storage))
        // Open files in memory share the storage's bytes, so a write here bypasses the journal.
        let name = "journal/" + JournalFileName.segment(1)
        let file = try storage.open(name, .readWrite)
        let size = try file.size()
        try [UInt8](repeating: 0xFF, count: 3).withBytes(0..<3) { (bytes) throws(StorageError) in
            try file.write(bytes, at: 190)
        }
        let error = journalError { _ = try journal.entries() }
        #expect(error?.code == .damaged)
        #expect(error?.segment == JournalFileName.segment(1))
        #expect(error?.bytes != nil)
        var findings: [JournalFinding] = []
        try journal.verify { findings.append($0) }
        #expect(!findings.isEmpty)
        for length in stride(from: size - 1, to: 0, by: -7) {
            try file.truncate(to: length)
            #expect(journalError { _ = try journal.entries() } != nil)
        }
    }

    @Test func verificationContinuesAfterEachFinding() throws {
        let storage = MemoryStorage()
        let options = JournalOptions(storage: storage, entropy: SeededEntropy(seed: 1))
        let journal = try Journal.open("journal", options: options)
        var offsets: [UInt64] = []
        for index in 0..<10 {
            offsets.append(journal.state.withLock { $0.active.end })
            try journal.append((0..<3).map { Entry("kept \(index) \($0)", "erasable") })
        }
        try journal.close()
        var findings: [JournalFinding] = []
        try Journal.verify("journal", options: options) { findings.append($0) }
        #expect(findings.isEmpty)
        let name = "journal/" + JournalFileName.segment(1)
        var bytes = storage.allContents()[name] ?? []
        bytes[Int(offsets[2]) + CommitHeader.size + 12] ^= 1
        bytes[Int(offsets[5]) + 9] ^= 1
        bytes[Int(offsets[9]) - 1] ^= 1
        storage.setContents(bytes, of: name)
        try Journal.verify("journal", options: options) { findings.append($0) }
        #expect(findings.map(\.problem) == ["recordChecksum", "commitHeader", "missingRecords", "recordChecksum"])
        #expect(findings.map(\.positions) == [7...7, 16...16, 16...18, 27...27])
        #expect(findings.allSatisfy { $0.segment == JournalFileName.segment(1) && $0.bytes != nil })
    }
}
