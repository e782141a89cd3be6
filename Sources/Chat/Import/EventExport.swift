public import ChatDomain
import EventJournal

extension ChatStore {
    /// Calls a closure with every event after a position as an export has it, in order, up to the durable end at the time of the call.
    ///
    /// ``EventImporter`` makes a journal of what the closure is given. It is the operator's: nothing is left out, and no viewer's rights are asked.
    ///
    /// - Parameters:
    ///   - position: The events after this one; 0 for all.
    ///   - body: Is given each event; returns whether to go on. ``ExportedEvent/commitEnd`` is nil for a store on a log that is not a `Journal`.
    /// - Throws: ``ChatError`` if a record cannot be read or is no event; nothing is skipped.
    /// - Complexity: O(*n*) in the events after the position; memory does not grow with them.
    public func forEachExportedEvent(after position: Position = 0, _ body: (ExportedEvent) -> Bool) throws(ChatError) {
        let end = shownPosition
        guard position < end else { return }
        guard let journal else {
            return try forEachEvent(after: position) { body(ExportedEvent($0)) }
        }
        var undecodable: ChatError?
        try wrapping { () throws(JournalError) in
            try journal.forEachCommittedRecord(in: position + 1...end) { position, commitEnd, state, kept, erasable in
                do throws(EventDecodingError) {
                    let event = try Event(kept: kept, erasable: state == .whole ? erasable : nil)
                    return body(ExportedEvent(RecordedEvent(position: position, event: event), commitEnd: commitEnd))
                } catch {
                    undecodable = .undecodable(position: position, error)
                    return false
                }
            }
        }
        if let undecodable { throw undecodable }
    }
}
