extension JournalStatistics {
    /// The media type of ``openMetrics(prefix:)``, for the `Content-Type` of the answer to a scrape.
    public static let openMetricsContentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// The statistics as a text that Prometheus and whoever else reads OpenMetrics 1.0 can scrape.
    ///
    /// Counters begin at 0 with each opening, as scrapers expect of a process that was started anew. Times are in seconds. The names of
    /// the families are stable, more may be added:
    ///
    /// | family | type | is |
    /// | --- | --- | --- |
    /// | `opening` | info | labels `journal`, `durability`, `mode` (`write`, `read`) |
    /// | `last_position`, `durable_position` | gauge | ``lastPosition``, ``durablePosition`` |
    /// | `segments` | gauge | ``segments`` |
    /// | `stored_bytes`, `unused_bytes` | gauge | ``storedBytes``, ``unusedBytes`` |
    /// | `appended_bytes` | counter | ``appendedBytes`` |
    /// | `commit_records` | histogram | ``recordsPerCommit`` |
    /// | `sync_commits` | histogram | ``commitsPerSync`` |
    /// | `sync_duration_seconds` | histogram | ``syncLatency`` |
    /// | `roll_overs` | counter | ``rotations`` |
    /// | `refused_full` | counter | ``refusedAsFull`` |
    /// | `waiters` | gauge | ``waiters`` |
    /// | `stopped` | gauge | 1 when there is a ``failure`` |
    /// | `scrub_position`, `scrub_passes`, `scrub_findings` | gauge | ``scrub`` |
    /// | `recovery_clean` | gauge | 1 when the last writer had closed the journal in good order |
    /// | `recovery_recovered_records` | gauge | how many ``RecoveryReport/recoveredPositions`` there are |
    /// | `recovery_cut_bytes` | gauge | how many ``RecoveryReport/cutBytes`` there are |
    /// | `recovery_damaged_slots` | gauge | how many ``RecoveryReport/damagedSlots`` there are |
    ///
    /// - Parameter prefix: What the names begin with, before a `_`; characters that a name cannot have become `_`.
    /// - Returns: The text, which ends with `# EOF`. Serve it as ``openMetricsContentType``.
    /// - Complexity: Constant: some hundred lines.
    public func openMetrics(prefix: String = "event_journal") -> String {
        var text = OpenMetricsText(prefix: prefix)
        write(to: &text)
        return text.finished
    }

    package func write(to text: inout OpenMetricsText) {
        text.info(
            "opening", "The journal and how it is open.",
            [("journal", journal.description), ("durability", durability.rawValue), ("mode", isReadOnly ? "read" : "write")])
        text.gauge("last_position", "The last position appended.", lastPosition)
        text.gauge("durable_position", "The last position that is durable under the journal's mode.", durablePosition)
        text.gauge("segments", "Segment files.", segments)
        text.gauge("stored_bytes", "Bytes of the commits in all segments.", unit: "bytes", storedBytes)
        text.gauge("unused_bytes", "Bytes of the last segment's file that no commit takes.", unit: "bytes", unusedBytes)
        text.counter("appended_bytes", "Bytes of the commits appended.", unit: "bytes", appendedBytes)
        text.histogram("commit_records", "Records of each commit appended.", recordsPerCommit)
        text.histogram("sync_commits", "Commits that each sync made durable.", commitsPerSync)
        text.histogram("sync_duration_seconds", "How long each sync took.", unit: "seconds", syncLatency, dividedBy: 1e9)
        text.counter("roll_overs", "Segments that were full and followed by a new one.", rotations)
        text.counter("refused_full", "Appends and reservations refused because the disk was full.", refusedAsFull)
        text.gauge("waiters", "Threads and tasks that wait for a sync that another one leads.", waiters)
        text.gauge("stopped", "Whether a failed write or sync has stopped the journal.", failure == nil ? 0 : 1)
        text.gauge("scrub_position", "The last position that this pass of scrubbing has checked.", scrub.position)
        text.gauge("scrub_passes", "Passes of scrubbing that came to their end.", scrub.passes)
        text.gauge("scrub_findings", "What scrubbing has found wrong since opening.", scrub.findings)
        text.gauge("recovery_clean", "Whether the last writer had closed the journal in good order.", recovery.wasClean ? 1 : 0)
        text.gauge(
            "recovery_recovered_records", "Records found beyond those that the files attest as synced.",
            recovery.recoveredPositions.map { $0.upperBound - $0.lowerBound &+ 1 } ?? 0)
        text.gauge(
            "recovery_cut_bytes", "Bytes of a torn write after the last commit.", unit: "bytes",
            recovery.cutBytes.map { $0.upperBound - $0.lowerBound } ?? 0)
        text.gauge("recovery_damaged_slots", "Slots of the durable file that could not be read.", recovery.damagedSlots.count)
    }
}
