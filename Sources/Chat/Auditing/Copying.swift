public import ChatDomain
public import EventJournal

/// What a backup of a store did.
public struct StoreBackup: Hashable, Sendable, Codable {
    /// The head of the copy, whose position is the copy's last: for a later check that the copy is still whole.
    public var head: JournalHead
    /// The names of the segment files that were copied, or added to.
    public var copied: [String]
    /// The names of those that were there already.
    public var skipped: [String]
    /// The names of those that were there with content that has been erased since, and were copied anew.
    public var rewritten: [String]
    /// How many bytes of segments were written.
    public var bytes: UInt64

    init(_ report: BackupReport) {
        head = report.head
        copied = report.copiedSegments
        skipped = report.skippedSegments
        rewritten = report.rewrittenSegments
        bytes = report.bytesCopied
    }
}

/// What a repair saved, and what it could not.
public struct StoreRepair: Hashable, Sendable, Codable {
    /// Positions of which the events are lost.
    public struct Loss: Hashable, Sendable, Codable {
        /// The first and the last position.
        public var positions: [Position]
        /// The file of the damaged journal in which they should have been; nil where that is not known.
        public var segment: String?
        /// The first byte of the file and the one after the last; nil where that is not known.
        public var bytes: [UInt64]?
        /// A stable name of what was found there.
        public var problem: String

        /// Writes every field; what is not there is null.
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
    /// The id of the damaged journal; nil when nothing readable names it.
    public var source: JournalID?
    /// The head of the new journal.
    public var head: JournalHead
    /// How many events were kept.
    public var salvaged: UInt64
    /// How many were lost.
    public var lost: UInt64
    /// The lost positions in order: all of them, unless there are more than `RepairReport.listedLosses` stretches.
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

    /// Writes every field; a source that is not known is null.
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
    /// Makes or continues a copy of the store's journal in a directory, while the store goes on.
    ///
    /// - Parameters:
    ///   - destination: The copy's directory; see `Journal.backup(_:to:options:)` for what may be there.
    ///   - position: The copy ends at or before it, at a commit's end; nil for all that is durable.
    /// - Returns: What was copied, and the head of the copy.
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.backup(_:to:options:)` does; `notAJournal` for a store on a log that is not a `Journal`.
    /// - Complexity: Linear in what is new. Blocks the calling thread, and no command.
    @discardableResult
    public func backup(to destination: String, upTo position: Position? = nil) throws(ChatError) -> StoreBackup {
        guard let journal else {
            throw .journal(JournalError(.notAJournal, "The store's log is not a journal; it has its own ways to be copied."))
        }
        return StoreBackup(try wrapping { () throws(JournalError) in try journal.backup(to: destination, upTo: position) })
    }

    /// Makes or continues a copy of a journal, which another process may be writing.
    ///
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.backup(_:to:options:)` does.
    /// - Complexity: Opens both journals, without a replay; then linear in what is new.
    @discardableResult
    public static func backup(
        ofJournalAt directory: String, to destination: String, options: BackupOptions = BackupOptions()
    ) throws(ChatError) -> StoreBackup {
        StoreBackup(try wrapping { () throws(JournalError) in try Journal.backup(directory, to: destination, options: options) })
    }

    /// Salvages what can be read of a damaged journal into a new one with a new id.
    ///
    /// Every event keeps its position. In the place of one that is lost stands a ``EventKind/lost`` event, recorded at the time of the event
    /// before it. The new journal opens for writing and goes on; what later events refer to may be missing in it, which views cope with and
    /// ``verify(_:options:deep:)`` does not take for a fault.
    ///
    /// - Parameters:
    ///   - directory: The damaged journal, which is only read.
    ///   - destination: The new journal's directory, absent or empty.
    /// - Returns: What was kept, and every loss with its place.
    /// - Throws: ``ChatError/journal(_:)`` as `Journal.repair(_:to:options:lostRecord:)` does.
    /// - Complexity: Reads the damaged journal twice.
    public static func repair(
        journalAt directory: String, to destination: String, options: RepairOptions = RepairOptions()
    ) throws(ChatError) -> StoreRepair {
        var encoder = EventEncoder()
        var recordedAt = Timestamp(millisecondsSince1970: 0)
        let report = try wrapping { () throws(JournalError) in
            try Journal.repair(directory, to: destination, options: options) { _, previous in
                // A record that is no event has no time; that of the last placeholder still holds.
                if let event = try? ChatEvent(kept: previous, erasable: nil) { recordedAt = event.recordedAt }
                encoder.encode(ChatEvent(recordedAt: recordedAt, details: .lost))
                return encoder.kept
            }
        }
        return StoreRepair(report)
    }
}
