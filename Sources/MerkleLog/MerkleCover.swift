/// Computes the root of a tree from subtrees that cover it, from left to right.
///
/// A subtree is named by the range of its leaves, counted from 0. A pruned tree shows some leaves
/// and has one hash for each maximal subtree without a shown leaf, so that it has one form only.
package struct MerkleCover: Sendable {
    /// A subtree whose hash is known.
    private struct Node {
        var hash: MerkleHash
        var leaves: Range<UInt64>
        /// Whether one of the leaves is shown.
        var isShown: Bool
    }

    private enum Step {
        /// The hash of this subtree, or of its parts, follows.
        case subtree(Range<UInt64>)
        /// The last two known subtrees are the children of one node.
        case join
    }

    /// The number of leaves of the tree.
    package let size: UInt64
    /// The siblings on the path from the chosen leaf to the root, as far as they are known.
    package private(set) var path: [MerkleHash] = []
    private let index: UInt64?
    /// The rest of a post-order traversal of the tree, as a stack: the last element is next.
    ///
    /// At most two steps for each level of the tree.
    private var steps: [Step]
    private var nodes: [Node] = []

    /// Creates the state before the first subtree.
    ///
    /// - Parameter index: The leaf for which ``path`` is collected; nil for none.
    package init(size: UInt64, pathOf index: UInt64? = nil) {
        self.size = size
        self.index = index
        steps = size > 0 ? [.subtree(0..<size)] : []
    }

    /// The hash of the tree; nil before the subtrees cover it.
    package var root: MerkleHash? {
        guard steps.isEmpty else { return nil }
        return nodes.first?.hash ?? .emptyTree
    }

    /// The first leaf that is not covered; ``size`` if every leaf is.
    package var end: UInt64 { nodes.last?.leaves.upperBound ?? 0 }

    /// Adds the next subtree.
    ///
    /// - Parameter isShown: Whether the subtree is a shown leaf.
    /// - Throws: ``ProofError`` if the leaves are not those of a subtree that begins at ``end``, or
    ///   if two adjacent subtrees without a shown leaf should be one.
    package mutating func append(_ leaves: Range<UInt64>, _ hash: MerkleHash, isShown: Bool) throws(ProofError) {
        guard case .subtree(var node)? = steps.last else { throw ProofError("The tree has only \(size) leaves.") }
        guard leaves.lowerBound == node.lowerBound, !leaves.isEmpty else {
            throw ProofError(
                "The leaf of index \(node.lowerBound) is expected, not that of index \(leaves.lowerBound).")
        }
        var parents: [Step] = []
        while node != leaves {
            // Not `count`, which is an Int: the size is from outside.
            let count = node.upperBound - node.lowerBound
            let middle = node.lowerBound + (count > 1 ? MerklePath.split(count) : 0)
            guard leaves.upperBound <= middle else {
                throw ProofError(
                    "The leaves of index \(leaves.lowerBound) to \(leaves.upperBound - 1) are not those of a subtree.")
            }
            parents += [.join, .subtree(middle..<node.upperBound)]
            node = node.lowerBound..<middle
        }
        steps.removeLast()
        steps += parents
        nodes.append(Node(hash: hash, leaves: leaves, isShown: isShown))
        while case .join? = steps.last {
            steps.removeLast()
            try joinNodes()
        }
    }

    private mutating func joinNodes() throws(ProofError) {
        let (right, left) = (nodes.removeLast(), nodes.removeLast())
        let leaves = left.leaves.lowerBound..<right.leaves.upperBound
        guard left.isShown || right.isShown else {
            throw ProofError(
                "The leaves of index \(leaves.lowerBound) to \(leaves.upperBound - 1) have two hashes in the place of one."
            )
        }
        if let index, leaves.contains(index) { path.append(left.leaves.contains(index) ? right.hash : left.hash) }
        nodes.append(Node(hash: .node(left.hash, right.hash), leaves: leaves, isShown: true))
    }

    /// Returns the subtrees of a pruned tree, from left to right.
    ///
    /// - Parameter indexes: The shown leaves, ascending, each less than `size`. Each is a subtree
    ///   of its own, and no other subtree contains one.
    /// - Complexity: O(*k* log *n*) for *k* shown leaves in a tree of *n*.
    package static func subtrees(of size: UInt64, showing indexes: [UInt64]) -> [Range<UInt64>] {
        var subtrees: [Range<UInt64>] = []
        var next = indexes.startIndex
        var rest = size > 0 ? [0..<size] : []
        while let tree = rest.popLast() {
            let count = tree.upperBound - tree.lowerBound
            if next < indexes.endIndex, tree.contains(indexes[next]), count > 1 {
                let middle = tree.lowerBound + MerklePath.split(count)
                rest += [middle..<tree.upperBound, tree.lowerBound..<middle]
            } else {
                if next < indexes.endIndex, tree.contains(indexes[next]) { next += 1 }
                subtrees.append(tree)
            }
        }
        return subtrees
    }
}
