internal import Locking
public import MerkleLog

// This version stores no tree: each call reads the records and computes the hashes of the subtrees
// that it needs.

extension Journal {
    /// Returns the head of the tree of the durable records.
    ///
    /// - Throws: `closed`, `damaged`, `ioFailed`.
    /// - Complexity: Reads all records up to the durable position.
    public func treeHead() throws(JournalError) -> TreeHead { try treeHead(at: durablePosition) }

    /// Returns the head of the tree of the records up to a position.
    ///
    /// The head depends on the id of the journal and on the records. It stays the same when content
    /// is erased, and in every copy.
    ///
    /// - Parameter size: At most ``durablePosition``; 0 is the empty tree.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: Reads the records up to the position.
    public func treeHead(at size: Position) throws(JournalError) -> TreeHead {
        try checkTreeSize(size)
        return TreeHead(origin: treeOrigin, size: size, root: try hash(0..<size))
    }

    /// Returns a proof that the record at a position is in the tree of a size.
    ///
    /// - Parameters:
    ///   - position: Within 1 and `size`.
    ///   - size: At most ``durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: Reads the records up to `size`.
    public func inclusionProof(of position: Position, at size: Position) throws(JournalError) -> InclusionProof {
        try checkTreeSize(size)
        try checkPosition(position, to: size)
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
    /// - Complexity: Reads the records up to `size`.
    public func consistencyProof(from oldSize: Position, at size: Position) throws(JournalError) -> ConsistencyProof {
        try checkTreeSize(size)
        guard oldSize <= size else {
            throw JournalError(.outOfRange, "The earlier size \(oldSize) exceeds the size \(size).", positions: size...oldSize)
        }
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
    private func hash(_ subtree: Range<UInt64>) throws(JournalError) -> MerkleHash {
        var tree = MerkleAccumulator()
        if subtree.isEmpty { return tree.root }
        try forEachRecordContent(in: subtree.lowerBound + 1...subtree.upperBound) { _, state, kept, content in
            tree.append(MerkleHash(leafOf: state, kept: kept, content: content))
            return true
        }
        return tree.root
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
