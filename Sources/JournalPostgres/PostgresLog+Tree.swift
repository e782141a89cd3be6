#if Postgres
    public import EventJournal
    public import MerkleLog

    extension PostgresLog: RecordTreeLog {
        /// Returns the head of the tree of the records up to a position: the same as that of a
        /// journal with these records.
        ///
        /// - Throws: `outOfRange`, `closed`, `damaged`, `unreachable`, `accessDenied`, `ioFailed`.
        /// - Complexity: O(log *n*) hashes and the records of at most one subtree of 256. The first
        ///   call of a log object reads all records. Memory is 0.13 bytes a record.
        public func treeHead(at size: Position) throws(JournalError) -> TreeHead { try tree.head(at: size, of: self) }

        /// Returns a proof that the record at a position is in the tree of a size.
        ///
        /// - Throws: `outOfRange`, `closed`, `damaged`, `unreachable`, `accessDenied`, `ioFailed`.
        /// - Complexity: The same as ``treeHead(at:)``, with the records of two subtrees of 256.
        public func inclusionProof(of position: Position, at size: Position) throws(JournalError) -> InclusionProof {
            try tree.inclusionProof(of: position, at: size, of: self)
        }

        /// Returns a proof that the tree of a size begins with the tree of an earlier size.
        ///
        /// - Throws: `outOfRange`, `closed`, `damaged`, `unreachable`, `accessDenied`, `ioFailed`.
        /// - Complexity: The same as ``treeHead(at:)``, with the records of two subtrees of 256.
        public func consistencyProof(from oldSize: Position, at size: Position) throws(JournalError) -> ConsistencyProof
        {
            try tree.consistencyProof(from: oldSize, at: size, of: self)
        }

        /// Returns the parts of a record that its leaf covers, without hidden content.
        ///
        /// - Throws: `outOfRange`, `closed`, `damaged`, `unreachable`, `accessDenied`, `ioFailed`.
        /// - Complexity: One read.
        public func disclosedRecord(at position: Position) throws(JournalError) -> DisclosedRecord {
            try tree.disclosedRecord(at: position, of: self)
        }

        /// Calls a closure with the parts of a tree, from left to right.
        ///
        /// - Throws: `outOfRange`, `closed`, `damaged`, `unreachable`, `accessDenied`, `ioFailed`.
        /// - Complexity: As ``treeHead(at:)``, and for each disclosed record reads it and the
        ///   records around it, at most some hundreds.
        public func forEachTreePart(
            of size: Position, disclosing positions: [Position], _ body: (TreePart) -> Bool
        ) throws(JournalError) {
            try tree.forEachPart(of: size, disclosing: positions, of: self, body)
        }

        /// Writes the tree of the durable records to a directory as static files, or continues one.
        ///
        /// - Throws: As `TreeLog` says, and `unreachable`.
        @discardableResult
        public func writeTiles(to destination: String, includingEntries: Bool) throws(JournalError) -> TilesReport {
            try tree.writeTiles(
                to: destination, includingEntries: includingEntries, on: FileStorage(), size: durablePosition, of: self)
        }
    }
#endif
