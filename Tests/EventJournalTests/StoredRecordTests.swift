import ChatTesting
import MerkleLog
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// Records in their stored form, for another log than a journal on files.
@Suite struct StoredRecordTests {
    /// A record of every form: a long kept part, no content, a stub, and the longest common
    /// lengths.
    private static func draft(_ generator: inout SeededGenerator) throws -> CommitDraft {
        var draft = CommitDraft()
        for (kept, erasable) in [(0, 0), (3, 10), (127, 1_023), (128, 0), (300, 5_000), (1, 1 << 14)] {
            try draft.append(Entry(kept: generator.bytes(kept), erasable: generator.bytes(erasable)))
            try generator.bytes(kept).withBytes { (kept) throws(JournalError) in try draft.appendStub(kept: kept) }
        }
        return draft
    }

    /// A journal stores the same records, parts and chain values.
    @Test(arguments: 1...UInt64(Repetitions.few(2, of: 50)))
    func storedCommitEqualsThatOfAJournal(seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        let draft = try Self.draft(&generator)
        let options = JournalOptions(storage: MemoryStorage(), entropy: SeededEntropy(seed: seed))
        let journal = try Journal.open("journal", options: options)
        _ = try journal.append(draft, expecting: 0)
        // The creation of the journal has drawn a block.
        let entropy = SeededEntropy(seed: seed)
        var creation = EntropyPool(entropy)
        #expect(JournalID.random(&creation) == journal.id)
        var pool = EntropyPool(entropy)
        let commit = StoredCommit(draft, after: StoredRecord.chain(before: journal.id), &pool)
        #expect(
            commit.records.count == draft.recordCount && commit.records.last?.range.upperBound == commit.bytes.count)
        #expect(try commit.records.last?.chain == journal.chain(at: journal.lastPosition))

        var stored: [[UInt8]] = []
        try journal.forEachStoredRecord(in: 1...journal.lastPosition) { position, recordsLeft, record in
            #expect(position == Position(stored.count + 1) && recordsLeft == draft.recordCount - stored.count)
            stored.append(record.toArray())
            return true
        }
        #expect(stored == commit.records.map { Array(commit.bytes[$0.range]) })
        var chain = StoredRecord.chain(before: journal.id)
        try journal.forEachRecordContent(in: 1...journal.lastPosition) { position, state, kept, content in
            let bytes = stored[Int(position) - 1]
            guard let record = bytes.withBytes({ StoredRecord($0) }) else {
                Issue.record("the record at \(position) is not valid")
                return false
            }
            #expect(
                record.state == state && Array(bytes[record.kept]) == kept.toArray()
                    && Array(bytes[record.content]) == content.toArray())
            #expect(Array(bytes[record.erasable]) == (state == .whole ? content.extracting(16...).toArray() : []))
            chain = StoredRecord.chain(after: chain, originalCRC: record.originalCRC)
            #expect(chain == commit.records[Int(position) - 1].chain)
            return true
        }
        try journal.close()
    }

    /// A read that begins inside a commit knows the rest of it.
    @Test func recordsLeftIsKnownInsideACommit() throws {
        let journal = try Journal.open("journal", options: JournalOptions(segmentSize: 4_096, storage: MemoryStorage()))
        var ends: [Position] = []
        for count in [1, 40, 3, 2, 90, 1] {
            try journal.append((0..<count).map { Entry("kept \($0)", String(repeating: "x", count: $0)) })
            ends += [Position](repeating: journal.lastPosition, count: count)
        }
        for start in 1...journal.lastPosition {
            var read = start
            try journal.forEachStoredRecord(in: start...journal.lastPosition) { position, recordsLeft, _ in
                #expect(position == read && position + Position(recordsLeft) - 1 == ends[Int(position) - 1])
                read += 1
                return true
            }
            #expect(read == journal.lastPosition + 1)
        }
        try journal.close()
    }

    /// The stub of a record is valid, and has the same leaf and the same step of the chain.
    @Test func stubKeepsLeafAndChain() throws {
        var generator = SeededGenerator(7)
        var pool = EntropyPool(SeededEntropy(seed: 7))
        let commit = StoredCommit(try Self.draft(&generator), after: 5, &pool)
        var stubs = 0
        for (range, _) in commit.records {
            let bytes = Array(commit.bytes[range])
            let record = try #require(bytes.withBytes { StoredRecord($0) })
            #expect(record.hasErasableContent == !record.erasable.isEmpty)
            guard record.state == .whole else { continue }
            let stub = bytes.withBytes { record.stub(of: $0) }
            let erased = try #require(stub.withBytes { StoredRecord($0) })
            #expect(erased.state == .erased && erased.erasable.isEmpty && !erased.hasErasableContent)
            #expect(stub[erased.kept] == bytes[record.kept] && erased.originalCRC == record.originalCRC)
            #expect(Self.leaf(stub, erased) == Self.leaf(bytes, record))
            stubs += 1
        }
        #expect(stubs == 6)
    }

    private static func leaf(_ bytes: [UInt8], _ record: StoredRecord) -> MerkleHash {
        bytes.withBytes {
            MerkleHash(leafOf: record.state, kept: $0.extracting(record.kept), content: $0.extracting(record.content))
        }
    }

    /// Every flipped bit, every shorter and every longer form is rejected.
    @Test func otherBytesAreRejected() throws {
        var draft = CommitDraft()
        try draft.append(Entry("kept", "content"))
        try ([1, 2, 3] as [UInt8]).withBytes { (kept) throws(JournalError) in try draft.appendStub(kept: kept) }
        var pool = EntropyPool(SeededEntropy(seed: 3))
        let commit = StoredCommit(draft, after: 0, &pool)
        for (range, _) in commit.records {
            let bytes = Array(commit.bytes[range])
            #expect(bytes.withBytes { StoredRecord($0) } != nil)
            for bit in 0..<8 * bytes.count {
                var damaged = bytes
                damaged[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(damaged.withBytes { StoredRecord($0) } == nil, "bit \(bit)")
            }
            for count in 0..<bytes.count {
                #expect(Array(bytes[..<count]).withBytes { StoredRecord($0) } == nil, "\(count) bytes")
            }
            #expect((bytes + [0]).withBytes { StoredRecord($0) } == nil)
        }
        #expect(commit.bytes.withBytes { StoredRecord($0) } == nil)
    }
}
