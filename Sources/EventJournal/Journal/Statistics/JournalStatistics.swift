/// What a journal holds, and what it has done since it was opened: ``Journal/statistics``.
///
/// Numbers "since opening" begin at 0 with each opening and never decrease; the others describe the moment.
public struct JournalStatistics: Hashable, Sendable {
    /// The journal's identity.
    public var journal: JournalID
    /// The durability that the journal is open with.
    public var durability: Durability
    /// Whether it is open for reading only.
    public var isReadOnly: Bool
    /// The last position appended, 0 when there is none.
    public var lastPosition: Position
    /// The last position that is durable under the journal's mode, 0 when there is none.
    public var durablePosition: Position
    /// The number of segment files.
    public var segments: Int
    /// The bytes of the commits in all segments, their headers included; segment headers and space that is not used are not.
    public var storedBytes: UInt64
    /// The bytes of the last segment's file that no commit takes: reserved for the next ones, or (reading only) what was found there.
    public var unusedBytes: UInt64
    /// The bytes of the commits appended since opening.
    public var appendedBytes: UInt64
    /// The number of records of each commit appended since opening.
    public var recordsPerCommit: Histogram
    /// How many commits each sync since opening made durable: the batch of a group commit.
    ///
    /// 0 where everything was synced already, as at a close.
    public var commitsPerSync: Histogram
    /// How long each sync since opening took, in nanoseconds, with the writing of the durable slot: what the one who leads it waits.
    ///
    /// The bounds are 1.024 µs to 17.2 s. A sync that failed is not counted: it stops the journal. Those of the opening are not either.
    public var syncLatency: Histogram
    /// How often a segment was sealed because it was full and a new one begun, since opening.
    public var rotations: UInt64
    /// How many appends and reservations were refused with `storageFull` since opening.
    public var refusedAsFull: UInt64
    /// How many threads and tasks wait for a sync that the journal or another thread leads.
    public var waiters: Int
    /// Why the journal has stopped; nil while it has not.
    public var failure: Failure?
    /// How far scrubbing has come.
    public var scrub: ScrubProgress
    /// What opening found and did.
    public var recovery: RecoveryReport

    /// Why a journal has stopped.
    public struct Failure: Hashable, Sendable, Codable {
        /// The stable text of the error's code, such as `syncFailed`.
        public var code: String
        /// The error's sentence.
        public var message: String
    }
}

extension JournalStatistics {
    /// The commits appended since opening.
    public var appendedCommits: UInt64 { recordsPerCommit.count }

    /// The records appended since opening.
    public var appendedRecords: UInt64 { recordsPerCommit.sum }

    /// The syncs since opening: of those who waited, of segments that were full, of the close, and under `.written` of each 8 MiB.
    public var syncs: UInt64 { syncLatency.count }
}

extension JournalStatistics: Codable {
    private enum CodingKeys: String, CodingKey {
        case journal, durability, isReadOnly, lastPosition, durablePosition, segments, storedBytes, unusedBytes, appendedBytes,
            recordsPerCommit, commitsPerSync, syncLatency
        case rotations = "rollOvers"
        case refusedAsFull, waiters, failure, scrub, recovery
    }

    /// Writes every field under its name; a `failure` that is not there is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(journal, forKey: .journal)
        try container.encode(durability, forKey: .durability)
        try container.encode(isReadOnly, forKey: .isReadOnly)
        try container.encode(lastPosition, forKey: .lastPosition)
        try container.encode(durablePosition, forKey: .durablePosition)
        try container.encode(segments, forKey: .segments)
        try container.encode(storedBytes, forKey: .storedBytes)
        try container.encode(unusedBytes, forKey: .unusedBytes)
        try container.encode(appendedBytes, forKey: .appendedBytes)
        try container.encode(recordsPerCommit, forKey: .recordsPerCommit)
        try container.encode(commitsPerSync, forKey: .commitsPerSync)
        try container.encode(syncLatency, forKey: .syncLatency)
        try container.encode(rotations, forKey: .rotations)
        try container.encode(refusedAsFull, forKey: .refusedAsFull)
        try container.encode(waiters, forKey: .waiters)
        try container.encode(failure, forKey: .failure)
        try container.encode(scrub, forKey: .scrub)
        try container.encode(recovery, forKey: .recovery)
    }
}

/// A segment file of a journal: ``Journal/segments``.
public struct SegmentStatistics: Hashable, Sendable {
    /// The name of the file.
    public var name: String
    /// The positions in it; nil when it is empty.
    public var positions: ClosedRange<Position>?
    /// The bytes of its commits, their headers included; the segment's header and space that is not used are not.
    public var bytes: UInt64
}

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

/// How far scrubbing has come.
public struct ScrubProgress: Hashable, Sendable, Codable {
    /// The last position that this pass has checked; 0 at the beginning of a pass.
    public var position: Position = 0
    /// The passes over all sealed segments that came to their end, kept across openings.
    public var passes: UInt64 = 0
    /// The findings of this opening, by scrubbing alone.
    public var findings: UInt64 = 0

    init() {}
}
