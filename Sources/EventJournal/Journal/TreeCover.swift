public import MerkleLog

/// Verifies that parts of a tree, from left to right, lead to the root of its head.
///
/// ``Journal/forEachTreePart(of:disclosing:_:)`` delivers such parts. Memory grows with the
/// logarithm of the tree's size.
public struct TreeCover: Sendable {
    private let head: TreeHead
    private let index: UInt64?
    private var cover: MerkleCover
    /// The leaf at `index`, once it was added as a record.
    private var leaf: MerkleHash?

    /// Creates the state before the first part.
    ///
    /// - Parameters:
    ///   - head: The head that the parts must lead to.
    ///   - position: A record whose ``inclusionProof()`` is wanted; nil for none.
    public init(of head: TreeHead, provingRecordAt position: Position? = nil) {
        self.head = head
        index = position.flatMap { $0 > 0 ? $0 - 1 : nil }
        cover = MerkleCover(size: head.size, pathOf: index)
    }

    /// Adds the next part.
    ///
    /// - Throws: `ProofError` if the part is not the tree's next one, or two adjacent hashes should
    ///   be one.
    /// - Complexity: O(1) on average.
    public mutating func append(_ part: TreePart) throws(ProofError) {
        switch part {
        case .record(let position, let record):
            guard position > 0 else { throw ProofError("The first position is 1, not 0.") }
            let hash = record.leaf
            try cover.append(position - 1..<position, hash, isShown: true)
            if position - 1 == index { leaf = hash }
        case .subtree(let positions, let hash):
            guard positions.lowerBound > 0 else { throw ProofError("The first position is 1, not 0.") }
            try cover.append(positions.lowerBound - 1..<positions.upperBound, hash, isShown: false)
        }
    }

    /// Verifies that the parts cover the tree and lead to the root of the head.
    ///
    /// - Throws: `ProofError` otherwise.
    public func verify() throws(ProofError) {
        guard let root = cover.root else {
            throw ProofError("The parts end after position \(cover.end), and the tree has the size \(head.size).")
        }
        guard root == head.root else {
            throw ProofError("The records and hashes lead to another root than that of the checkpoint.")
        }
    }

    /// Returns the inclusion proof of the record that was chosen at the creation.
    ///
    /// - Throws: `ProofError` as ``verify()``, and if the record is not among the parts.
    public func inclusionProof() throws(ProofError) -> InclusionProof {
        try verify()
        guard let index, let leaf else {
            throw ProofError("The record at the position of the wanted proof is not disclosed.")
        }
        return InclusionProof(index: index, hashes: cover.path, head: head, extra: leaf.bytes)
    }
}
