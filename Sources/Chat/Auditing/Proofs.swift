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
    /// - Complexity: As `Journal.treeHead(at:)`: the first call of a store reads the events that
    ///   the tree file does not cover. Blocks the calling thread, but no command.
    public func treeHead(at size: Position) throws(ChatError) -> TreeHead {
        let log = try treeLog()
        return try wrappingErrors(of: log.treeHead(at: size))
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
        return try wrappingErrors(of: log.inclusionProof(of: position, at: size ?? log.durablePosition))
    }

    /// Returns a proof that the tree of a size begins with the tree of an earlier size.
    ///
    /// - Parameters:
    ///   - oldSize: The size of the earlier tree, at most `size`.
    ///   - size: The size of the later tree; nil for the durable position.
    /// - Throws: ``ChatError/journal(_:)`` as ``treeHead(at:)``.
    /// - Complexity: The same as ``treeHead(at:)``.
    public func consistencyProof(from oldSize: Position, at size: Position? = nil) throws(ChatError) -> ConsistencyProof
    {
        let log = try treeLog()
        return try wrappingErrors(of: log.consistencyProof(from: oldSize, at: size ?? log.durablePosition))
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
        return try wrappingErrors(of: log.disclosedRecord(at: position))
    }

    /// Writes the tree of the durable events to a directory as static files, or continues one.
    ///
    /// An auditor computes every proof from the files: <doc:Audits>. The layout is that of C2SP
    /// *tlog-tiles*, with a checkpoint that is not signed.
    ///
    /// - Parameters:
    ///   - destination: The directory: new, empty, or that of an earlier run.
    ///   - includingEntries: Whether to write the entries as well; they show who did what in which
    ///     thread and when, but no texts.
    /// - Returns: The head of the tree, and the number of files written and removed.
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.writeTiles(to:includingEntries:on:)`; with
    ///   `notAJournal` for a store on a log that is not a `TreeLog`.
    /// - Complexity: Reads the new events, and syncs each new file. Blocks the calling thread, but
    ///   no command.
    @discardableResult
    public func writeTiles(to destination: String, includingEntries: Bool = false) throws(ChatError) -> TilesReport {
        let log = try treeLog()
        return try wrappingErrors(of: log.writeTiles(to: destination, includingEntries: includingEntries))
    }

    func treeLog() throws(ChatError) -> any TreeLog {
        guard let log = log as? any TreeLog else {
            throw .journal(JournalError(.notAJournal, "The store's log has no Merkle tree."))
        }
        return log
    }
}

extension DisclosedRecord {
    /// Decodes the event of the record, as an auditor without the journal reads it.
    ///
    /// The event has no content if the content was erased, and also if it is withheld: the record
    /// does not tell which.
    ///
    /// - Throws: `EventDecodingError` if the bytes are not those of an event; a verified proof
    ///   excludes that only if the journal is sound.
    /// - Complexity: O(*n*) in the number of bytes.
    public func event() throws(EventDecodingError) -> ChatEvent {
        // `span.bytes` is unsafe for types with padding; bytes have none.
        guard let erasable else { return unsafe try ChatEvent(kept: kept.span.bytes, erasable: nil) }
        return unsafe try ChatEvent(kept: kept.span.bytes, erasable: erasable.span.bytes)
    }
}
