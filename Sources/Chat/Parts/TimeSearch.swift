import ChatDomain
import EventJournal
import Primitives

extension CommitLog {
    /// Returns the last position whose event was recorded at a time that satisfies a condition; 0
    /// if none was.
    ///
    /// The times never decrease along a log, so the condition must hold up to a time and not after
    /// it.
    ///
    /// - Parameter end: The last position to search; it must be durable.
    /// - Throws: ``ChatError`` if a record cannot be read or decoded.
    /// - Complexity: O(log *n*) reads of single records.
    func lastPosition(through end: Position, where condition: (Timestamp) -> Bool) throws(ChatError) -> Position {
        try (1..<end + 1).partitioningIndex { position throws(ChatError) in !condition(try recordedAt(position)) } - 1
    }

    private func recordedAt(_ position: Position) throws(ChatError) -> Timestamp {
        var result: Result<Timestamp, EventDecodingError>?
        try wrappingJournalErrors { () throws(JournalError) in
            try forEachRecord(in: position...position) { _, _, kept, _ in
                result = Result { () throws(EventDecodingError) in try EventRow(kept: kept).recordedAt }
                return true
            }
        }
        guard let result else { preconditionFailure("The log must return each requested record or throw.") }
        return try result.mapError { ChatError.undecodable(position: position, $0) }.get()
    }
}
