public import ChatDomain
public import EventJournal

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
