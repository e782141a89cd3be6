public import ChatDomain
public import EventJournal

/// The result of a backup.
public struct StoreBackup: Hashable, Sendable, Codable {
    /// The head of the copy, at its last position; a later check can expect it.
    public var head: JournalHead
    /// The names of the segment files that were copied or extended.
    public var copied: [String]
    /// The names of the segment files that the copy already contained.
    public var skipped: [String]
    /// The names of the segment files copied again, because content was erased since the last
    /// backup.
    public var rewritten: [String]
    /// The number of bytes written to segment files.
    public var bytes: UInt64

    init(_ report: BackupReport) {
        head = report.head
        copied = report.copiedSegments
        skipped = report.skippedSegments
        rewritten = report.rewrittenSegments
        bytes = report.bytesCopied
    }
}

/// The result of a repair: the salvaged events and the losses.
public struct StoreRepair: Hashable, Sendable, Codable {
    /// A range of positions whose events are lost.
    public struct Loss: Hashable, Sendable, Codable {
        /// The first and the last position.
        public var positions: [Position]
        /// The segment file of the damaged journal that should contain them; nil if unknown.
        public var segment: String?
        /// The first byte of the damaged range and the byte after it; nil if unknown.
        public var bytes: [UInt64]?
        /// A stable code of the damage.
        public var problem: String

        /// Encodes every field; nil is encoded as null.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(positions, forKey: .positions)
            try container.encode(segment, forKey: .segment)
            try container.encode(bytes, forKey: .bytes)
            try container.encode(problem, forKey: .problem)
        }
    }

    /// Whether every event was salvaged.
    public var isComplete: Bool { lost == 0 }
    /// The id of the damaged journal; nil if no readable file contains it.
    public var source: JournalID?
    /// The head of the new journal.
    public var head: JournalHead
    /// The number of salvaged events.
    public var salvaged: UInt64
    /// The number of lost events.
    public var lost: UInt64
    /// The lost ranges, ascending; at most `RepairReport.listedLosses` of them.
    public var losses: [Loss]

    init(_ report: RepairReport) {
        source = report.source
        head = report.head
        salvaged = report.salvagedCount
        lost = report.lostCount
        losses = report.losses.map { loss in
            Loss(
                positions: [loss.positions.lowerBound, loss.positions.upperBound], segment: loss.segment,
                bytes: loss.bytes.map { [$0.lowerBound, $0.upperBound] }, problem: loss.problem)
        }
    }

    /// Encodes every field; nil is encoded as null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(source, forKey: .source)
        try container.encode(head, forKey: .head)
        try container.encode(salvaged, forKey: .salvaged)
        try container.encode(lost, forKey: .lost)
        try container.encode(losses, forKey: .losses)
    }
}

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
    public func backup(to destination: String, upTo position: Position? = nil) throws(ChatError) -> StoreBackup {
        guard let log = log as? any BackupLog else {
            throw .journal(JournalError(.notAJournal, "The store's log is not a journal. Copy it with the tools of that log."))
        }
        return StoreBackup(try wrapping { () throws(JournalError) in try log.backup(to: destination, upTo: position) })
    }

    /// Copies a journal, or continues a copy; another process may be writing the journal.
    ///
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.backup(_:to:options:)`.
    /// - Complexity: Opens both journals without a replay; then linear in the new bytes.
    @discardableResult
    public static func backup(
        ofJournalAt directory: String, to destination: String, options: BackupOptions = BackupOptions()
    ) throws(ChatError) -> StoreBackup {
        StoreBackup(try wrapping { () throws(JournalError) in try Journal.backup(directory, to: destination, options: options) })
    }

    /// Salvages the readable events of a damaged journal into a new journal with a new id.
    ///
    /// Every event keeps its position. Each lost event is replaced by an `EventKind.lost` event
    /// with the time of the previous event. The new journal can be opened for writing. Later events
    /// may refer to lost ones: views tolerate that, and
    /// ``ChatStore/verify(_:options:deep:progress:)`` does not report it.
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
    ) throws(ChatError) -> StoreRepair {
        var encoder = EventEncoder()
        var recordedAt = Timestamp(millisecondsSince1970: 0)
        let report = try wrapping { () throws(JournalError) in
            try Journal.repair(directory, to: destination, options: options) { _, previous in
                // An undecodable record has no time; the time of the last placeholder stays valid.
                if let event = try? ChatEvent(kept: previous, erasable: nil) { recordedAt = event.recordedAt }
                encoder.encode(ChatEvent(recordedAt: recordedAt, details: .lost))
                return encoder.kept
            }
        }
        return StoreRepair(report)
    }
}
