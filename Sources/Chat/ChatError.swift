public import ChatDomain
public import ChatLive
public import EventJournal

/// The error of every throwing call of ``ChatStore``.
public enum ChatError: Error, Hashable, Sendable {
    /// A rule rejected the command, or the viewer lacks permission. Nothing was appended.
    case rejected(Rejection)
    /// The journal could not be opened, read or written.
    case journal(JournalError)
    /// A record with a valid checksum does not decode as an event.
    case undecodable(position: Position, EventDecodingError)
    /// The journal holds event kinds that this version does not know, so it is read-only.
    ///
    /// An older writer would otherwise ignore the rules of a newer one.
    case newerEvents
    /// The order of an erasure is durable and no answer shows the content, but files still have it,
    /// or the user still has roles.
    ///
    /// The next erasure or opening completes it.
    case erasureUnfinished(JournalError)
    /// The command batch exceeds the capacity of one commit; send smaller batches.
    case batchTooLarge
    /// The resume token belongs to another journal.
    case foreignToken
    /// The resume token lies beyond the last durable position.
    ///
    /// The journal is an older or truncated copy, or a read-only store lags behind the writer.
    case futureToken
    /// The resume token belongs to a history that the journal does not contain.
    ///
    /// An older copy of the journal was restored and then written to.
    case rolledBackToken
    /// A consumer with a bounded buffer was too slow; events after this position were not
    /// delivered.
    case lagged(from: Position)
    /// The task was cancelled before the command was decided. Nothing was appended.
    case cancelled
    /// An event of the thread before this position is unknown, so its evidence has a gap.
    ///
    /// A repair could not salvage the event, or a newer version wrote it. Begin at this position.
    case incompleteThread(before: Position)
}

extension ChatError: ChatFailure {
    /// The rejection, if a rule rejected the command or the query.
    public var rejection: Rejection? { if case .rejected(let rejection) = self { rejection } else { nil } }
}

extension ChatError: CustomStringConvertible {
    /// The stable code followed by a sentence for people.
    public var description: String {
        switch self {
        case .rejected(let rejection): rejection.description
        case .journal(let error): error.description
        case .undecodable(let position, let error):
            "undecodable: the record at position \(position) does not decode as an event: \(error)"
        case .newerEvents: "newerEvents: the journal holds events of a newer version and is read-only"
        case .erasureUnfinished(let error):
            "erasureUnfinished: the content is hidden, but files still have it or roles have not ended; erase or open again to complete it: \(error)"
        case .batchTooLarge: "batchTooLarge: the batch exceeds the capacity of one commit; send smaller batches"
        case .foreignToken: "foreignToken: the token belongs to another journal"
        case .futureToken: "futureToken: the token lies beyond the last durable position"
        case .rolledBackToken: "rolledBackToken: the token belongs to a history that the journal does not contain"
        case .lagged(let position):
            "lagged: the consumer was too slow; events after position \(position) were not delivered"
        case .cancelled: "cancelled: the task was cancelled before the command was decided"
        case .incompleteThread(let position):
            "incompleteThread: an event of the thread before position \(position) is lost or of a newer version; begin at that position"
        }
    }
}

/// Runs the body and converts its `JournalError` to ``ChatError/journal(_:)``.
func wrappingJournalErrors<Value>(_ body: () throws(JournalError) -> Value) throws(ChatError) -> Value {
    do { return try body() } catch { throw .journal(error) }
}

/// Performs one operation of the log and converts its error.
func wrappingErrors<Value>(of operation: @autoclosure () throws(JournalError) -> Value) throws(ChatError) -> Value {
    try wrappingJournalErrors(operation)
}

extension CommitLog {
    /// Calls a closure with each record in a range of positions; converts the errors of the log.
    func readRecords(in positions: ClosedRange<Position>, _ body: RecordHandler) throws(ChatError) {
        try wrappingErrors(of: forEachRecord(in: positions, body))
    }
}
