public import ChatDomain
public import EventJournal

extension ChatStore {
    /// Copies the store's journal to a directory, or continues a copy, while the store is in use.
    ///
    /// The copy has the ledger of erasures too. What an unfinished erasure has left in the journal
    /// is erased in the copy.
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
        let report = try wrappingJournalErrors { () throws(JournalError) in try log.backup(to: destination, upTo: position) }
        try Self.carryErasures(of: log, to: destination, through: report.head.position)
        return report
    }

    /// Copies a log to a directory, or continues a copy; another process may be writing the log.
    ///
    /// - Parameters:
    ///   - log: An open log. Content that was erased by an order, and that a read-only log still
    ///     has, is hidden in it.
    ///   - destination: The directory of the copy, which is a journal.
    ///   - position: The copy ends at the last commit end at or before this position; nil for the
    ///     durable end.
    /// - Throws: ``ChatError/journal(_:)`` as `BackupLog.backup(to:upTo:)`.
    /// - Complexity: Linear in the new bytes; with the replay of a store if an erasure may be
    ///   unfinished.
    @discardableResult
    public static func backup(of log: any BackupLog, to destination: String, upTo position: Position? = nil) throws(ChatError)
        -> BackupReport
    {
        let report = try wrappingJournalErrors { () throws(JournalError) in try log.backup(to: destination, upTo: position) }
        if let log = log as? any ErasableLog { _ = try pendingContent(of: log) }
        try carryErasures(of: log, to: destination, through: report.head.position)
        return report
    }

    /// Carries the erasures of a log to its copy, on the storage of a journal or in files.
    private static func carryErasures(of log: any CommitLog, to destination: String, through last: Position) throws(ChatError) {
        guard let log = log as? any ErasableLog else { return }
        let storage = (log as? any CheckpointLog)?.checkpointDirectory.storage ?? FileStorage()
        try carryErasures(of: log, hidden: log.hiddenContent, to: destination, on: storage, through: last)
    }

    /// Copies a journal, or continues a copy; another process may be writing the journal.
    ///
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.backup(_:to:options:)`.
    /// - Complexity: Opens both journals, without a replay unless an erasure may be unfinished;
    ///   then linear in the new bytes.
    @discardableResult
    public static func backup(
        ofJournalAt directory: String, to destination: String, options: BackupOptions = BackupOptions()
    ) throws(ChatError) -> BackupReport {
        let (report, journal) = try wrappingJournalErrors { () throws(JournalError) in
            (
                try Journal.backup(directory, to: destination, options: options),
                try Journal.openReadOnly(directory, options: JournalOptions(storage: options.storage))
            )
        }
        let hidden = try pendingContent(of: journal)
        try carryErasures(of: journal, hidden: hidden, to: destination, on: options.destinationStorage, through: report.head.position)
        return report
    }

    /// Adds the ledger of a log to that of its copy, and erases there what the log hides.
    ///
    /// - Parameters:
    ///   - hidden: The content that the log still has and that may not be shown.
    ///   - last: The last position of the copy.
    private static func carryErasures(
        of log: any ErasableLog, hidden: PositionSet, to destination: String, on storage: any JournalStorage, through last: Position
    ) throws(ChatError) {
        let content = hidden.clamped(to: 1...max(1, last))
        let copyLedger = try ledger(
            try wrappingJournalErrors { () throws(JournalError) in try Journal.readLedger(ofJournalAt: destination, on: storage) })
        var ledger = copyLedger
        ledger.add(try Self.ledger(of: log).entries)
        if ledger == copyLedger, content.isEmpty { return }
        try wrappingJournalErrors { () throws(JournalError) in
            let copy = try Journal.open(destination, options: JournalOptions(storage: storage, createIfMissing: false))
            do throws(JournalError) {
                if ledger != copyLedger { try copy.writeLedger(Array(ledger.text.utf8)) }
                // No order of the copy is known to be carried out.
                if !content.isEmpty { try copy.eraseContent(of: content, orderedThrough: 0) }
            } catch {
                // The first error is the one to report.
                try? copy.close()
                throw error
            }
            try copy.close()
        }
    }

    /// Salvages the readable events of a damaged journal into a new journal with a new id.
    ///
    /// The ledger of erasures is copied, and lost orders are repeated in the new journal, after the head
    /// of the report. Every event keeps its position. Each lost event is replaced by an `EventKind.lost` event
    /// with the time of the previous event. The new journal can be opened for writing. Later events
    /// may refer to lost ones: views tolerate that, and
    /// ``ChatStore/verify(_:options:expecting:deep:ledger:progress:)`` does not report it.
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
            let ledger = try Journal.readLedger(ofJournalAt: directory, on: options.storage)
            let report = try Journal.repair(directory, to: destination, options: options) { _, previous in
                // An undecodable record has no time; the time of the last placeholder stays valid.
                if let event = try? ChatEvent(kept: previous, erasable: nil) { recordedAt = event.recordedAt }
                encoder.encode(ChatEvent(recordedAt: recordedAt, details: .lost))
                return encoder.kept
            }
            if let ledger {
                let journal = try Journal.open(
                    destination, options: JournalOptions(storage: options.destinationStorage, createIfMissing: false))
                // Also a damaged one, because only the host can decide what to do with it.
                try journal.writeLedger(ledger)
                try journal.close()
                repeatErasures(inRepairedJournalAt: destination, options)
            }
            return report
        }
    }

    /// Erases in a repaired journal what its ledger lists.
    ///
    /// A ledger or an event that cannot be read ends it: every opening reports the same error, and
    /// the first one that succeeds repeats the erasures.
    private static func repeatErasures(inRepairedJournalAt directory: String, _ repair: RepairOptions) {
        let journal = JournalOptions(
            segmentSize: repair.segmentSize, storage: repair.destinationStorage, entropy: repair.entropy, createIfMissing: false)
        do throws(ChatError) { try open(directory, options: StoreOptions(journal: journal, checkpoints: nil)).close() } catch {}
    }
}
