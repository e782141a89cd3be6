import ChatTesting
import Foundation
import Primitives
import TestSupport
import Testing

@testable import EventJournal

@Suite struct OpeningTests {
    @Test(arguments: StorageKind.allCases) func onlyOneWriterAtATime(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let journal = try Journal.open(path, options: options)
            #expect(journalError { _ = try Journal.open(path, options: options) }?.code == .locked)
            try journal.append([Entry("a", "b")])
            try journal.close()
            let next = try Journal.open(path, options: options)
            #expect(next.lastPosition == 1)
            #expect(journalError { _ = try Journal.open(path + "/", options: options) }?.code == .locked)
        }
    }

    @Test(arguments: StorageKind.allCases) func releasedJournalIsUnlocked(_ kind: StorageKind) throws {
        try kind.run { options, path in
            do {
                let journal = try Journal.open(path, options: options)
                try journal.append([Entry("a", "b")])
            }
            let next = try Journal.open(path, options: options)
            #expect(!next.recovery.wasClean)
            #expect(next.recovery.recoveredPositions == 1...1)
            #expect(try next.entries() == [Entry("a", "b")])
        }
    }

    @Test(arguments: StorageKind.allCases) func readersFollowTheDurablePosition(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let writer = try Journal.open(path, options: options)
            try writer.append([Entry("a", "b")])
            try writer.waitUntilDurable(1)
            try writer.append([Entry("c", "d")])
            let early = try Journal.openReadOnly(path, options: options)
            #expect(early.recovery.hasLiveWriter)
            #expect(try early.entries() == [Entry("a", "b")])
            #expect(early.head.position == 1)
            try writer.waitUntilDurable(2)
            #expect(try Journal.openReadOnly(path, options: options).lastPosition == 2)
            #expect(early.lastPosition == 1)
            #expect(early.isReadOnly && !writer.isReadOnly)
            #expect(journalError { _ = try early.append([Entry("a", "b")]) }?.code == .readOnly)
            #expect(journalError { try early.reserve(1) }?.code == .readOnly)
            try early.close()
            try writer.close()
            #expect(try Journal.openReadOnly(path, options: options).recovery.wasClean)
        }
    }

    @Test(arguments: StorageKind.allCases) func readersSeeWrittenCommitsImmediately(_ kind: StorageKind) throws {
        try kind.run { options, path in
            var options = options
            options.durability = .written
            let writer = try Journal.open(path, options: options)
            try writer.append([Entry("a", "b")])
            let reader = try Journal.openReadOnly(path, options: options)
            #expect(reader.durability == .written)
            #expect(reader.durablePosition == 1)
            #expect(try reader.entries() == [Entry("a", "b")])
            withExtendedLifetime(writer) {}
        }
    }

    @Test func readingWritesNothing() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("journal")
        do {
            let journal = try Journal.open(path, options: JournalOptions(segmentSize: 600))
            for index in 0..<20 { try journal.append([Entry("\(index)", "text")]) }
        }
        try FileManager.default.removeItem(atPath: path + "/lock")
        // Readers leave a torn commit, which a writer would cut off.
        let name = try #require(try directory.contents().keys.filter { $0.hasSuffix(".segment") }.max())
        var bytes = try #require(try directory.contents()[name])
        let end = try #require(bytes.lastIndex { $0 != 0 })
        bytes[end - 10...end] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        bytes = Array(bytes[..<(end - 10)])
        try Data(bytes).write(to: URL(fileURLWithPath: directory.file(name)))
        let before = try directory.contents()
        let reader = try Journal.openReadOnly(path)
        #expect(reader.lastPosition == 19)
        #expect(reader.recovery.cutBytes != nil && reader.recovery.cutFile == nil)
        _ = try reader.entries()
        try reader.verify { finding in Issue.record("\(finding)") }
        try Journal.verify(path) { finding in Issue.record("\(finding)") }
        try reader.close()
        #expect(try directory.contents() == before)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file(name))
        #expect(attributes[.posixPermissions] != nil)
    }

    @Test func filesAreForTheirOwnerOnly() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("journal")
        let journal = try Journal.open(path)
        defer { withExtendedLifetime(journal) {} }
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(path) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(Set(names) == ["lock", "durable", JournalFileName.segment(1)])
        for name in names { #expect(try mode(path + "/" + name) == 0o600) }
    }

    @Test func foreignFilesStayUnchanged() throws {
        let directory = try TemporaryDirectory()
        try Data("hello".utf8).write(to: URL(fileURLWithPath: directory.file("text")))
        let before = try directory.contents()
        for path in [directory.file("text"), directory.path] {
            #expect(journalError { _ = try Journal.open(path) }?.code == .notAJournal)
            #expect(journalError { _ = try Journal.openReadOnly(path) }?.code == .notAJournal)
            #expect(journalError { try Journal.verify(path) { _ in } }?.code == .notAJournal)
        }
        #expect(journalError { _ = try Journal.open(directory.file("no/such")) }?.code == .notFound)
        #expect(journalError { _ = try Journal.openReadOnly(directory.file("none")) }?.code == .notFound)
        #expect(
            journalError {
                _ = try Journal.open(directory.file("none"), options: JournalOptions(createIfMissing: false))
            }?.code
                == .notFound)
        #expect(journalError { _ = try Journal.open("") }?.code == .notFound)
        #expect(journalError { _ = try Journal.open(directory.file("a\0b")) }?.code == .notFound)
        #expect(try directory.contents() == before)
    }

    @Test func emptyDirectoryBecomesJournal() throws {
        let directory = try TemporaryDirectory()
        #expect(journalError { _ = try Journal.openReadOnly(directory.path) }?.code == .notFound)
        #expect(try Journal.open(directory.path).recovery.wasCreated)
    }

    @Test func newerVersionIsRefused() throws {
        let specimen = try Specimen(closing: true)
        let options = JournalOptions(storage: specimen.storage)
        let name = "journal/" + JournalFileName.segment(1)
        var header = Array((specimen.storage.allContents()[name] ?? [])[..<SegmentHeader.size])
        header.store(UInt16(2), at: 8)
        header.store(header.withBytes(0..<124) { CRC32C.checksum(of: $0) }, at: 124)
        var bytes = specimen.storage.allContents()[name] ?? []
        bytes.replaceSubrange(0..<SegmentHeader.size, with: header)
        specimen.storage.setContents(bytes, of: name)
        #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .newerVersion)
        #expect(journalError { _ = try Journal.openReadOnly("journal", options: options) }?.code == .newerVersion)
    }

    @Test func expectedHeadsAreChecked() throws {
        let storage = MemoryStorage()
        var options = JournalOptions(storage: storage)
        let journal = try Journal.open("journal", options: options)
        var heads = [journal.head]
        for index in 0..<5 {
            try journal.append([Entry("\(index)", "x"), Entry("\(index)", "y")])
            try journal.waitUntilDurable(journal.lastPosition)
            heads.append(journal.head)
        }
        let old = storage.copy()
        try journal.append([Entry("more", "")])
        try journal.waitUntilDurable(journal.lastPosition)
        let newest = journal.head
        try journal.close()
        for head in heads + [newest] {
            #expect(JournalHead(head.description) == head)
            options.expectedHead = head
            try Journal.open("journal", options: options).close()
        }
        var wrong = newest
        wrong.chain ^= 1
        var beyond = newest
        beyond.position += 1
        var other = newest
        other.journal = JournalID(bits: newest.journal.bits ^ 1)
        var inside = newest
        inside.position = 3
        for head in [wrong, beyond, other, inside] {
            options.expectedHead = head
            let before = storage.allContents()
            #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .headMismatch)
            #expect(journalError { _ = try Journal.openReadOnly("journal", options: options) }?.code == .headMismatch)
            #expect(storage.allContents() == before)
        }
        // The old copy is valid in itself; only the expected head reveals that records are missing.
        options.storage = old
        options.expectedHead = newest
        #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .headMismatch)
        #expect(journalError { _ = try Journal.open("none", options: options) }?.code == .notFound)
    }

    @Test func headsRoundTripAsText() throws {
        let id = try #require(JournalID("389B0B66-f0e3-4907-9b4e-01ac4146bb0b"))
        #expect(id.description == "389b0b66-f0e3-4907-9b4e-01ac4146bb0b")
        for wrong in [
            "", "389b0b66-f0e3-4907-9b4e-01ac4146bb0", "389b0b66-f0e3-4907-9b4e-01ac4146bb0bb",
            "389b0b66xf0e3-4907-9b4e-01ac4146bb0b",
        ] {
            #expect(JournalID(wrong) == nil)
        }
        let head = JournalHead(journal: id, position: 12, chain: 0x0123_4567_89AB_CDEF)
        let text = head.description
        #expect(text.hasPrefix("cj1-389b0b66f0e349079b4e01ac4146bb0b-12-0123456789abcdef-"))
        #expect(JournalHead(text) == head)
        for index in text.indices {
            for digit in "0123456789abcdef-A+" where digit != text[index] {
                #expect(JournalHead(text.replacingCharacters(in: index...index, with: String(digit))) == nil)
            }
        }
        for wrong in ["", text + " ", " " + text, text.uppercased(), String(repeating: "-", count: 1000)] {
            #expect(JournalHead(wrong) == nil)
        }
        let data = try JSONEncoder().encode([head])
        #expect(String(decoding: data, as: UTF8.self) == "[\"\(text)\"]")
        #expect(try JSONDecoder().decode([JournalHead].self, from: data) == [head])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([JournalHead].self, from: Data("[\"cj1\"]".utf8))
        }
        #expect(try JSONDecoder().decode([JournalID].self, from: JSONEncoder().encode([id])) == [id])
    }

    /// Opening reports the missing file and does not create it.
    @Test(arguments: StorageKind.allCases) func missingDurableFileIsReported(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let journal = try Journal.open(path, options: options)
            try journal.append([Entry("a", "b")])
            try journal.close()
            try options.storage.remove(path + "/durable")
            for _ in 0..<2 {
                let error = journalError { _ = try Journal.open(path, options: options) }
                #expect(error?.code == .damaged && error?.message == "The journal has segments but no durable file.")
                #expect(try options.storage.kind(of: path + "/durable") == nil)
            }
        }
    }

    @Test func oneDamagedSlotIsReportedTwoAreRefused() throws {
        let specimen = try Specimen(closing: true)
        for damagedSlots in [[0], [1], [0, 1]] {
            let storage = specimen.storage.copy()
            var bytes = storage.allContents()["journal/durable"] ?? []
            for slot in damagedSlots { bytes[slot * DurableSlot.stride + 9] ^= 4 }
            storage.setContents(bytes, of: "journal/durable")
            let options = JournalOptions(segmentSize: 512, storage: storage)
            if damagedSlots.count == 2 {
                #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .damaged)
                continue
            }
            var findings: [JournalFinding] = []
            try Journal.verify("journal", options: options) { findings.append($0) }
            #expect(findings.map(\.problem) == ["slot"])
            do {
                let journal = try Journal.open("journal", options: options)
                #expect(journal.recovery.damagedSlots == damagedSlots)
                #expect(try journal.entries() == specimen.model)
                for _ in 0..<3 {
                    try journal.append([Entry("a", "b")])
                    try journal.waitUntilDurable(journal.lastPosition)
                }
                try journal.close()
            }
            let again = try Journal.open("journal", options: options)
            #expect(again.recovery.wasClean && again.recovery.damagedSlots.isEmpty)
            #expect(again.lastPosition == UInt64(specimen.model.count) + 3)
        }
    }

    @Test func sameSeedGivesSameBytes() throws {
        func run() throws -> [String: [UInt8]] {
            let storage = MemoryStorage()
            let options = JournalOptions(segmentSize: 1000, storage: storage, entropy: SeededEntropy(seed: 7))
            let journal = try Journal.open("journal", options: options)
            for index in 0..<30 { try journal.append([Entry("\(index)", "same")]) }
            try journal.close()
            return storage.allContents()
        }
        #expect(try run() == run())
    }
}
