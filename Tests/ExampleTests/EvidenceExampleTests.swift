import Chat
import Testing

/// The code of the article about proofs for auditors.
@Suite struct EvidenceExampleTests {
    /// Returns a checkpoint for an auditor, and a proof of one event with the event itself.
    func proof(of position: Position, in store: ChatStore) throws -> (checkpoint: String, proof: String, record: String)
    {
        let head = try store.treeHead()
        let proof = try store.inclusionProof(of: position, at: head.size)
        return (head.text, proof.text, try store.disclosedRecord(at: position).text)
    }

    /// Verifies the proof without the journal, and returns the event.
    func verifiedEvent(_ record: String, _ proof: String, with checkpoint: String) throws -> ChatEvent? {
        let proof = try InclusionProof(parsing: proof)
        let record = try DisclosedRecord(parsing: record)
        guard proof.head == (try TreeHead(parsing: checkpoint)) else { return nil }
        try proof.verify(record.leaf)  // throws `ProofError`
        return try record.event()
    }

    @Test func evidenceIsVerified() throws {
        let store = try ChatStore.inMemory()
        let user = UserID(bits: 1)
        try store.executeBlocking(.registerUser(id: user, username: "Ann"))
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: user))
        let first = try proof(of: 1, in: store)
        let second = try proof(of: 2, in: store)
        let event = try #require(try verifiedEvent(first.record, first.proof, with: first.checkpoint))
        #expect(event.kind == .userRegistered && event.content.username?.text == "Ann")
        let withheld = try DisclosedRecord(parsing: first.record).withholdingContent().event()
        #expect(withheld.kind == .userRegistered && withheld.isErased)
        #expect(throws: ProofError.self) { try verifiedEvent(second.record, first.proof, with: first.checkpoint) }
        #expect(try verifiedEvent(first.record, first.proof, with: store.treeHead(at: 1).text) == nil)
        try store.close()
    }

    /// Returns the lines of the evidence of a thread, for a tree that the reader has the checkpoint
    /// of.
    func evidence(of thread: ThreadID, in store: ChatStore, at size: Position) throws -> (
        parts: [String], readers: [EvidenceReader]
    ) {
        let evidence = try store.evidence(of: thread, at: size)
        var lines: [String] = []
        try store.forEachPart(of: evidence) { part, _ in
            lines.append(part.text)
        }
        return (lines, evidence.readers)
    }

    /// Verifies the lines without the journal, and returns the number of events of which none is
    /// missing.
    func verifiedEventCount(_ lines: [String], _ readers: [EvidenceReader], with checkpoint: String) throws -> Int {
        var verification = EvidenceVerification(against: try TreeHead(parsing: checkpoint))
        for (index, line) in lines.enumerated() { try verification.add(TreePart(parsing: line, line: index + 1)) }
        return try verification.report(readers: readers).numbers.count  // throws `ProofError`
    }

    @Test func evidenceOfAThreadIsVerified() throws {
        let store = try ChatStore.inMemory()
        let user = UserID(bits: 1)
        try store.executeBlocking(.registerUser(id: user, username: "Ann"))
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: user))
        let thread = ThreadID(try #require(OutwardCode("SW1A")))
        let (lines, readers) = try evidence(of: thread, in: store, at: 4)
        let checkpoint = try store.treeHead(at: 4)
        #expect(try verifiedEventCount(lines, readers, with: checkpoint.text) == 2)
        #expect(throws: ProofError.self) { try verifiedEventCount(lines, [], with: checkpoint.text) }

        let parts = try lines.enumerated().map { try TreePart(parsing: $1, line: $0 + 1) }
        var verification = EvidenceVerification(against: checkpoint)
        for part in parts { try verification.add(part) }
        let report = try verification.report(readers: readers)
        #expect(report.beginsWithFirstEvent && report.provenReaders == [EvidenceReader(user: user, since: 4)])
        try store.close()
    }
}
