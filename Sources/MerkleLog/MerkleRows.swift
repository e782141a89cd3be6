/// The hashes of the complete subtrees of a tree at some heights, for heads and proofs that need
/// not compute the tree from its leaves.
///
/// The lowest row has the subtrees of 2^`step` leaves, the next one those of 2^(2 * `step`), and so
/// on. With a step of 8, memory holds 32.13 bytes for each 256 leaves.
package struct MerkleRows: Sendable {
    /// The height of the lowest row, and the difference between the heights of two rows.
    package let step: Int
    private var rows: [[MerkleHash]] = [[]]

    /// Creates the rows of an empty tree.
    ///
    /// - Precondition: `step` is at least 1.
    package init(step: Int) {
        precondition(step >= 1)
        self.step = step
    }

    /// The number of leaves that the lowest row covers: a multiple of 2^`step`.
    package var size: UInt64 { UInt64(rows[0].count) << UInt64(step) }

    /// The lowest row: the hashes of the complete subtrees of 2^`step` leaves, in order.
    package var lowest: [MerkleHash] { rows[0] }

    /// Appends the hash of the next subtree of 2^`step` leaves.
    ///
    /// - Complexity: O(1) amortised.
    package mutating func append(_ subtree: MerkleHash) {
        var (hash, row) = (subtree, 0)
        while true {
            if row == rows.count { rows.append([]) }
            rows[row].append(hash)
            guard rows[row].count & (1 << step - 1) == 0 else { return }
            var tree = MerkleAccumulator()
            for hash in rows[row].suffix(1 << step) { tree.append(hash) }
            (hash, row) = (tree.root, row + 1)
        }
    }

    /// Returns the largest subtree of a row that begins at a leaf and does not exceed an end.
    ///
    /// Leaves are counted from 0. Returns nil if no row has such a subtree.
    package func largestSubtree(from leaf: UInt64, to end: UInt64) -> (hash: MerkleHash, height: Int)? {
        for row in rows.indices.reversed() {
            let height = step * (row + 1)
            let (index, size) = (leaf >> UInt64(height), UInt64(1) << UInt64(height))
            if leaf & (size - 1) == 0, index < rows[row].count, end >= leaf, end - leaf >= size {
                return (rows[row][Int(index)], height)
            }
        }
        return nil
    }
}
