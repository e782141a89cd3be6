public import ChatDomain
public import EventJournal

/// Creates a journal from an export: the same events, at the same positions, in the same commits.
///
/// Events are applied as they were recorded. They are audited as in a deep verification: an event
/// that no decider would have appended at its position (`HistoryFault`) is rejected, and so is a
/// gap between positions. After lost events, possible consequences of those events are no fault.
///
/// The journal keeps the positions, ids, times, thread numbers, correlation ids and fold keys of
/// the export, and its erased, lost and unknown events. The journal's id and chain value are new,
/// because each record gets a new salt. An erased event is stored without content
/// (`RecordContentState.withheld`). The event that ordered the erasure is imported as any other.
///
/// The journal must be empty or contain the first events of the export. Existing events are
/// compared and not changed: to continue an interrupted import, run it again. A commit of the
/// export is appended completely or not at all. If the export has no commit ends, the events of one
/// opening of a thread or of one change of postcode form a commit; every other event is a commit of
/// its own.
///
/// ```swift
/// var importer = try EventImporter(into: directory)
/// for (line, event) in events.enumerated() { try importer.add(event, line: line + 1) }
/// try importer.finish()
/// ```
///
/// Memory holds the state of the rules, as for a store, and one commit.
public struct EventImporter: ~Copyable {
    private let log: any CommitLog
    private var state = ChatState()
    private var encoder = EventEncoder()
    private var existing: ExistingEvents
    private var draft = CommitDraft()
    /// The end of the open commit; nil between commits, and if the export has no commit ends.
    private var commitEnd: Position?
    /// The commit in progress if the export does not tell its end.
    private var inferredCommit: InferredCommit?
    private var unsyncedByteCount = 0
    private var lastLine = 0
    private var failure: EventImportError?
    /// The result so far; the events of a commit are counted after the append.
    public private(set) var summary = EventImportSummary()

    /// The number of bytes appended between two waits for durability.
    private static let syncStep = 8 << 20

    /// Opens a journal for writing; creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - directory: The path of the journal's directory.
    ///   - options: The options for opening the journal.
    /// - Throws: ``ChatError/journal(_:)`` if the journal cannot be opened.
    public init(into directory: String, options: JournalOptions = JournalOptions()) throws(ChatError) {
        try self.init(into: try wrappingErrors(of: Journal.open(directory, options: options)))
    }

    /// Imports into a log that is open for writing.
    ///
    /// - Parameter log: The log, which ``finish()`` and ``close()`` close.
    /// - Throws: ``ChatError/journal(_:)`` if the log fails.
    public init(into log: any CommitLog) throws(ChatError) {
        try wrappingErrors(of: log.waitUntilDurable(log.lastPosition))
        self.log = log
        existing = ExistingEvents(log)
    }

    /// The durable head of the journal.
    public var head: JournalHead { log.head }

    /// Adds the next event of the export.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - line: The line of the event in the export, for error messages.
    /// - Throws: ``EventImportError``. Every later call throws the same error. Earlier commits
    ///   remain in the journal.
    /// - Complexity: O(*n*) on average in the bytes of the event.
    public mutating func add(_ event: ExportedEvent, line: Int) throws(EventImportError) {
        if let failure { throw failure }
        lastLine = line
        do throws(EventImportError.Problem) {
            try apply(event)
        } catch {
            throw fail(error, at: event.recorded.position)
        }
    }

    /// Ends the import: appends the last commit, waits until it is durable, and closes the journal.
    ///
    /// - Throws: ``EventImportError`` if the export ends inside a commit or before the end of the
    ///   journal, or if the journal fails. The journal is closed in every case.
    public mutating func finish() throws(EventImportError) {
        do throws(EventImportError.Problem) {
            if failure == nil {
                guard commitEnd == nil else { throw .endsInsideCommit }
                guard existing.isEmpty else { throw .journalIsLonger }
                try commit()
            }
        } catch {
            _ = fail(error, at: state.head + 1)
        }
        do throws(JournalError) {
            try log.close()
        } catch {
            // An error that stopped the journal was already reported.
            if failure == nil { _ = fail(.journal(error), at: state.head) }
        }
        if let failure { throw failure }
    }

    /// Closes the journal; discards the events of an incomplete commit.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if the appended commits could not be made durable.
    public mutating func close() throws(ChatError) { try wrappingErrors(of: log.close()) }

    private mutating func fail(_ problem: EventImportError.Problem, at position: Position) -> EventImportError {
        let error = EventImportError(line: lastLine, position: position, problem: problem)
        failure = error
        return error
    }

    private mutating func apply(_ exported: ExportedEvent) throws(EventImportError.Problem) {
        let (position, event) = (exported.recorded.position, exported.recorded.event)
        guard position == state.head + 1 else { throw .positionGap(due: state.head + 1) }
        if let fault = state.faults(of: event).first { throw .ruleViolation(fault) }
        guard exported.recorded.redacted.isEmpty else { throw .invalidEvent }
        try encode(event)
        guard exported.commitEnd.map({ $0 >= position }) ?? true, commitEnd == nil || commitEnd == exported.commitEnd
        else {
            throw .commitEndMismatch
        }
        commitEnd = exported.commitEnd == position ? nil : exported.commitEnd
        if existing.isEmpty {
            try stage(event, endsCommit: exported.commitEnd.map { $0 == position })
        } else {
            try compare(event)
        }
        state.evolve(event, at: position)
    }

    /// Encodes an event, and checks that it decodes to an equal event.
    private mutating func encode(_ event: ChatEvent) throws(EventImportError.Problem) {
        let isOpaque = if case .opaque = event.content { true } else { false }
        guard !event.isOmitted, isOpaque == (event.kind == nil) else { throw .invalidEvent }
        encoder.encode(event, isErased: event.isErased)
        let decoded = encoder.withParts { kept, erasable in
            event.isErased ? try? ChatEvent(kept: kept, erasable: nil) : try? ChatEvent(kept: kept, erasable: erasable)
        }
        guard decoded == event else { throw .invalidEvent }
    }

    private mutating func compare(_ event: ChatEvent) throws(EventImportError.Problem) {
        let isSame: Bool
        do throws(JournalError) { isSame = try existing.consumeNext(encoder, isErased: event.isErased) } catch {
            throw .journal(error)
        }
        guard isSame else { throw .differs }
        summary.existing += 1
    }

    /// Adds the encoded event to the commit.
    ///
    /// - Parameter endsCommit: Whether the event is the last of its commit; nil if unknown.
    private mutating func stage(_ event: ChatEvent, endsCommit: Bool?) throws(EventImportError.Problem) {
        if let inferredCommit, endsCommit != nil || !inferredCommit.continues(with: event) { try commit() }
        do throws(JournalError) {
            try encoder.withParts { (kept, erasable) throws(JournalError) in
                if event.isErased {
                    try draft.appendStub(kept: kept)
                } else {
                    try draft.append(kept: kept, erasable: erasable)
                }
            }
        } catch {
            throw .journal(error)
        }
        switch endsCommit {
        case true?: try commit()
        case false?: break
        case nil: inferredCommit = InferredCommit(first: inferredCommit?.first ?? event, last: event)
        }
    }

    private mutating func commit() throws(EventImportError.Problem) {
        inferredCommit = nil
        guard draft.recordCount > 0 else { return }
        do throws(JournalError) {
            let positions = try log.append(draft, expecting: log.lastPosition)
            summary.events += draft.recordCount
            summary.commits += 1
            unsyncedByteCount += draft.encodedByteCount
            draft.removeAll()
            if unsyncedByteCount >= Self.syncStep {
                try log.waitUntilDurable(positions.upperBound)
                unsyncedByteCount = 0
            }
        } catch {
            throw .journal(error)
        }
    }
}

/// A commit whose end the export does not tell: consecutive events that one command can have
/// caused.
private struct InferredCommit {
    let first: ChatEvent
    let last: ChatEvent

    /// Whether the command that caused the events so far can have caused the next one too.
    func continues(with next: ChatEvent) -> Bool {
        guard next.recordedAt == last.recordedAt, next.origin == last.origin, next.user == last.user,
            next.relatedThread == first.relatedThread
        else { return false }
        return switch (first.kind, last.kind, next.kind) {
        case (.threadOpened, .threadOpened, .threadPolicySet), (.threadOpened, .threadOpened, .threadJoined),
            (.threadOpened, .threadPolicySet, .threadJoined):
            true
        case (.userBanned, .userBanned, .memberRemoved): first.otherActor == next.otherActor
        case (.postcodeSet, .postcodeSet, .threadOpened), (.postcodeSet, .postcodeSet, .threadJoined),
            (.postcodeSet, .threadOpened, .threadJoined):
            true
        default: false
        }
    }
}

/// The existing events of a journal, read in batches, for the comparison with an export.
struct ExistingEvents {
    private let log: any CommitLog
    private let end: Position
    private var position: Position = 0
    /// The events read, in reverse order, so that the next one is last; nil for an undecodable
    /// record.
    private var unreadEvents: [ChatEvent?] = []
    private var encoder = EventEncoder()

    /// The maximum number of events per read, and the approximate maximum of bytes.
    private static let batch = (count: 256, byteCount: 1 << 20)

    /// Covers the events that are durable now.
    init(_ log: any CommitLog) {
        self.log = log
        end = log.durablePosition
    }

    var isEmpty: Bool { position == end }

    /// Returns whether the next event equals the event in an encoder, byte for byte.
    mutating func consumeNext(_ other: borrowing EventEncoder, isErased: Bool) throws(JournalError) -> Bool {
        if unreadEvents.isEmpty { try readMore() }
        position += 1
        guard let event = unreadEvents.removeLast(), event.isErased == isErased else { return false }
        encoder.encode(event, isErased: isErased)
        return encoder.hasParts(of: other)
    }

    private mutating func readMore() throws(JournalError) {
        var byteCount = 0
        var events: [ChatEvent?] = []
        try log.forEachRecord(in: position + 1...end) { _, state, kept, erasable in
            events.append(try? ChatEvent(kept: kept, erasable: state == .whole ? erasable : nil))
            byteCount += kept.byteCount + erasable.byteCount
            return events.count < Self.batch.count && byteCount < Self.batch.byteCount
        }
        unreadEvents = events.reversed()
    }
}

extension EventEncoder {
    /// Encodes a whole event, or only the kept part of an erased one.
    mutating func encode(_ event: ChatEvent, isErased: Bool) {
        if isErased { encodeStub(event) } else { encode(event) }
    }
}

/// The reason why an export cannot be imported, with the line and the position.
public struct EventImportError: Error, Hashable, Sendable {
    /// The line of the event, as the caller counts lines; the last line if the end is wrong.
    public var line: Int
    /// The position of the event.
    public var position: Position
    /// The problem.
    public var problem: Problem

    /// The problems of an export.
    public enum Problem: Error, Hashable, Sendable {
        /// The position of the event does not follow the previous position.
        case positionGap(due: Position)
        /// The event breaks a rule of the history, as in a deep verification.
        case ruleViolation(HistoryFault)
        /// The event cannot be encoded as a record.
        ///
        /// For example, its content does not fit its kind, or was redacted for a viewer.
        case invalidEvent
        /// The commit end of the event contradicts its position, or the previous event of the
        /// commit.
        case commitEndMismatch
        /// The export ends before the last event of its last commit.
        case endsInsideCommit
        /// The journal has a different event at this position.
        case differs
        /// The journal has events beyond the end of the export.
        case journalIsLonger
        /// The journal failed, or rejected the event.
        case journal(JournalError)
    }

    /// A stable code: of the broken rule, of the journal's error, or of the problem itself.
    public var code: String {
        switch problem {
        case .positionGap: "positionGap"
        case .ruleViolation(let fault): fault.problem.rawValue
        case .invalidEvent: "invalidEvent"
        case .commitEndMismatch: "commitEndMismatch"
        case .endsInsideCommit: "endsInsideCommit"
        case .differs: "differs"
        case .journalIsLonger: "journalIsLonger"
        case .journal(let error): error.code.rawValue
        }
    }

    /// A sentence for people, without the code and the line.
    public var message: String {
        switch problem {
        case .positionGap(let due): "The event has position \(position), where \(due) is due."
        case .ruleViolation(let fault):
            "The event at position \(position) cannot follow the events before it: \(fault.message)."
        case .invalidEvent: "The event at position \(position) cannot be encoded as a record."
        case .commitEndMismatch: "The commit of position \(position) has contradictory ends."
        case .endsInsideCommit: "The export ends inside a commit: position \(position) is missing."
        case .differs:
            "The journal has another event at position \(position). Continue with the same export, or import into an empty journal."
        case .journalIsLonger: "The journal has events beyond the end of the export, from position \(position) on."
        case .journal(let error): error.message
        }
    }
}

extension EventImportError: CustomStringConvertible {
    /// The line, the code and the sentence.
    public var description: String { "line \(line): \(code): \(message)" }
}

/// The result of an import of events.
public struct EventImportSummary: Hashable, Sendable, Codable {
    /// The number of appended events.
    public var events = 0
    /// The number of events that the journal already contained.
    public var existing = 0
    /// The number of appended commits.
    public var commits = 0

    private enum CodingKeys: String, CodingKey {
        case events
        case existing = "present"
        case commits
    }
}
