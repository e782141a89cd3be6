public import EventJournal

extension ChatStore {
    /// Returns the head of the Merkle tree of the durable events.
    ///
    /// Its text is a checkpoint for an auditor: <doc:Audits>.
    ///
    /// - Throws: ``ChatError/journal(_:)`` as ``treeHead(at:)``.
    /// - Complexity: The same as ``treeHead(at:)``.
    public func treeHead() throws(ChatError) -> TreeHead { try treeHead(at: log.durablePosition) }

    /// Returns the head of the Merkle tree of the events up to a position.
    ///
    /// - Parameter size: The size of the tree, which is the position of its last event: at most the
    ///   durable position.
    /// - Throws: ``ChatError/journal(_:)``: `outOfRange`, `closed`, `damaged`, `ioFailed`; with
    ///   `notAJournal` for a store on a log that is not a `TreeLog`.
    /// - Complexity: This version reads the journal up to `size`. Blocks the calling thread, but no
    ///   command.
    public func treeHead(at size: Position) throws(ChatError) -> TreeHead {
        let log = try treeLog()
        return try wrappingJournalErrors { () throws(JournalError) in try log.treeHead(at: size) }
    }

    /// Returns a proof that the event at a position is in the tree of a size.
    ///
    /// - Parameters:
    ///   - position: The position of the event, at most `size`.
    ///   - size: The size of the tree; nil for the durable position.
    /// - Throws: ``ChatError/journal(_:)`` as ``treeHead(at:)``.
    /// - Complexity: The same as ``treeHead(at:)``.
    public func inclusionProof(of position: Position, at size: Position? = nil) throws(ChatError) -> InclusionProof {
        let log = try treeLog()
        return try wrappingJournalErrors { () throws(JournalError) in
            try log.inclusionProof(of: position, at: size ?? log.durablePosition)
        }
    }

    /// Returns a proof that the tree of a size begins with the tree of an earlier size.
    ///
    /// - Parameters:
    ///   - oldSize: The size of the earlier tree, at most `size`.
    ///   - size: The size of the later tree; nil for the durable position.
    /// - Throws: ``ChatError/journal(_:)`` as ``treeHead(at:)``.
    /// - Complexity: The same as ``treeHead(at:)``.
    public func consistencyProof(from oldSize: Position, at size: Position? = nil) throws(ChatError) -> ConsistencyProof {
        let log = try treeLog()
        return try wrappingJournalErrors { () throws(JournalError) in
            try log.consistencyProof(from: oldSize, at: size ?? log.durablePosition)
        }
    }

    /// Returns the parts of an event that its leaf in the tree covers, to show to an auditor beside
    /// a proof.
    ///
    /// The result contains the texts of the event, unless they are erased; the method
    /// `withholdingContent()` of the result omits them.
    ///
    /// - Parameter position: The position of the event, at most the durable position.
    /// - Throws: ``ChatError/journal(_:)`` as ``treeHead(at:)``.
    /// - Complexity: One read of the journal.
    public func disclosedRecord(at position: Position) throws(ChatError) -> DisclosedRecord {
        let log = try treeLog()
        return try wrappingJournalErrors { () throws(JournalError) in try log.disclosedRecord(at: position) }
    }

    func treeLog() throws(ChatError) -> any TreeLog {
        guard let log = log as? any TreeLog else {
            throw .journal(JournalError(.notAJournal, "The store's log has no Merkle tree."))
        }
        return log
    }
}
