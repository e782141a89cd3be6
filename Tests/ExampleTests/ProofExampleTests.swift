import MerkleLog
import Testing

/// The code of the documentation of `MerkleLog`.
@Suite struct ProofExampleTests {
    private func isProved(_ entry: [UInt8], _ proofText: String, _ checkpointText: String) throws -> Bool {
        let checkpoint = try TreeHead(parsing: checkpointText)  // the text of a checkpoint that you trust
        let proof = try InclusionProof(parsing: proofText)
        guard proof.head == checkpoint else { return false }
        try proof.verify(.leaf(of: entry))  // throws `ProofError`
        return true
    }

    @Test func inclusionIsVerified() throws {
        var tree = MerkleAccumulator()
        let leaves = [[1], [2]].map { MerkleHash.leaf(of: $0) }
        for leaf in leaves { tree.append(leaf) }
        let head = TreeHead(origin: "log", size: tree.size, root: tree.root)
        let proof = InclusionProof(index: 0, hashes: [leaves[1]], head: head)
        #expect(try isProved([1], proof.text, head.text))
        #expect(throws: ProofError.self) { try isProved([2], proof.text, head.text) }
        let other = TreeHead(origin: "log", size: 1, root: leaves[0])
        #expect(try !isProved([1], proof.text, other.text))
    }
}
