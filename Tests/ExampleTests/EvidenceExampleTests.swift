import Chat
import Testing

/// The code of the article about proofs for auditors.
@Suite struct EvidenceExampleTests {
    /// Returns a checkpoint for an auditor, and a proof of one event with the event itself.
    func evidence(_ store: ChatStore, of position: Position) throws -> (checkpoint: String, proof: String, record: String) {
        let head = try store.treeHead()
        let proof = try store.inclusionProof(of: position, at: head.size)
        return (head.text, proof.text, try store.disclosedRecord(at: position).text)
    }

    /// Verifies the proof without the journal, and returns the kept part and the texts of the event.
    func verified(_ proof: String, _ record: String, with checkpoint: String) throws -> (kept: [UInt8], erasable: [UInt8]?)? {
        let proof = try InclusionProof(parsing: proof)
        let record = try DisclosedRecord(parsing: record)
        guard proof.head == (try TreeHead(parsing: checkpoint)) else { return nil }
        try proof.verify(record.leaf)  // throws `ProofError`
        return (record.kept, record.erasable)
    }

    @Test func evidenceIsVerified() throws {
        let store = try ChatStore.inMemory()
        let user = UserID(bits: 1)
        try store.execute(.registerUser(user: user, username: "Ann"))
        try store.execute(.setPostcode(user: user, postcode: "SW1A 1AA"))
        let first = try evidence(store, of: 1)
        let second = try evidence(store, of: 2)
        #expect(try verified(first.proof, first.record, with: first.checkpoint) != nil)
        #expect(throws: ProofError.self) { try verified(first.proof, second.record, with: first.checkpoint) }
        #expect(try verified(first.proof, first.record, with: store.treeHead(at: 1).text) == nil)
        try store.close()
    }
}
