import ChatTesting
import Primitives
import StubRewriter
import Testing

@testable import EventJournal

/// Appends of stubs, for records whose content the writer never had.
@Suite struct StubAppendTests {
    private static func options() -> JournalOptions {
        JournalOptions(segmentSize: 700, storage: MemoryStorage(), entropy: SeededEntropy(seed: 5))
    }

    private static func kept(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(number), count: 1 + number * number % 300)
    }

    /// Appends commits of one to four records; every third record is a stub.
    private static func append(_ commits: Int, to journal: Journal) throws {
        var draft = CommitDraft()
        var number = Int(journal.lastPosition)
        for commit in 0..<commits {
            draft.removeAll()
            for _ in 0...(commit % 4) {
                number += 1
                if number.isMultiple(of: 3) {
                    unsafe try draft.appendStub(kept: kept(number % 256).span.bytes)
                } else {
                    unsafe try draft.append(
                        kept: kept(number % 256).span.bytes, erasable: ([1, 2, 3] as [UInt8]).span.bytes)
                }
            }
            _ = try journal.append(draft, expecting: journal.lastPosition)
        }
    }

    private static func check(_ journal: Journal, _ count: Int) throws {
        #expect(journal.durablePosition == Position(count))
        try journal.forEachRecord(in: 1...journal.lastPosition) { position, state, kept, erasable in
            #expect(state == (position.isMultiple(of: 3) ? .withheld : .whole))
            #expect(kept.toArray() == Self.kept(Int(position) % 256))
            #expect(erasable.toArray() == (state == .whole ? [1, 2, 3] : []))
            return true
        }
    }

    @Test func stubsAreReadAfterReopeningAndVerified() throws {
        let options = Self.options()
        var journal = try Journal.open("journal", options: options)
        try Self.append(10, to: journal)
        try journal.waitUntilDurable(journal.lastPosition)
        let count = Int(journal.lastPosition)
        try Self.check(journal, count)
        let head = journal.head
        try journal.close()
        var findings = 0
        try Journal.verify("journal", options: options) { _ in findings += 1 }
        #expect(findings == 0)
        journal = try Journal.open("journal", options: options)
        #expect(journal.head == head)
        try Self.check(journal, count)
        // The chain continues after a stub.
        try Self.append(30, to: journal)
        try journal.close()
        try Journal.verify("journal", options: options) { _ in findings += 1 }
        #expect(findings == 0)
        try Self.check(try Journal.openReadOnly("journal", options: options), Int(journal.lastPosition))
    }

    /// A crashed writer leaves stubs in a segment that recovery scans.
    @Test func stubsAreRecovered() throws {
        let options = Self.options()
        let count: Int
        do {
            let journal = try Journal.open("journal", options: options)
            try Self.append(9, to: journal)
            try journal.waitUntilDurable(journal.lastPosition)
            count = Int(journal.lastPosition)
        }
        let journal = try Journal.open("journal", options: options)
        try Self.check(journal, count)
        try journal.close()
    }

    @Test func digestCoversSaltOnly() throws {
        let options = Self.options()
        let journal = try Journal.open("journal", options: options)
        var draft = CommitDraft()
        unsafe try draft.appendStub(kept: ([9, 9] as [UInt8]).span.bytes)
        _ = try journal.append(draft, expecting: 0)
        try journal.close()
        let file = try #require(try options.storage.list("journal").first { $0.hasSuffix(".segment") })
        let bytes = try options.storage.contents(of: "journal/" + file)
        let record = bytes[(SegmentHeader.size + CommitHeader.size)...]
        #expect(Array(record.dropFirst(4).prefix(4)) == [2, 2, 9, 9])
        #expect(record.count == 4 + 4 + 32 + 4)
        // The salt is not stored; two stubs with the same kept part have different digests.
        var second = Self.options()
        second.entropy = SeededEntropy(seed: 6)
        let other = try Journal.open("journal", options: second)
        _ = try other.append(draft, expecting: 0)
        try other.close()
        let others = try second.storage.contents(of: "journal/" + file)
        #expect(Array(others.suffix(36)) != Array(bytes.suffix(36)))
    }

    @Test func appendReportsEndOfCommit() throws {
        let options = Self.options()
        let journal = try Journal.open("journal", options: options)
        try Self.append(12, to: journal)
        try journal.waitUntilDurable(journal.lastPosition)
        var expected: [Position] = []
        for commit in 0..<12 {
            let end = Position(expected.count + commit % 4 + 1)
            expected += [Position](repeating: end, count: commit % 4 + 1)
        }
        for start in 1...journal.lastPosition {
            var ends: [Position] = []
            var heads: [JournalHead] = []
            try journal.forEachCommittedRecord(in: start...journal.lastPosition) { _, commit, _, _, _ in
                ends.append(commit.position)
                heads.append(commit)
                return true
            }
            #expect(heads == (try (start...journal.lastPosition).map { try journal.head(at: $0) }))
            #expect(ends == Array(expected.dropFirst(Int(start) - 1)))
        }
        try journal.close()
    }

    @Test func limitErrorKeepsDraft() throws {
        var draft = CommitDraft()
        let long = [UInt8](repeating: 1, count: JournalLimits.keptBytes + 1)
        do throws(JournalError) {
            unsafe try draft.appendStub(kept: long.span.bytes)
            Issue.record("a kept part beyond the limit was accepted")
        } catch {
            #expect(error.code == .tooLarge)
        }
        #expect(draft.recordCount == 0 && draft.encodedByteCount == CommitHeader.size)
    }
}
