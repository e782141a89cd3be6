public import ChatDomain
public import EventJournal

/// Why a call of the store did not do what it was asked to.
public enum ChatError: Error, Hashable, Sendable {
    /// A rule was broken, or the viewer may not see it: nothing was appended.
    case rejected(Rejection)
    /// The journal could not be opened, read or written.
    case journal(JournalError)
    /// A record of the journal is no event, though its checksum is right.
    case undecodable(position: Position, EventDecodingError)
    /// The journal holds events of a kind that this version does not know: an old writer must not ignore a newer rule.
    case newerEvents
    /// The commands of one batch are more than one commit can hold: send them in smaller batches.
    case batchTooLarge
    /// The cursor of a page belongs to another journal, or to another list of this one.
    case foreignCursor
    /// The token to resume from belongs to another journal.
    case foreignToken
    /// The token to resume from is from beyond the last durable position: the journal is an older or a shortened copy, or the reader has not come so far.
    case futureToken
    /// The token to resume from is of a history that the journal does not have: an older copy was restored, and written on.
    case rolledBackToken
    /// A follower with a bounded backlog was too slow: what follows this position has not been delivered.
    case lagged(from: Position)
    /// The task was cancelled before the command was decided; nothing happened.
    case cancelled
}

extension ChatError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .rejected(let rejection): rejection.description
        case .journal(let error): error.description
        case .undecodable(let position, let error): "undecodable: the record at position \(position) is no event: \(error)"
        case .newerEvents: "newerEvents: the journal holds events of a newer version and can only be read"
        case .batchTooLarge: "batchTooLarge: the commands of the batch are more than one commit can hold"
        case .foreignCursor: "foreignCursor: the cursor belongs to another journal or to another list"
        case .foreignToken: "foreignToken: the token belongs to another journal"
        case .futureToken: "futureToken: the token is from beyond the last durable position"
        case .rolledBackToken: "rolledBackToken: the token is of a history that the journal does not have"
        case .lagged(let position): "lagged: the follower was too slow, and what follows position \(position) was not delivered"
        case .cancelled: "cancelled: the task was cancelled before the command was decided"
        }
    }
}

/// Runs journal code under the store's error.
func wrapping<Value>(_ body: () throws(JournalError) -> Value) throws(ChatError) -> Value {
    do { return try body() } catch { throw .journal(error) }
}
