internal import Primitives

/// A log that can be moved: copied to another place, where its history then goes on.
package protocol MovableLog: StoredRecordLog, ErasableLog {
    /// The place to which the log has moved; nil unless it has.
    func movedTo() throws(JournalError) -> String?

    /// Ensures that no failure leaves the log shorter than a copy of its durable records.
    func syncForCopy() throws(JournalError)

    /// Ends the log at this place for good: nothing can be appended here any more.
    ///
    /// When the call returns, every later opening for writing throws `moved`. Reading stays
    /// possible.
    ///
    /// - Parameters:
    ///   - position: The last position, which the caller expects.
    ///   - destination: The name of the place at which the history goes on, without a password.
    /// - Throws: `conflict` if another position is the last one, `readOnly`, `closed`, `storageFull`,
    ///   `ioFailed` and `syncFailed`.
    func fence(at position: Position, destination: String) throws(JournalError)
}

/// A copy of a log that opens for reading only, until it takes the place of the log.
package protocol CopyDestination: StoredRecordSink {
    /// Replaces the ledger of erasures durably, unless it is the same.
    mutating func writeLedger(_ bytes: [UInt8]) throws(JournalError)

    /// Opens the copy for writing from now on, and releases it.
    ///
    /// All of it must be durable. A repeated call does nothing.
    mutating func unlockDestination() throws(JournalError)
}

/// Copies of logs record by record, between any two kinds of log.
package enum LogCopy {
    /// The number of records between two reports of progress.
    private static let recordsPerReport = 16_384

    /// Copies the durable records that a copy lacks.
    ///
    /// After an interruption, a repeated call continues after the copy's last durable commit.
    ///
    /// - Parameters:
    ///   - position: The maximum position to copy, which may be inside a commit: the copy ends before
    ///     that commit; nil for the last durable one.
    ///   - progress: Receives the last position that was copied, and the last one to copy.
    /// - Throws: `headMismatch` if the copy has another history than the log, and the errors of
    ///   both.
    package static func copyRecords(
        of source: some MovableLog, to sink: inout some StoredRecordSink, upTo position: Position? = nil,
        progress: (_ position: Position, _ last: Position) -> Void = { _, _ in }
    ) throws(JournalError) {
        try source.syncForCopy()
        let durable = source.durablePosition
        let last = position ?? durable
        guard last <= durable else {
            throw JournalError(.outOfRange, "The log is durable up to position \(durable).", positions: last...last)
        }
        guard try source.contains(sink.head) else {
            throw JournalError(
                .headMismatch, "The copy has another history than the log that is copied.", positions: sink.position...sink.position)
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

    /// Copies what a copy lacks, ends the log at its place, and opens the copy for writing.
    ///
    /// The log is open for writing, so that nobody else appends to it, or has moved to this
    /// destination in an earlier call that was interrupted. After an interruption at any point, a
    /// repeated call completes the rest. At no time are both open for writing.
    ///
    /// - Parameters:
    ///   - name: The name of the destination, without a password.
    ///   - progress: As for ``copyRecords(of:to:upTo:progress:)``.
    /// - Throws: `moved` if the log has moved to another place, and the errors of
    ///   ``copyRecords(of:to:upTo:progress:)`` and of the log and the copy.
    package static func finish(
        _ source: some MovableLog, to destination: inout some CopyDestination, named name: String,
        progress: (_ position: Position, _ last: Position) -> Void = { _, _ in }
    ) throws(JournalError) {
        let place = try source.movedTo()
        if let place, place != name {
            throw JournalError(.moved, "The log has moved to \(place).")
        }
        try copyRecords(of: source, to: &destination, progress: progress)
        if let ledger = try source.readLedger() { try destination.writeLedger(ledger) }
        let last = source.lastPosition
        guard destination.position == last, try source.contains(destination.head) else {
            throw JournalError(.conflict, "The log was appended to while the copy was finished.", positions: last...last)
        }
        if place == nil { try source.fence(at: destination.position, destination: name) }
        try destination.unlockDestination()
    }
}
