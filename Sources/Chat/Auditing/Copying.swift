public import ChatDomain
public import EventJournal
import Locking

extension ChatStore {
    /// Copies the store's log to a directory, or continues a copy, while the store is in use.
    ///
    /// The copy has the ledger of erasures too, before all else. An erasure that is ordered before
    /// the call returns leaves no content in the copy, also if it overlaps the call or is
    /// unfinished. A store that is open for reading only is refreshed.
    ///
    /// - Parameters:
    ///   - destination: The directory of the copy; see `Journal.backup(_:to:options:)` for what it
    ///     may contain.
    ///   - position: The copy ends at the last commit end at or before this position; nil for the
    ///     durable end.
    /// - Returns: The copied files and the head of the copy.
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.backup(_:to:options:)`; with `notAJournal`
    ///   for a store on a log whose records cannot be copied.
    /// - Complexity: Linear in the new bytes and in the segments that have lost content. Blocks the
    ///   calling thread, but no command.
    @discardableResult
    public func backup(to destination: String, upTo position: Position? = nil) throws(ChatError) -> BackupReport {
        let log = try Self.copyable(log)
        return try Self.backup(of: log, to: destination, upTo: position, options: Self.options(forCopyOf: log)) {
            () throws(ChatError) in
            if log.isReadOnly {
                try self.refresh()
                return log.hiddenContent
            }
            // Content is hidden before its order is durable.
            return self.erasing.withLock { _ in log.hiddenContent }
        }
    }

    /// Copies a log to a directory, or continues a copy; another process may be writing the log.
    ///
    /// - Parameters:
    ///   - log: An open log; one that is open for reading only is refreshed.
    ///   - destination: The directory of the copy, which is a journal.
    ///   - position: The copy ends at the last commit end at or before this position; nil for the
    ///     durable end.
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.backup(_:to:options:)`, with `notAJournal`
    ///   for a log whose records cannot be copied, and with the errors of the log.
    /// - Complexity: Linear in the new bytes and in the segments that have lost content; with the
    ///   replay of a store if an erasure may be unfinished.
    @discardableResult
    public static func backup(of log: any CommitLog, to destination: String, upTo position: Position? = nil)
        throws(ChatError)
        -> BackupReport
    {
        let log = try copyable(log)
        return try backup(of: log, to: destination, upTo: position, options: options(forCopyOf: log))
    }

    /// Copies a journal, or continues a copy; another process may be writing the journal.
    ///
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.backup(_:to:options:)`.
    /// - Complexity: Opens both journals, without a replay unless an erasure may be unfinished;
    ///   then linear in the new bytes and in the segments that have lost content.
    @discardableResult
    public static func backup(
        ofJournalAt directory: String, to destination: String, options: BackupOptions = BackupOptions()
    ) throws(ChatError) -> BackupReport {
        let journal = try wrappingJournalErrors { () throws(JournalError) in
            try Journal.openReadOnly(
                directory, options: JournalOptions(storage: options.storage, createIfMissing: false))
        }
        return try backup(
            of: journal, to: destination, upTo: options.upTo,
            options: JournalOptions(storage: options.destinationStorage))
    }

    /// Copies a log that belongs to no store.
    package static func backup(
        of log: any MovableLog, to destination: String, upTo position: Position?, options: JournalOptions
    ) throws(ChatError) -> BackupReport {
        try backup(of: log, to: destination, upTo: position, options: options) { () throws(ChatError) in
            let current = try wrappingJournalErrors { () throws(JournalError) -> any ErasableLog in
                if let journal = log as? Journal { return try journal.current() }
                // A reader learns of new orders by a refresh.
                _ = try (log as? any RefreshableLog)?.refresh()
                return log
            }
            return try pendingContent(of: current)
        }
    }

    private static func backup(
        of log: any MovableLog, to destination: String, upTo position: Position?, options: JournalOptions,
        pendingContent: @escaping () throws(ChatError) -> PositionSet
    ) throws(ChatError) -> BackupReport {
        // An error that is none of a journal.
        let failure = Lock<ChatError?>(nil)
        func converting<Value>(_ work: () throws(ChatError) -> Value) throws(JournalError) -> Value {
            do throws(ChatError) { return try work() } catch {
                if case .journal(let error) = error { throw error }
                failure.withLock { $0 = error }
                throw JournalError(.damaged, "\(error)")
            }
        }
        let erasures = BackupErasures { (log, copy) throws(JournalError) in
            try converting { () throws(ChatError) in
                var merged = try ledger(copy)
                merged.add(try ledger(log).entries)
                return merged.entries.isEmpty ? copy : Array(merged.text.utf8)
            }
        } pendingContent: { () throws(JournalError) in
            try converting(pendingContent)
        }
        do throws(JournalError) {
            return try log.backup(to: destination, upTo: position, erasures: erasures, options: options)
        } catch {
            throw failure.withLock { $0 } ?? .journal(error)
        }
    }

    private static func copyable(_ log: any CommitLog) throws(ChatError) -> any MovableLog {
        guard let log = log as? any MovableLog else {
            throw .journal(
                JournalError(
                    .notAJournal, "The records of the log cannot be copied. Copy it with the tools of that log."))
        }
        return log
    }

    /// The copy of a journal is on its storage, and that of another log in files.
    private static func options(forCopyOf log: any MovableLog) -> JournalOptions {
        JournalOptions(storage: (log as? any CheckpointLog)?.checkpointDirectory.storage ?? FileStorage())
    }

    /// Salvages the readable events of a damaged journal into a new journal with a new id.
    ///
    /// The ledger of erasures is copied, and lost orders are repeated in the new journal, after the
    /// head of the report. Every event keeps its position. Each lost event is replaced by an
    /// `EventKind.lost` event with the time of the previous event. After losses,
    /// `EventKind.historyRepaired` ends the history: threads that may have lost an event before it
    /// are in doubt (<doc:WhoIsShownWhat>). The new journal can be opened for writing. Later events
    /// may refer to lost ones: views tolerate that, and
    /// ``ChatStore/verify(_:options:expecting:deep:ledger:progress:)`` reports no fault, but the
    /// threads in doubt.
    ///
    /// - Parameters:
    ///   - directory: The directory of the damaged journal, which is not modified.
    ///   - destination: The directory of the new journal; it must be empty or not exist.
    ///   - options: The options of the repair.
    /// - Returns: The number of salvaged events, and every loss with its place.
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.repair(_:to:options:lostRecord:ending:)`.
    /// - Complexity: Reads the damaged journal twice.
    public static func repair(
        journalAt directory: String, to destination: String, options: RepairOptions = RepairOptions()
    ) throws(ChatError) -> RepairReport {
        var encoder = EventEncoder()
        var recordedAt = Timestamp(millisecondsSince1970: 0)
        func kept(_ details: EventDetails, after previous: RawSpan) -> [UInt8] {
            // An undecodable record has no time; the time of the last placeholder stays valid.
            if let event = try? ChatEvent(kept: previous, erasable: nil) { recordedAt = event.recordedAt }
            encoder.encode(ChatEvent(recordedAt: recordedAt, details: details))
            return encoder.kept
        }
        return try wrappingJournalErrors { () throws(JournalError) in
            let ledger = try Journal.readLedger(ofJournalAt: directory, on: options.storage)
            let report = try Journal.repair(directory, to: destination, options: options) { _, previous in
                kept(EventDetails(.lost), after: previous)
            } ending: { first, previous in
                kept(EventDetails(.historyRepaired, .repair(from: first)), after: previous)
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
            segmentSize: repair.segmentSize, storage: repair.destinationStorage, entropy: repair.entropy,
            createIfMissing: false)
        do throws(ChatError) {
            try open(directory, options: StoreOptions(journal: journal, checkpoints: nil)).close()
        } catch {}
    }
}
