import ChatDomain
import ChatTesting
import EventJournal
import MerkleLog
import TestSupport
import Testing

@testable import Chat

/// A host that writes the whole journal again with another history: all checksums and chain values
/// are right, the id and the salts are those of before.
@Suite struct DishonestHostTests {
    private typealias Record = (kept: [UInt8], erasable: [UInt8])

    private static let id = UserID(bits: 1)

    /// The records of a chat, and the checkpoint that an auditor holds.
    private static func chat(_ options: StoreOptions) throws -> (records: [Record], checkpoint: TreeHead) {
        let store = try ChatStore.open("journal", options: options)
        try store.executeBlocking(.registerUser(id: id, username: "Ann"))
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: id))
        let thread = ThreadID(try #require(OutwardCode("SW1A")))
        for number in 1...40 {
            try store.executeBlocking(.postMessage(thread: thread, body: "Message \(number)", by: id))
        }
        let records = try (1...store.head.position).map { position in
            let record = try store.disclosedRecord(at: position)
            return (kept: record.kept, erasable: try #require(record.erasable))
        }
        let checkpoint = try store.treeHead()
        try store.executeBlocking(.postMessage(thread: thread, body: "After the checkpoint", by: id))
        try store.close()
        return (records, checkpoint)
    }

    /// Writes a journal with the same id, and with the same salts for the same records.
    private static func write(_ records: [Record], _ seed: UInt64) throws -> JournalOptions {
        let options = StoreFixture(seed: seed).options.journal
        let journal = try Journal.open("journal", options: options)
        for record in records {
            var draft = CommitDraft()
            unsafe try draft.append(kept: record.kept.span.bytes, erasable: record.erasable.span.bytes)
            _ = try journal.append(draft, expecting: journal.lastPosition)
        }
        try journal.close()
        return options
    }

    private static func findings(_ records: [Record], _ checkpoint: TreeHead, _ seed: UInt64) throws -> [JournalFinding]
    {
        try ChatStore.verify("journal", options: try write(records, seed), expecting: checkpoint).findings
    }

    @Test func otherHistoryIsFoundEachTime() throws {
        let seed = Repetitions.seed
        var random = SplitMix64(seed: seed)
        let (records, checkpoint) = try Self.chat(StoreFixture(seed: seed).options)
        #expect(try Self.findings(records, checkpoint, seed) == [], "the same records are the same history")
        for round in 0..<Repetitions.few(30, of: 2_000) {
            var forged = records
            let place = Int.random(in: 0..<records.count, using: &random)
            switch round % 6 {
            case 0:
                let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
                forged[place].kept[Int.random(in: 0..<forged[place].kept.count, using: &random)] ^= bit
            case 1 where !forged[place].erasable.isEmpty:
                let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
                forged[place].erasable[Int.random(in: 0..<forged[place].erasable.count, using: &random)] ^= bit
            case 1, 2: forged.remove(at: place)
            case 3:
                let other = (place + Int.random(in: 1..<records.count, using: &random)) % records.count
                forged.swapAt(place, other)
            case 4: forged.insert(forged[Int.random(in: 0..<records.count, using: &random)], at: place)
            default: forged.removeLast(records.count - place)
            }
            let found = try Self.findings(forged, checkpoint, seed)
            #expect(
                found.contains { $0.problem == "headMismatch" },
                "seed \(seed), round \(round), position \(place + 1): \(found)")
        }
    }
}
