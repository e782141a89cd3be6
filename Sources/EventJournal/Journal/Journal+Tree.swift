internal import Locking
public import MerkleLog

extension Journal {
    /// Returns the head of the tree of the durable records.
    ///
    /// - Throws: `closed`, `damaged`, `ioFailed`.
    /// - Complexity: The same as ``treeHead(at:)``.
    public func treeHead() throws(JournalError) -> TreeHead { try treeHead(at: durablePosition) }

    /// Returns the head of the tree of the records up to a position.
    ///
    /// The head depends on the id of the journal and on the records. It stays the same when content
    /// is erased, and in every copy.
    ///
    /// - Parameter size: At most ``durablePosition``; 0 is the empty tree.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: O(log *n*) hashes and the records of at most one subtree of 256. The first call
    ///   of a journal object loads the tree file. Records that it does not cover are read once: the
    ///   last 65,535 or, without the file, all. Memory is 0.13 bytes a record.
    public func treeHead(at size: Position) throws(JournalError) -> TreeHead {
        try prepareTree(size)
        return TreeHead(origin: treeOrigin, size: size, root: try hash(0..<size))
    }

    /// Returns a proof that the record at a position is in the tree of a size.
    ///
    /// - Parameters:
    ///   - position: Within 1 and `size`.
    ///   - size: At most ``durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: The same as ``treeHead(at:)``, with the records of two subtrees of 256.
    public func inclusionProof(of position: Position, at size: Position) throws(JournalError) -> InclusionProof {
        try checkPosition(position, to: size)
        try prepareTree(size)
        let index = position - 1
        let hashes = try MerklePath.inclusion(of: index, in: size).map { (subtree) throws(JournalError) in try hash(subtree) }
        // The subtrees and the leaf cover the tree, so no record is read twice.
        let leaf = try hash(index..<position)
        guard let root = InclusionProof.root(leaf, at: index, in: size, hashes) else {
            preconditionFailure("The path has the length for the index and the size.")
        }
        let head = TreeHead(origin: treeOrigin, size: size, root: root)
        return InclusionProof(index: index, hashes: hashes, head: head, extra: leaf.bytes)
    }

    /// Returns a proof that the tree of a size begins with the tree of an earlier size.
    ///
    /// - Parameters:
    ///   - oldSize: At most `size`. The proof from size 0, and to the same size, has no hashes.
    ///   - size: At most ``durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: The same as ``treeHead(at:)``, with the records of two subtrees of 256.
    public func consistencyProof(from oldSize: Position, at size: Position) throws(JournalError) -> ConsistencyProof {
        guard oldSize <= size else {
            throw JournalError(.outOfRange, "The earlier size \(oldSize) exceeds the size \(size).", positions: size...oldSize)
        }
        try prepareTree(size)
        if oldSize == 0 || oldSize == size { return ConsistencyProof(oldSize: oldSize, hashes: [], head: try treeHead(at: size)) }
        let hashes = try MerklePath.consistency(from: oldSize, in: size).map { (subtree) throws(JournalError) in try hash(subtree) }
        // The root of a power of two is not among the hashes; of any other size it is not needed.
        let first = oldSize & (oldSize - 1) == 0 ? try hash(0..<oldSize) : .emptyTree
        guard let root = ConsistencyProof.roots(first, oldSize, size, hashes)?.new else {
            preconditionFailure("The path has the length for the sizes.")
        }
        return ConsistencyProof(oldSize: oldSize, hashes: hashes, head: TreeHead(origin: treeOrigin, size: size, root: root))
    }

    /// Returns the parts of a record that its leaf covers.
    ///
    /// The salt of a record is disclosed only by this call: with it, the digest in the leaf proves
    /// the content.
    ///
    /// - Parameter position: Within 1 and ``durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: One read, as for ``forEachRecord(at:_:)``.
    public func disclosedRecord(at position: Position) throws(JournalError) -> DisclosedRecord {
        try checkPosition(position, to: durablePosition)
        // Before the read too: an erasure that ends meanwhile no longer hides the content.
        let wasHidden = isHidden(position)
        var found: DisclosedRecord?
        try forEachRecordContent(in: position...position) { _, state, kept, content in
            found = DisclosedRecord(state, kept: kept, content: content)
            return false
        }
        guard let found else { preconditionFailure("A read delivers each record or throws.") }
        // As in a file, a record without content has nothing to erase.
        let withholds = found.erasable?.isEmpty == false && (wasHidden || isHidden(position))
        return withholds ? found.withholdingContent() : found
    }

    private func isHidden(_ position: Position) -> Bool { published.withLock { $0.hiddenContent }.contains(position) }

    /// The origin of the journal's tree heads: `chat-journal/` and the id.
    package var treeOrigin: String { "chat-journal/\(id)" }

    /// Returns the hash of a subtree, named by the range of its leaves.
    ///
    /// Takes the largest subtrees in memory, and reads the records where there is none.
    ///
    /// - Precondition: The range begins at a multiple of the least power of two that is not less
    ///   than its count, as the subtrees of heads, proofs and tiles do.
    func hash(_ subtree: Range<UInt64>) throws(JournalError) -> MerkleHash {
        var hashes = MerkleAccumulator()
        var next = subtree.lowerBound
        while next < subtree.upperBound {
            if let known = tree.withLock({ $0.rows.largestSubtree(from: next, to: subtree.upperBound) }) {
                hashes.append(known.hash, height: known.height)
                next += 1 << UInt64(known.height)
            } else {
                let boundary = next - next % treeLayout.recordsPerSubtree + treeLayout.recordsPerSubtree
                let end = min(subtree.upperBound, boundary)
                try forEachRecordContent(in: next + 1...end) { _, state, kept, content in
                    hashes.append(MerkleHash(leafOf: state, kept: kept, content: content))
                    return true
                }
                next = end
            }
        }
        return hashes.root
    }

    /// Checks the size of a tree and brings the hashes in memory up to it.
    func prepareTree(_ size: Position) throws(JournalError) {
        try checkTreeSize(size)
        if published.withLock({ $0.isClosed }) { throw JournalError(.closed, "The journal has been closed.", path: directory.path) }
        try extendTree(to: size)
    }

    private func checkTreeSize(_ size: Position) throws(JournalError) {
        let last = durablePosition
        guard size <= last else {
            throw JournalError(.outOfRange, "The tree has the sizes from 0 to \(last), not \(size).", positions: size...size)
        }
    }

    private func checkPosition(_ position: Position, to last: Position) throws(JournalError) {
        guard position >= 1, position <= last else {
            throw JournalError(
                .outOfRange, "The tree has the positions from 1 to \(last), not \(position).", positions: position...position)
        }
    }
}
