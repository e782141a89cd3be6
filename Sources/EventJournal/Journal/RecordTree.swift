internal import Locking
package import MerkleLog
internal import Primitives

/// Receives the parts of a record that its leaf covers; returns whether to continue.
package typealias RecordContentHandler = (
    _ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ content: RawSpan
) -> Bool

/// A log whose tree is computed from its records.
///
/// Each log forwards the requirements of ``TreeLog`` to its ``RecordTree``.
package protocol RecordTreeLog: StoredRecordLog, TreeLog, ErasableLog {
    /// The hashes of the tree in memory.
    var tree: RecordTree { get }

    /// Throws `closed` if the log was closed.
    func checkOpen() throws(JournalError)

    /// Calls a closure with the parts of each record in a range that its leaf in the tree covers.
    ///
    /// Otherwise the same as ``CommitLog/forEachRecord(in:_:)``, except that it delivers hidden
    /// content too: the caller must not show it.
    ///
    /// - Parameter body: Receives the position, the state, the kept part and the content: the salt
    ///   and the erasable part of a whole record, and the digest of a stub.
    func forEachRecordContent(in positions: ClosedRange<Position>, _ body: RecordContentHandler) throws(JournalError)

    /// Adds the hashes that the log has stored to ``tree``, unless it was done before.
    func loadStoredTree()

    /// Returns the stored hashes of the tree, for a comparison with the records.
    func storedTree() -> MerkleRows
}

extension RecordTreeLog {
    /// Reads the stored records.
    package func forEachRecordContent(in positions: ClosedRange<Position>, _ body: RecordContentHandler)
        throws(JournalError)
    {
        var invalid: Position?
        try forEachStoredRecord(in: positions) { position, _, record in
            guard case .record(let layout) = RecordLayout.decode(record, at: 0), layout.length == record.byteCount
            else {
                invalid = position
                return false
            }
            return body(position, layout.state, record.extracting(layout.kept), record.extracting(layout.content))
        }
        if let invalid {
            throw JournalError(.damaged, "The lengths of a record are invalid.", positions: invalid...invalid)
        }
    }

    /// Does nothing, for a log that stores no hashes.
    package func loadStoredTree() {}

    /// No hashes, for a log that stores none.
    package func storedTree() -> MerkleRows { MerkleRows(step: tree.layout.subtreeHeight) }

    /// The origin of the log's tree heads: `chat-journal/` and the id.
    package var treeOrigin: String { "chat-journal/\(id)" }

    /// Calls a closure with each record in a range of positions and its leaf in the tree.
    ///
    /// Otherwise the same as ``CommitLog/forEachRecord(in:_:)``, for a caller that does not change
    /// ``ErasableLog/hiddenContent`` meanwhile.
    package func forEachLeaf(
        in positions: ClosedRange<Position>,
        _ body: (
            _ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan, _ leaf: MerkleHash
        ) -> Bool
    ) throws(JournalError) {
        let hidden = hiddenContent
        try forEachRecordContent(in: positions) { position, state, kept, content in
            let leaf = MerkleHash(leafOf: state, kept: kept, content: content)
            guard state == .whole else { return body(position, state, kept, content.extracting(0..<0), leaf) }
            let erasable = content.extracting(JournalLimits.recordSaltByteCount...)
            // An empty erasable part stays `whole`, as in `Delivery.visitRecord`.
            let isHidden = !erasable.isEmpty && hidden.contains(position)
            return body(
                position, isHidden ? .erased : .whole, kept, isHidden ? erasable.extracting(0..<0) : erasable, leaf)
        }
    }
}

/// The tree of a log: the hashes of complete subtrees in memory, and heads and proofs from them and
/// the records.
///
/// The hashes are computed from the records when they are needed, each once. Erasing content
/// changes no leaf, so they stay valid. Memory is 0.13 bytes a record.
package final class RecordTree: Sendable {
    /// The hashes in memory.
    struct Hashes {
        var rows: MerkleRows
        /// Whether the stored hashes are in the rows.
        var isLoaded = false
        /// Whether the log is being closed, so that background work on the tree ends.
        var isEnding = false
    }

    let layout: TreeLayout
    /// Never held during I/O.
    let hashes: Lock<Hashes>

    /// Creates the tree of a log, without any hash.
    package init(_ layout: TreeLayout = TreeLayout()) {
        self.layout = layout
        hashes = Lock(Hashes(rows: MerkleRows(step: layout.subtreeHeight)))
    }

    /// Returns the head of the tree of a size.
    package func head(at size: Position, of log: some RecordTreeLog) throws(JournalError) -> TreeHead {
        try prepare(size, of: log)
        return TreeHead(origin: log.treeOrigin, size: size, root: try hash(0..<size, of: log))
    }

    /// Returns a proof that the record at a position is in the tree of a size.
    package func inclusionProof(of position: Position, at size: Position, of log: some RecordTreeLog)
        throws(JournalError) -> InclusionProof
    {
        try check(position, to: size)
        try prepare(size, of: log)
        let index = position - 1
        let hashes = try MerklePath.inclusion(of: index, in: size).map { (subtree) throws(JournalError) in
            try hash(subtree, of: log)
        }
        // The subtrees and the leaf cover the tree, so no record is read twice.
        let leaf = try hash(index..<position, of: log)
        guard let root = InclusionProof.root(leaf, at: index, in: size, hashes) else {
            preconditionFailure("The path has the length for the index and the size.")
        }
        let head = TreeHead(origin: log.treeOrigin, size: size, root: root)
        return InclusionProof(index: index, hashes: hashes, head: head, extra: leaf.bytes)
    }

    /// Returns a proof that the tree of a size begins with the tree of an earlier size.
    package func consistencyProof(
        from oldSize: Position, at size: Position, of log: some RecordTreeLog
    ) throws(JournalError) -> ConsistencyProof {
        guard oldSize <= size else {
            throw JournalError(
                .outOfRange, "The earlier size \(oldSize) exceeds the size \(size).", positions: size...oldSize)
        }
        try prepare(size, of: log)
        if oldSize == 0 || oldSize == size {
            return ConsistencyProof(oldSize: oldSize, hashes: [], head: try head(at: size, of: log))
        }
        let hashes = try MerklePath.consistency(from: oldSize, in: size).map { (subtree) throws(JournalError) in
            try hash(subtree, of: log)
        }
        // The root of a power of two is not among the hashes; of any other size it is not needed.
        let first = oldSize & (oldSize - 1) == 0 ? try hash(0..<oldSize, of: log) : .emptyTree
        guard let root = ConsistencyProof.roots(first, oldSize, size, hashes)?.new else {
            preconditionFailure("The path has the length for the sizes.")
        }
        return ConsistencyProof(
            oldSize: oldSize, hashes: hashes, head: TreeHead(origin: log.treeOrigin, size: size, root: root))
    }

    /// Returns the parts of a record that its leaf covers, without hidden content.
    package func disclosedRecord(at position: Position, of log: some RecordTreeLog) throws(JournalError)
        -> DisclosedRecord
    {
        try check(position, to: log.durablePosition)
        // Before the read too: an erasure that ends meanwhile no longer hides the content.
        let wasHidden = log.hiddenContent.contains(position)
        var found: DisclosedRecord?
        try log.forEachRecordContent(in: position...position) { _, state, kept, content in
            found = DisclosedRecord(state, kept: kept, content: content)
            return false
        }
        guard let found else { preconditionFailure("A read delivers each record or throws.") }
        // An empty erasable part stays `whole`, as in `Delivery.visitRecord`.
        let withholds = found.erasable?.isEmpty == false && (wasHidden || log.hiddenContent.contains(position))
        return withholds ? found.withholdingContent() : found
    }

    /// Calls a closure with the parts of a tree, from left to right.
    package func forEachPart(
        of size: Position, disclosing positions: [Position], of log: some RecordTreeLog, _ body: (TreePart) -> Bool
    ) throws(JournalError) {
        try prepare(size, of: log)
        var previous: Position = 0
        for position in positions {
            guard position > previous, position <= size else {
                throw JournalError(
                    .outOfRange, "The disclosed positions must ascend from 1 to at most \(size).",
                    positions: position...position)
            }
            previous = position
        }
        var disclosed = positions[...]
        for subtree in MerkleCover.subtrees(of: size, showing: positions.map { $0 - 1 }) {
            let isDisclosed = subtree.lowerBound + 1 == disclosed.first
            let part: TreePart
            if isDisclosed, let position = disclosed.popFirst() {
                part = .record(position, try disclosedRecord(at: position, of: log))
            } else {
                part = .subtree(subtree.lowerBound + 1...subtree.upperBound, try hash(subtree, of: log))
            }
            guard body(part) else { return }
        }
    }

    // MARK: Hashes

    /// Returns the hash of a subtree, named by the range of its leaves.
    ///
    /// Takes the largest subtrees in memory, and reads the records where there is none.
    ///
    /// - Precondition: The range begins at a multiple of the least power of two that is not less
    ///   than its count, as the subtrees of heads, proofs and tiles do.
    func hash(_ subtree: Range<UInt64>, of log: some RecordTreeLog) throws(JournalError) -> MerkleHash {
        var hashes = MerkleAccumulator()
        var next = subtree.lowerBound
        while next < subtree.upperBound {
            if let known = self.hashes.withLock({ $0.rows.largestSubtree(from: next, to: subtree.upperBound) }) {
                hashes.append(known.hash, height: known.height)
                next += 1 << UInt64(known.height)
            } else {
                let boundary = next - next % layout.recordsPerSubtree + layout.recordsPerSubtree
                let end = min(subtree.upperBound, boundary)
                try log.forEachRecordContent(in: next + 1...end) { _, state, kept, content in
                    hashes.append(MerkleHash(leafOf: state, kept: kept, content: content))
                    return true
                }
                next = end
            }
        }
        return hashes.root
    }

    /// Checks the size of a tree and brings the hashes in memory up to it.
    func prepare(_ size: Position, of log: some RecordTreeLog) throws(JournalError) {
        let last = log.durablePosition
        guard size <= last else {
            throw JournalError(
                .outOfRange, "The tree has the sizes from 0 to \(last), not \(size).", positions: size...size)
        }
        try log.checkOpen()
        try extend(to: size, of: log)
    }

    /// Adds the stored hashes, and computes the hashes in memory up to a size from the records.
    ///
    /// Ends early if the log is being closed.
    ///
    /// - Complexity: Reads each record at most once in the life of the tree, apart from those that
    ///   several threads need at the same time.
    func extend(to size: Position, of log: some RecordTreeLog) throws(JournalError) {
        log.loadStoredTree()
        let subtree = layout.recordsPerSubtree
        while true {
            let (start, isEnding) = hashes.withLock { ($0.rows.size, $0.isEnding) }
            // Bounds the work that a close waits for.
            let end = min(size - size % subtree, start + 32 * subtree)
            guard start < end, !isEnding else { return }
            var new: [MerkleHash] = []
            var leaves = MerkleAccumulator()
            try log.forEachRecordContent(in: start + 1...end) { position, state, kept, content in
                leaves.append(MerkleHash(leafOf: state, kept: kept, content: content))
                if position % subtree == 0 {
                    new.append(leaves.root)
                    leaves = MerkleAccumulator()
                }
                return true
            }
            hashes.withLock { hashes in
                // Another thread may have appended some of them in the meantime.
                let known = Int((hashes.rows.size - start) / subtree)
                for hash in new.dropFirst(known) { hashes.rows.append(hash) }
            }
        }
    }

    private func check(_ position: Position, to last: Position) throws(JournalError) {
        guard position >= 1, position <= last else {
            throw JournalError(
                .outOfRange, "The tree has the positions from 1 to \(last), not \(position).",
                positions: position...position)
        }
    }
}
