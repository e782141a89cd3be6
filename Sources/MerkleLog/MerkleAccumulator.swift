/// Computes the hash of a tree from its leaf hashes, in order, with memory for O(log *n*) hashes.
public struct MerkleAccumulator: Sendable {
    /// The number of leaves.
    public private(set) var size: UInt64 = 0
    /// The hashes of the complete subtrees that the leaves form, from the largest to the smallest.
    ///
    /// Their sizes are the powers of two in the binary form of ``size``.
    private var subtrees: [MerkleHash] = []

    /// Creates the state of an empty tree.
    public init() {}

    /// Appends a leaf.
    ///
    /// - Complexity: O(1) on average: one node for each leaf. O(log *n*) for a single call.
    public mutating func append(_ leaf: MerkleHash) { append(leaf, height: 0) }

    /// Appends the hash of a complete subtree: the tree of 2^`height` leaves.
    ///
    /// - Precondition: ``size`` is a multiple of the subtree's size.
    /// - Complexity: The same as ``append(_:)``.
    package mutating func append(_ subtree: MerkleHash, height: Int) {
        precondition(size & (1 << UInt64(height) - 1) == 0, "A complete subtree begins at a multiple of its size.")
        var hash = subtree
        // For each trailing 1 bit of size / 2^height, the last subtree and the new one have the
        // same size: join them.
        for _ in 0..<(~(size >> UInt64(height))).trailingZeroBitCount { hash = .node(subtrees.removeLast(), hash) }
        subtrees.append(hash)
        size += 1 << UInt64(height)
    }

    /// The hash of the tree (RFC 6962 section 2.1); of no leaves, ``MerkleHash/emptyTree``.
    ///
    /// - Complexity: O(log *n*).
    public var root: MerkleHash {
        guard var hash = subtrees.last else { return .emptyTree }
        for subtree in subtrees.dropLast().reversed() { hash = .node(subtree, hash) }
        return hash
    }
}
