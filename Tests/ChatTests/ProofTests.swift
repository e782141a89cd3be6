import Chat
import ChatDomain
import ChatTesting
import EventJournal
import MerkleLog
import Testing

/// Tree heads and proofs of a store, and the verification of a journal against a checkpoint.
@Suite struct ProofTests {
    private let fixture = StoreFixture()
    private static let ann = UserID(bits: 1)

    /// A store with some events.
    private func filled() throws -> ChatStore {
        let store = try fixture.open()
        try store.executeBlocking(.registerUser(id: Self.ann, username: "Ann"))
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: Self.ann))
        for number in 1...5 {
            try store.executeBlocking(
                .postMessage(thread: ThreadID(try #require(OutwardCode("SW1A"))), body: "Milk \(number)?", by: Self.ann)
            )
        }
        return store
    }

    @Test func proofsOfAStoreVerify() throws {
        let store = try filled()
        let (last, early) = (store.head.position, try store.treeHead(at: 3))
        let head = try store.treeHead()
        #expect(head.origin == "chat-journal/\(store.head.journal)" && head.size == last)
        #expect(try TreeHead(parsing: head.text) == head)
        for position in 1...last {
            let (proof, record) = (try store.inclusionProof(of: position), try store.disclosedRecord(at: position))
            #expect(proof.head == head && proof.position == position)
            try proof.verify(record.leaf)
            #expect(throws: ProofError.self) {
                try proof.verify(try store.disclosedRecord(at: position % last + 1).leaf)
            }
        }
        let growth = try store.consistencyProof(from: 3)
        #expect(growth.head == head)
        try growth.verify(from: early)
        try store.executeBlocking(
            .postMessage(thread: ThreadID(try #require(OutwardCode("SW1A"))), body: "More", by: Self.ann))
        #expect(try store.treeHead(at: last) == head)
        #expect(try store.treeHead() != head)
        expectError("outOfRange") { _ = try store.treeHead(at: last + 2) }
        expectError("outOfRange") { _ = try store.inclusionProof(of: last + 1, at: last) }
        expectError("outOfRange") { _ = try store.consistencyProof(from: last + 1, at: last) }
        try store.close()
        expectError("closed") { _ = try store.treeHead(at: 1) }
    }

    @Test func logWithoutATreeIsRejected() throws {
        let store = try ChatStore.open(log: ArrayLog(ArrayLog.Store()))
        expectError("notAJournal") { _ = try store.treeHead() }
        expectError("notAJournal") { _ = try store.inclusionProof(of: 1) }
        expectError("notAJournal") { _ = try store.consistencyProof(from: 0) }
        expectError("notAJournal") { _ = try store.disclosedRecord(at: 1) }
        expectError("notAJournal") { _ = try store.writeTiles(to: "tiles") }
        try store.close()
    }

    @Test func tilesOfAStoreAreContinued() throws {
        let store = try filled()
        let first = try store.writeTiles(to: fixture.directory + "-tiles")
        #expect(first.head == (try store.treeHead()) && first.writtenFiles == 3)
        try store.executeBlocking(
            .postMessage(thread: ThreadID(try #require(OutwardCode("SW1A"))), body: "More", by: Self.ann))
        let second = try store.writeTiles(to: fixture.directory + "-tiles", includingEntries: true)
        #expect(second.head == (try store.treeHead()) && second.head != first.head && second.writtenFiles == 3)
        expectError("notAJournal") { _ = try store.writeTiles(to: fixture.directory) }
        try store.close()
    }

    @Test func verificationComparesTheCheckpoint() throws {
        let store = try filled()
        let (last, id) = (store.head.position, store.head.journal)
        let heads = try (0...last).map { try store.treeHead(at: $0) }
        try store.close()
        func findings(_ head: TreeHead) throws -> [JournalFinding] {
            try ChatStore.verify(fixture.directory, options: fixture.options.journal, expecting: head).findings
        }
        for head in heads { #expect(try findings(head) == []) }
        let origin = "chat-journal/\(id)"
        let wrong = [
            (TreeHead(origin: origin, size: last, root: heads[1].root), 1...last),
            (TreeHead(origin: origin, size: last - 1, root: heads[Int(last)].root), 1...last - 1),
            (TreeHead(origin: origin, size: last + 3, root: heads[Int(last)].root), last + 1...last + 3),
            (TreeHead(origin: "chat-journal/another", size: last, root: heads[Int(last)].root), nil),
        ]
        for (head, positions) in wrong {
            let found = try findings(head)
            #expect(found.map(\.problem) == ["headMismatch"] && found.first?.positions == positions, "\(head.text)")
        }
    }
}
