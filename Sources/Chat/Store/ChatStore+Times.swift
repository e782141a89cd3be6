public import ChatDomain
import EventJournal
import Projections

/// Positions of times.
extension ChatStore {
    /// Returns the position of the last event recorded at or before a time; 0 if none exists.
    ///
    /// After a correction of the clock (``correctClock()``) the time is looked up in the latest run
    /// of times that begins at or before it: <doc:TimeTravelAndAudits#When-the-clock-was-wrong>.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if the log is closed or an event cannot be read;
    ///   ``ChatError/undecodable(position:_:)`` if one does not decode.
    /// - Complexity: O(*r* + log *n*) reads of single events, in the number *r* of corrections.
    public func lastPosition(at time: Timestamp) throws(ChatError) -> Position { try lastPosition { $0 <= time } }

    /// Returns the position of the last event recorded before a time; 0 if none exists.
    ///
    /// It bounds a page that begins at that time: `PageRequest(after: try
    /// store.lastPosition(before: time))` begins with the first entry recorded at that time or
    /// later. Entries are in journal order, so the time of recording counts for imports too, not
    /// the display time.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if the log is closed or an event cannot be read;
    ///   ``ChatError/undecodable(position:_:)`` if one does not decode.
    /// - Complexity: O(*r* + log *n*) reads of single events, in the number *r* of corrections.
    public func lastPosition(before time: Timestamp) throws(ChatError) -> Position { try lastPosition { $0 < time } }

    private func lastPosition(where condition: (Timestamp) -> Bool) throws(ChatError) -> Position {
        let (end, runs) = withCurrentModels { models, position in (position, models.runStarts) }
        guard end > 0 else { return 0 }
        return try log.lastPosition(through: end, runs: runs, where: condition)
    }
}
