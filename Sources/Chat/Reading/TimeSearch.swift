import ChatDomain
import EventJournal
import Primitives

extension CommitLog {
    /// Returns the last position whose event was recorded at a time that satisfies a condition; 0
    /// if none was.
    ///
    /// The times never decrease within a run, and a correction of the clock begins a run that may
    /// be lower. The condition must hold up to a time and not after it. The latest run whose first
    /// event satisfies it has the position, so an earlier run counts only up to the time at which
    /// the next one begins.
    ///
    /// - Parameters:
    ///   - end: The last position to search; it must be durable.
    ///   - starts: The positions at which the second and later runs begin, ascending.
    /// - Throws: ``ChatError`` if a record cannot be read or decoded.
    /// - Complexity: O(*r* + log *n*) reads of single records, in the number *r* of runs.
    func lastPosition(
        through end: Position, runs starts: [Position], where condition: (Timestamp) -> Bool
    ) throws(ChatError) -> Position {
        var last = end
        for start in starts.reversed() where start <= end {
            if condition(try recordedAt(start)) { return try lastPosition(in: start...last, where: condition) }
            last = start - 1
        }
        return try lastPosition(in: 1...max(last, 1), where: condition)
    }

    /// Returns the last position of a run that satisfies a condition; the one before the run if
    /// none does.
    private func lastPosition(in run: ClosedRange<Position>, where condition: (Timestamp) -> Bool) throws(ChatError)
        -> Position
    {
        try (run.lowerBound..<run.upperBound + 1).partitioningIndex { position throws(ChatError) in
            !condition(try recordedAt(position))
        } - 1
    }

    private func recordedAt(_ position: Position) throws(ChatError) -> Timestamp {
        var result: Result<Timestamp, EventDecodingError>?
        try readRecords(in: position...position) { _, _, kept, _ in
            result = Result { () throws(EventDecodingError) in try EventRow(kept: kept).recordedAt }
            return true
        }
        guard let result else { preconditionFailure("The log must return each requested record or throw.") }
        return try result.mapError { ChatError.undecodable(position: position, $0) }.get()
    }
}
