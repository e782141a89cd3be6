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
