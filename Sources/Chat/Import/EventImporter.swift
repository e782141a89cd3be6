public import ChatDomain
public import EventJournal

/// Makes a journal of an export: the same events at the same positions, in the same commits.
///
/// Recorded events are applied, not decided, and audited as a verification audits a journal: an event that no decider would have appended there
/// (``HistoryFault``) is refused, and so is a gap of positions. After events that were lost, what they may have brought about is no fault. Positions,
/// ids, times, thread numbers, correlation ids, fold keys, erased, lost and unknown events are those of the export; the journal's id and its chain value are new, because each
/// record is salted anew. An erased event becomes an erased record, also where the exported journal had withheld its content.
///
/// The journal is empty, or holds the first events of the export; those are compared and left as they are, so that an import that was cut off is
/// continued by running it again. A commit of the export is there whole or not at all. Where the export has no ends of commits, what
/// opening a thread and setting a postcode bring about together is one commit, and every other event is one of its own.
///
///     var importer = try EventImporter(into: "copy.journal")
///     for (line, event) in events.enumerated() { try importer.add(event, line: line + 1) }
///     try importer.finish()
///
/// Memory is that of the rules' state, as for a store, and of one commit.
public struct EventImporter: ~Copyable {
    private let journal: Journal
    private var state = ChatState()
    private var encoder = EventEncoder()
    private var present: PresentEvents
    private var draft = CommitDraft()
    /// The end of the export's commit that the next event belongs to; nil at the beginning of one, and where the export does not tell.
    private var commitEnd: Position?
    /// The events of a commit whose end the export does not tell.
    private var untold: UntoldCommit?
    private var unsyncedByteCount = 0
    private var lastLine = 0
    private var failure: EventImportError?
    /// What was done so far; events of a commit count once it is appended.
    public private(set) var summary = EventImportSummary()

    /// How much is appended before the importer waits until it is durable.
    private static let syncStep = 8 << 20

    /// Opens a journal to write, and makes it if there is none.
    ///
    /// - Parameters:
    ///   - directory: The path of the journal's directory.
    ///   - options: How to open it.
    /// - Throws: ``ChatError/journal(_:)`` if it cannot be opened.
    public init(into directory: String, options: JournalOptions = JournalOptions()) throws(ChatError) {
        journal = try wrapping { () throws(JournalError) in
            let journal = try Journal.open(directory, options: options)
            try journal.waitUntilDurable(journal.lastPosition)
            return journal
        }
        present = PresentEvents(journal)
    }

    /// The token of the journal as far as it is durable.
    public var head: JournalHead { journal.head }

    /// Takes the next event of the export.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - line: Where it stands in the export, for the error.
    /// - Throws: ``EventImportError``, and the same one each time from then on. The commits before that of the refused event stay.
    /// - Complexity: O(1) on average, in the event's bytes.
    public mutating func add(_ event: ExportedEvent, line: Int) throws(EventImportError) {
        if let failure { throw failure }
        lastLine = line
        do throws(EventImportError.Problem) {
            try apply(event)
        } catch {
            throw fail(error, at: event.recorded.position)
        }
    }

    /// Ends the import: appends the last commit, makes everything durable and closes the journal.
    ///
    /// - Throws: ``EventImportError`` if the export ends inside a commit or before the journal does, or if the journal fails; the journal is closed all the same.
    public mutating func finish() throws(EventImportError) {
        do throws(EventImportError.Problem) {
            if failure == nil {
                guard commitEnd == nil else { throw .endsInsideCommit }
                guard present.isEmpty else { throw .journalIsLonger }
                try commit()
            }
        } catch {
            _ = fail(error, at: state.head + 1)
        }
        do throws(JournalError) {
            try journal.close()
        } catch {
            // What stopped the journal has been told already.
            if failure == nil { _ = fail(.journal(error), at: state.head) }
        }
        if let failure { throw failure }
    }

    /// Closes the journal without the events of a commit that has not ended.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if what was appended could not be made durable.
    public mutating func close() throws(ChatError) {
        try wrapping { () throws(JournalError) in try journal.close() }
    }

    private mutating func fail(_ problem: EventImportError.Problem, at position: Position) -> EventImportError {
        let error = EventImportError(line: lastLine, position: position, problem: problem)
        failure = error
        return error
    }

    private mutating func apply(_ exported: ExportedEvent) throws(EventImportError.Problem) {
        let (position, event) = (exported.recorded.position, exported.recorded.event)
        guard position == state.head + 1 else { throw .positionGap(due: state.head + 1) }
        if let fault = state.faults(of: event).first { throw .impossible(fault) }
        guard exported.recorded.redacted.isEmpty else { throw .invalidEvent }
        try encode(event)
        guard exported.commitEnd.map({ $0 >= position }) ?? true, commitEnd == nil || commitEnd == exported.commitEnd else {
            throw .commitEndMismatch
        }
        commitEnd = exported.commitEnd == position ? nil : exported.commitEnd
        if present.isEmpty {
            try stage(event, endsCommit: exported.commitEnd.map { $0 == position })
        } else {
            try compare(event)
        }
        state.evolve(event, at: position)
    }

    /// Encodes an event, which has to be the same when it is decoded.
    private mutating func encode(_ event: ChatEvent) throws(EventImportError.Problem) {
        guard event.content != .omitted else { throw .invalidEvent }
        encoder.encode(event, isErased: event.isErased)
        let decoded = try? ChatEvent(keptBytes: encoder.kept, erasableBytes: event.isErased ? nil : encoder.erasable)
        guard decoded == event else { throw .invalidEvent }
    }

    private mutating func compare(_ event: ChatEvent) throws(EventImportError.Problem) {
        let isSame: Bool
        do throws(JournalError) { isSame = try present.isNext(encoder, isErased: event.isErased) } catch { throw .journal(error) }
        guard isSame else { throw .differs }
        summary.present += 1
    }

    /// Puts the encoded event into the commit.
    ///
    /// - Parameter endsCommit: Nil where the export does not tell.
    private mutating func stage(_ event: ChatEvent, endsCommit: Bool?) throws(EventImportError.Problem) {
        if let untold, endsCommit != nil || !untold.goesOn(with: event) { try commit() }
        do throws(JournalError) {
            // A span of bytes as raw bytes is called unsafe for types with padding, which bytes have not.
            if event.isErased {
                unsafe try draft.appendStub(kept: encoder.kept.span.bytes)
            } else {
                unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
            }
        } catch {
            throw .journal(error)
        }
        switch endsCommit {
        case true?: try commit()
        case false?: break
        case nil: untold = UntoldCommit(first: untold?.first ?? event, last: event)
        }
    }

    private mutating func commit() throws(EventImportError.Problem) {
        untold = nil
        guard draft.recordCount > 0 else { return }
        do throws(JournalError) {
            let positions = try journal.append(draft, expecting: journal.lastPosition)
            summary.events += draft.recordCount
            summary.commits += 1
            unsyncedByteCount += draft.encodedByteCount
            draft.removeAll()
            if unsyncedByteCount >= Self.syncStep {
                try journal.waitUntilDurable(positions.upperBound)
                unsyncedByteCount = 0
            }
        } catch {
            throw .journal(error)
        }
    }
}

/// A commit of an export that does not tell where commits end: what one command brought about, as far as the events show it.
private struct UntoldCommit {
    let first: ChatEvent
    let last: ChatEvent

    func goesOn(with next: ChatEvent) -> Bool {
        guard next.recordedAt == last.recordedAt, next.origin == last.origin, next.details.user == last.details.user else { return false }
        switch (first.details, last.details, next.details) {
        case (.threadOpened, .threadOpened(let opened), .threadJoined(let joined)): return opened.thread == joined.thread
        case (.postcodeSet(let set), .postcodeSet, .threadOpened(let opened)): return opened.thread == set.thread
        case (.postcodeSet(let set), .postcodeSet, .threadJoined(let joined)),
            (.postcodeSet(let set), .threadOpened, .threadJoined(let joined)):
            return joined.thread == set.thread
        default: return false
        }
    }
}

/// The events that a journal holds already, read in order some at a time, to be compared with those of an export.
struct PresentEvents {
    private let journal: Journal
    private let end: Position
    private var position: Position = 0
    /// In reverse, so that the next one is the last; nil for a record that is no event.
    private var read: [ChatEvent?] = []
    private var encoder = EventEncoder()

    /// The most events and about the most bytes that are read at a time.
    private static let batch = (count: 256, byteCount: 1 << 20)

    /// Takes what is durable now.
    init(_ journal: Journal) {
        self.journal = journal
        end = journal.durablePosition
    }

    var isEmpty: Bool { position == end }

    /// Whether the next event is the one that an encoder holds, byte for byte.
    mutating func isNext(_ other: borrowing EventEncoder, isErased: Bool) throws(JournalError) -> Bool {
        if read.isEmpty { try readMore() }
        position += 1
        guard let event = read.removeLast(), event.isErased == isErased else { return false }
        encoder.encode(event, isErased: isErased)
        return encoder.kept == other.kept && encoder.erasable == other.erasable
    }

    private mutating func readMore() throws(JournalError) {
        var byteCount = 0
        var events: [ChatEvent?] = []
        try journal.forEachRecord(in: position + 1...end) { _, state, kept, erasable in
            events.append(try? ChatEvent(kept: kept, erasable: state == .whole ? erasable : nil))
            byteCount += kept.byteCount + erasable.byteCount
            return events.count < Self.batch.count && byteCount < Self.batch.byteCount
        }
        read = events.reversed()
    }
}

extension EventEncoder {
    /// Encodes a whole event, or the kept part of an erased one.
    mutating func encode(_ event: ChatEvent, isErased: Bool) { if isErased { encodeStub(event) } else { encode(event) } }
}

/// Why an export cannot be read back, and where.
public struct EventImportError: Error, Hashable, Sendable {
    /// The line of the event, as the caller counts them; the last line where the end of the export is wrong.
    public var line: Int
    /// The position that is concerned.
    public var position: Position
    /// What is wrong.
    public var problem: Problem

    /// What can be wrong with an export.
    public enum Problem: Error, Hashable, Sendable {
        /// The event's position is not the one after the event before it.
        case positionGap(due: Position)
        /// A rule that the history breaks: what a deep verification calls a fault.
        case impossible(HistoryFault)
        /// The event has no form as a record, for example because its content is not of its kind, or was redacted for a viewer.
        case invalidEvent
        /// The commit cannot end where the event says: before it, or elsewhere than the event before it says.
        case commitEndMismatch
        /// The export ends before the last event of its last commit.
        case endsInsideCommit
        /// The journal has another event at this position.
        case differs
        /// The journal goes on after the export's last event.
        case journalIsLonger
        /// The journal failed, or does not take the event.
        case journal(JournalError)
    }

    /// A stable name of the problem: that of the rule for an impossible history, the journal's own code for its errors.
    public var code: String {
        switch problem {
        case .positionGap: "positionGap"
        case .impossible(let fault): fault.problem.rawValue
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
        case .impossible(let fault): "The event at position \(position) cannot follow those before it: \(fault.message)."
        case .invalidEvent: "The event at position \(position) has no form as a record."
        case .commitEndMismatch: "The end of the commit of position \(position) is not one that its events agree on."
        case .endsInsideCommit: "The export ends inside a commit, of which position \(position) is missing."
        case .differs: "The journal has another event at position \(position): it does not hold the beginning of this export."
        case .journalIsLonger: "The journal has more events than the export, from position \(position) on."
        case .journal(let error): error.message
        }
    }
}

extension EventImportError: CustomStringConvertible {
    /// The line, the code and the sentence.
    public var description: String { "line \(line): \(code): \(message)" }
}

/// What an import of events did.
public struct EventImportSummary: Hashable, Sendable, Codable {
    /// Events that were appended.
    public var events = 0
    /// Events that the journal held already.
    public var present = 0
    /// Commits that were appended.
    public var commits = 0
}
