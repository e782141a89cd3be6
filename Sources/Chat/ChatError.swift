public import ChatDomain
public import EventJournal

/// Why a call of the store did not do what it was asked to.
public enum ChatError: Error, Sendable {
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
        case .cancelled: "cancelled: the task was cancelled before the command was decided"
        }
    }
}
