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
    /// - Complexity: O(log *n*) hashes and the records of at most one subtree of 256. The first
    ///   call of a journal object loads the tree file. Records that it does not cover are read
    ///   once: the last 65,535 or, without the file, all. Memory is 0.13 bytes a record.
    public func treeHead(at size: Position) throws(JournalError) -> TreeHead { try tree.head(at: size, of: self) }

    /// Returns a proof that the record at a position is in the tree of a size.
    ///
    /// - Parameters:
    ///   - position: Within 1 and `size`.
    ///   - size: At most ``durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: The same as ``treeHead(at:)``, with the records of two subtrees of 256.
    public func inclusionProof(of position: Position, at size: Position) throws(JournalError) -> InclusionProof {
        try tree.inclusionProof(of: position, at: size, of: self)
    }

    /// Returns a proof that the tree of a size begins with the tree of an earlier size.
    ///
    /// - Parameters:
    ///   - oldSize: At most `size`. The proof from size 0, and to the same size, has no hashes.
    ///   - size: At most ``durablePosition``.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: The same as ``treeHead(at:)``, with the records of two subtrees of 256.
    public func consistencyProof(from oldSize: Position, at size: Position) throws(JournalError) -> ConsistencyProof {
        try tree.consistencyProof(from: oldSize, at: size, of: self)
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
        try tree.disclosedRecord(at: position, of: self)
    }

    /// Calls a closure with the parts of a tree, from left to right.
    ///
    /// The records at the given positions are disclosed, as by ``disclosedRecord(at:)``. Each
    /// maximal subtree without such a record is delivered as a hash.
    ///
    /// - Parameters:
    ///   - size: The size of the tree, at most ``durablePosition``.
    ///   - positions: The disclosed records, ascending without duplicates, each within 1 and
    ///     `size`.
    ///   - body: Receives each part; returns whether to continue.
    /// - Throws: `outOfRange`, `closed`, `damaged`, `ioFailed`.
    /// - Complexity: As ``treeHead(at:)``, and for each disclosed record reads it and the records
    ///   around it, at most some hundreds.
    public func forEachTreePart(
        of size: Position, disclosing positions: [Position], _ body: (TreePart) -> Bool
    ) throws(JournalError) {
        try tree.forEachPart(of: size, disclosing: positions, of: self, body)
    }
}

extension Journal: RecordTreeLog {
    package func checkOpen() throws(JournalError) {
        if published.withLock({ $0.isClosed }) { throw JournalError.closedJournal(at: directory.path) }
    }
}
