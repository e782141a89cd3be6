internal import Primitives

/// A log that can be copied, to a backup or to another place, where its history then goes on.
package protocol MovableLog: StoredRecordLog, ErasableLog {
    /// Returns the records up to a position that have no content any more, or came without it.
    ///
    /// The set only grows. A record that is read later has no content if it is in the set.
    func erasedRecords(through last: Position) throws(JournalError) -> PositionSet

    /// The place to which the log has moved; nil unless it has.
    func movedTo() throws(JournalError) -> String?

    /// Whether the log is a copy that opens for reading only, until it is finished.
    func isUnfinishedCopy() throws(JournalError) -> Bool

    /// Syncs the durable records.
    ///
    /// - Returns: The last position that no failure can remove. A copy ends there at the latest,
    ///   because later records can be lost although they are durable in the log's mode.
    @discardableResult
    func syncForCopy() throws(JournalError) -> Position

    /// Marks the log as moved: every later append and opening for writing throws `moved`.
    ///
    /// Reading stays possible.
    ///
    /// - Parameters:
    ///   - position: The last position, which the caller expects.
    ///   - destination: The name of the place at which the history goes on, without a password.
    /// - Throws: `conflict` if another position is the last one, `readOnly`, `closed`,
    ///   `storageFull`, `ioFailed` and `syncFailed`. Unless the log has moved then (``movedTo()``),
    ///   it goes on, and the call can be repeated.
    func fence(at position: Position, destination: String) throws(JournalError)
}

/// A copy of a log that opens for reading only, until it takes the place of the log.
package protocol CopyDestination: StoredRecordSink {
    /// Replaces the ledger of erasures durably, unless it is the same.
    mutating func writeLedger(_ bytes: [UInt8]) throws(JournalError)

    /// Opens the copy for writing from now on, and releases it.
    ///
    /// All of it must be durable. A repeated call does nothing.
    mutating func activateAndClose() throws(JournalError)

    /// Releases the copy, which can be continued later.
    mutating func close() throws(JournalError)
}

/// Copies of logs record by record, between any two kinds of log.
package enum LogCopy {
    /// The number of records between two reports of progress.
    private static let recordsPerReport = 16_384

    /// Throws if the log is an unfinished copy, or has moved to another place than this
    /// destination.
    ///
    /// - Parameter name: The name of the destination; nil for a copy that does not take the log's
    ///   place.
    /// - Throws: `copy` if the log is an unfinished copy itself, and `moved`.
    package static func checkSource(_ source: some MovableLog, movingTo name: String? = nil) throws(JournalError) {
        if try source.isUnfinishedCopy() {
            throw JournalError(.copy, "An unfinished copy cannot be copied. Finish it first.")
        }
        if let place = try source.movedTo(), place != name {
            throw JournalError(.moved, "The log has moved to \(place). Copy it from there.")
        }
    }

    /// Copies the durable records that a copy lacks.
    ///
    /// After an interruption, a repeated call continues after the copy's last durable commit.
    ///
    /// - Parameters:
    ///   - position: The maximum position to copy, which may be inside a commit: the copy ends
    ///     before that commit; nil for the last durable one.
    ///   - progress: Receives the last position that was copied, and the last one to copy.
    /// - Throws: `headMismatch` if the copy has another history than the log, and the errors of
    ///   both.
    package static func copyRecords(
        of source: some MovableLog, to sink: inout some StoredRecordSink, upTo position: Position? = nil,
        progress: (_ position: Position, _ last: Position) -> Void = { _, _ in }
    ) throws(JournalError) {
        let durable = try source.syncForCopy()
        let last = position ?? durable
        guard last <= durable else {
            throw JournalError(.outOfRange, "The log is durable up to position \(durable).", positions: last...last)
        }
        guard try source.contains(sink.head) else {
            throw JournalError(
                .headMismatch, "The copy has another history than the log that is copied.",
                positions: sink.position...sink.position)
        }
        guard sink.position <= last else {
            throw JournalError(
                .headMismatch, "The copy goes up to position \(sink.position), beyond the position to copy to.",
                positions: last...sink.position)
        }
        if sink.position < last {
            var failure: JournalError?
            try source.forEachStoredRecord(in: sink.position + 1...last) { position, recordsLeft, record in
                do throws(JournalError) {
                    try sink.add(record, recordsLeft: recordsLeft)
                    if position % Position(recordsPerReport) == 0 { progress(position, last) }
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
            if let failure { throw failure }
        }
        try sink.finish()
        progress(sink.position, last)
    }

    /// Copies the durable records that a copy lacks, and the ledger of erasures.
    ///
    /// Content that is erased in the log after it was copied stays in the copy, until the opening
    /// for writing after ``finish(_:to:named:progress:)`` carries out the order, which is copied
    /// too.
    ///
    /// - Throws: As ``copyRecords(of:to:upTo:progress:)``.
    package static func copy(
        _ source: some MovableLog, to destination: inout some CopyDestination,
        progress: (_ position: Position, _ last: Position) -> Void = { _, _ in }
    ) throws(JournalError) {
        try copyRecords(of: source, to: &destination, progress: progress)
        if let ledger = try source.readLedger() { try destination.writeLedger(ledger) }
    }

    /// Copies what a copy lacks, ends the log at its place, and opens the copy for writing.
    ///
    /// The log is open for writing, so that no other writer appends to it, or has moved to this
    /// destination in an earlier call that was interrupted. After an interruption at any point, a
    /// repeated call completes the rest. At no time are both open for writing.
    ///
    /// - Parameters:
    ///   - name: The name of the destination, without a password.
    ///   - progress: As for ``copyRecords(of:to:upTo:progress:)``.
    /// - Throws: The errors of ``checkSource(_:movingTo:)``, of
    ///   ``copyRecords(of:to:upTo:progress:)``, and of the log and the copy.
    package static func finish(
        _ source: some MovableLog, to destination: inout some CopyDestination, named name: String,
        progress: (_ position: Position, _ last: Position) -> Void = { _, _ in }
    ) throws(JournalError) {
        try checkSource(source, movingTo: name)
        try copy(source, to: &destination, progress: progress)
        let last = source.lastPosition
        guard destination.position == last, try source.contains(destination.head) else {
            throw JournalError(
                .conflict, "The log was appended to while the copy was finished.", positions: last...last)
        }
        if try source.movedTo() == nil { try source.fence(at: destination.position, destination: name) }
        try destination.activateAndClose()
    }
}
