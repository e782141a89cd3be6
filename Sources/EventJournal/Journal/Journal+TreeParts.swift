internal import MerkleLog

extension Journal {
    /// Calls a closure with the parts of a tree, from left to right.
    ///
    /// The records at the given positions are disclosed, as by ``disclosedRecord(at:)``. Each
    /// maximal subtree without such a record is delivered as a hash.
    ///
    /// - Parameters:
    ///   - size: The size of the tree, at most ``durablePosition``.
    ///   - positions: The disclosed records, ascending without duplicates, each within 1 and `size`.
    ///   - body: Receives each part; returns whether to continue.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: As ``treeHead(at:)``, and for each disclosed record reads it and the records
    ///   around it, at most some hundreds.
    public func forEachTreePart(
        of size: Position, disclosing positions: [Position], _ body: (TreePart) -> Bool
    ) throws(JournalError) {
        try prepareTree(size)
        var previous: Position = 0
        for position in positions {
            guard position > previous, position <= size else {
                throw JournalError(
                    .outOfRange, "The disclosed positions must ascend from 1 to at most \(size).", positions: position...position)
            }
            previous = position
        }
        var disclosed = positions[...]
        for subtree in MerkleCover.subtrees(of: size, showing: positions.map { $0 - 1 }) {
            let isDisclosed = subtree.lowerBound + 1 == disclosed.first
            let part: TreePart
            if isDisclosed, let position = disclosed.popFirst() {
                part = .record(position, try disclosedRecord(at: position))
            } else {
                part = .subtree(subtree.lowerBound + 1...subtree.upperBound, try hash(subtree))
            }
            guard body(part) else { return }
        }
    }
}
