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
        // For each trailing 1 bit of size / 2^height, the last subtree and the new one have the same
        // size: join them.
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

/// The subtrees of a tree whose hashes form a proof.
///
/// A subtree is named by the range of its leaves, counted from 0. Its hash is the Merkle tree hash
/// of these leaves, which ``MerkleAccumulator`` computes.
package enum MerklePath {
    /// Returns the subtrees of an inclusion proof, from the leaf's sibling to the root's child
    /// (`PATH` of RFC 6962 section 2.1.1).
    ///
    /// Together with the leaf they cover the tree.
    ///
    /// - Precondition: `index` is less than `size`.
    package static func inclusion(of index: UInt64, in size: UInt64) -> [Range<UInt64>] {
        precondition(index < size)
        var (path, tree): ([Range<UInt64>], Range<UInt64>) = ([], 0..<size)
        while tree.upperBound - tree.lowerBound > 1 {
            let middle = tree.lowerBound + split(tree.upperBound - tree.lowerBound)
            path.append(index < middle ? middle..<tree.upperBound : tree.lowerBound..<middle)
            tree = index < middle ? tree.lowerBound..<middle : middle..<tree.upperBound
        }
        return path.reversed()
    }

    /// Returns the subtrees of a consistency proof (`PROOF` of RFC 6962 section 2.1.2).
    ///
    /// They cover the tree, together with that of the first `old` leaves if `old` is a power of
    /// two. The proof omits this subtree, because the verifier knows its hash.
    ///
    /// - Precondition: `old` is at least 1 and at most `size`.
    package static func consistency(from old: UInt64, in size: UInt64) -> [Range<UInt64>] {
        precondition(1 <= old && old <= size)
        var (path, tree): ([Range<UInt64>], Range<UInt64>) = ([], 0..<size)
        while old != tree.upperBound {
            let middle = tree.lowerBound + split(tree.upperBound - tree.lowerBound)
            path.append(old <= middle ? middle..<tree.upperBound : tree.lowerBound..<middle)
            tree = old <= middle ? tree.lowerBound..<middle : middle..<tree.upperBound
        }
        if tree.lowerBound > 0 { path.append(tree) }
        return path.reversed()
    }

    /// Returns the largest power of two less than a number that is at least 2.
    static func split(_ count: UInt64) -> UInt64 { 1 << UInt64(63 - (count - 1).leadingZeroBitCount) }
}
