public import ChatDomain
public import EventJournal

extension ChatStore {
    /// Copies the store's journal to a directory, or continues a copy, while the store is in use.
    ///
    /// - Parameters:
    ///   - destination: The directory of the copy; see `Journal.backup(_:to:options:)` for what it
    ///     may contain.
    ///   - position: The copy ends at the last commit end at or before this position; nil for the
    ///     durable end.
    /// - Returns: The copied files and the head of the copy.
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.backup(_:to:options:)`; with `notAJournal`
    ///   for a store on a log that is not a `BackupLog`.
    /// - Complexity: Linear in the new bytes. Blocks the calling thread, but no command.
    @discardableResult
    public func backup(to destination: String, upTo position: Position? = nil) throws(ChatError) -> BackupReport {
        guard let log = log as? any BackupLog else {
            throw .journal(JournalError(.notAJournal, "The store's log is not a journal. Copy it with the tools of that log."))
        }
        return try wrappingJournalErrors { () throws(JournalError) in try log.backup(to: destination, upTo: position) }
    }

    /// Copies a journal, or continues a copy; another process may be writing the journal.
    ///
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.backup(_:to:options:)`.
    /// - Complexity: Opens both journals without a replay; then linear in the new bytes.
    @discardableResult
    public static func backup(
        ofJournalAt directory: String, to destination: String, options: BackupOptions = BackupOptions()
    ) throws(ChatError) -> BackupReport {
        try wrappingJournalErrors { () throws(JournalError) in try Journal.backup(directory, to: destination, options: options) }
    }

    /// Salvages the readable events of a damaged journal into a new journal with a new id.
    ///
    /// Every event keeps its position. Each lost event is replaced by an `EventKind.lost` event
    /// with the time of the previous event. The new journal can be opened for writing. Later events
    /// may refer to lost ones: views tolerate that, and
    /// ``ChatStore/verify(_:options:expecting:deep:progress:)`` does not report it.
    ///
    /// - Parameters:
    ///   - directory: The directory of the damaged journal, which is not modified.
    ///   - destination: The directory of the new journal; it must be empty or not exist.
    ///   - options: The options of the repair.
    /// - Returns: The number of salvaged events, and every loss with its place.
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.repair(_:to:options:lostRecord:)`.
    /// - Complexity: Reads the damaged journal twice.
    public static func repair(
        journalAt directory: String, to destination: String, options: RepairOptions = RepairOptions()
    ) throws(ChatError) -> RepairReport {
        var encoder = EventEncoder()
        var recordedAt = Timestamp(millisecondsSince1970: 0)
        return try wrappingJournalErrors { () throws(JournalError) in
            try Journal.repair(directory, to: destination, options: options) { _, previous in
                // An undecodable record has no time; the time of the last placeholder stays valid.
                if let event = try? ChatEvent(kept: previous, erasable: nil) { recordedAt = event.recordedAt }
                encoder.encode(ChatEvent(recordedAt: recordedAt, details: .lost))
                return encoder.kept
            }
        }
    }
}
