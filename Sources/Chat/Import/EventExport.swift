public import ChatDomain
public import EventJournal
import Primitives

extension ChatStore {
    /// Calls a closure with every event after a position, in order, in the form of an export.
    ///
    /// Stops at the position that is durable at the time of the call. ``EventImporter`` makes a
    /// journal from these events. For the host: the export is complete, and no viewer's rights
    /// apply.
    ///
    /// - Parameters:
    ///   - position: The export starts after this position; 0 for all events.
    ///   - body: Receives each event; ends the export by setting `stop`. `ExportedEvent.commitEnd`
    ///     is nil for a store on a log that is not a `HistoryLog`.
    /// - Throws: ``ChatError`` if a record cannot be read or decoded; no event is skipped.
    /// - Complexity: O(*n*) in the events after the position. Memory does not grow with them.
    public func forEachExportedEvent(
        after position: Position = 0, _ body: (_ event: ExportedEvent, _ stop: inout Bool) -> Void
    ) throws(ChatError) {
        let end = applyDurableEvents()
        guard position < end else { return }
        guard let log = log as? any HistoryLog else {
            return try forEachEvent(after: position, matching: EventFilter(as: .host)) { body(ExportedEvent($0), &$1) }
        }
        try Self.forEachExportedEvent(of: log, position + 1...end, body)
    }

    /// Calls a closure with every event of a journal, in order, in the form of an export.
    ///
    /// Stops at the durable end. Reads the events one after the other, without opening a store.
    ///
    /// - Parameters:
    ///   - directory: The path of the journal's directory. Another process may be writing the
    ///     journal.
    ///   - options: The options for opening the journal.
    ///   - body: Receives each event and the last position of the export; ends the export by
    ///     setting `stop`.
    /// - Throws: ``ChatError/journal(_:)`` as ``openReadOnly(_:options:)``; ``ChatError`` if a
    ///   record cannot be read or decoded, after all events before it.
    /// - Complexity: O(*n*) in the events. Memory does not grow with them, unless an erasure is
    ///   unfinished: a store is then opened.
    public static func forEachExportedEvent(
        ofJournalAt directory: String, options: JournalOptions = JournalOptions(),
        _ body: (_ event: ExportedEvent, _ last: Position, _ stop: inout Bool) -> Void
    ) throws(ChatError) {
        try forEachExportedEvent(
            of: try wrappingErrors(of: Journal.openReadOnly(directory, options: options)), body)
    }

    /// Calls a closure with each durable event of a log, and the end of its commit.
    ///
    /// - Parameters:
    ///   - log: An open log. Content that was erased by an order, and that a read-only log still
    ///     has, is hidden in it.
    ///   - body: Receives the event and the last position of the export; ends the export by setting
    ///     `stop`.
    /// - Throws: ``ChatError`` if a record cannot be read or decoded, after all events before it.
    /// - Complexity: O(*n*) in the events. Memory does not grow with them, unless an erasure is
    ///   unfinished: a store is then opened.
    public static func forEachExportedEvent(
        of log: any HistoryLog, _ body: (_ event: ExportedEvent, _ last: Position, _ stop: inout Bool) -> Void
    ) throws(ChatError) {
        let last = log.durablePosition
        guard last > 0 else { return }
        if let log = log as? any ErasableLog { _ = try pendingContent(of: log) }
        try forEachExportedEvent(of: log, 1...last) { event, stop in body(event, last, &stop) }
    }

    private static func forEachExportedEvent(
        of log: any HistoryLog, _ positions: ClosedRange<Position>, _ body: (ExportedEvent, inout Bool) -> Void
    ) throws(ChatError) {
        var stop = false
        try readCommitted(log, positions) { event, position, commit in
            body(ExportedEvent(RecordedEvent(position: position, event: event), commitEnd: commit.position), &stop)
            return !stop
        }
    }
}
