import Primitives

/// The contents of a journal and its counters since it was opened: ``Journal/statistics``.
///
/// Counters "since opening" start at 0 at each opening and never decrease. The other values
/// describe the current moment.
public struct JournalStatistics: Hashable, Sendable {
    /// The journal's identity.
    public var journal: JournalID
    /// The durability mode of the open journal.
    public var durability: Durability
    /// Whether the journal was opened for reading only.
    public var isReadOnly: Bool
    /// The last position appended; 0 when the journal is empty.
    public var lastPosition: Position
    /// The last position that is durable under the journal's mode; 0 when the journal is empty.
    public var durablePosition: Position
    /// The number of segment files.
    public var segments: Int
    /// The bytes of the commits in all segments.
    ///
    /// Includes commit headers, but not segment headers and unused space.
    public var storedBytes: UInt64
    /// The bytes of the last segment's file after its last commit.
    ///
    /// They are reserved for the next commits. In a read-only journal, it is the value at opening.
    public var unusedBytes: UInt64
    /// The bytes of the commits appended since opening.
    public var appendedBytes: UInt64
    /// The number of records of each commit appended since opening.
    public var recordsPerCommit: Histogram
    /// The number of commits that each sync since opening made durable: the batch size of group
    /// commit.
    ///
    /// 0 for a sync of commits that were already synced, for example at the close.
    public var commitsPerSync: Histogram
    /// The duration of each sync since opening in nanoseconds, including the write of the durable
    /// slot.
    ///
    /// The bounds are 1.024 µs and 17.2 s. A failed sync, which stops the journal, and the syncs of
    /// the opening are not counted.
    public var syncLatency: Histogram
    /// The number of rotations since opening: full segments that were sealed and followed by a new
    /// one.
    public var rotations: UInt64
    /// The number of appends and reservations rejected with `storageFull` since opening.
    public var storageFullRejections: UInt64
    /// The number of threads and tasks that wait for a sync led by the journal or another thread.
    public var waiters: Int
    /// The error that stopped the journal; nil while it works.
    public var failure: Failure?
    /// The progress of scrubbing.
    public var scrub: ScrubProgress
    /// What recovery found and changed when the journal was opened.
    public var recovery: RecoveryReport

    /// The error that stopped a journal.
    public struct Failure: Hashable, Sendable, Codable {
        /// The stable text of the error's code, such as `syncFailed`.
        public var code: String
        /// The error's sentence.
        public var message: String
    }
}

extension JournalStatistics {
    /// The number of commits appended since opening.
    public var appendedCommits: UInt64 { recordsPerCommit.count }

    /// The number of records appended since opening.
    public var appendedRecords: UInt64 { recordsPerCommit.sum }

    /// The number of syncs since opening.
    ///
    /// Includes the syncs for waiting callers, rotations and the close, and the background syncs:
    /// under `.written` one every 8 MiB.
    public var syncs: UInt64 { syncLatency.count }
}

extension JournalStatistics: Codable {
    private enum CodingKeys: String, AbsentAsNullKey {
        case journal, durability, isReadOnly, lastPosition, durablePosition, segments, storedBytes, unusedBytes,
            appendedBytes,
            recordsPerCommit, commitsPerSync, syncLatency
        // Stable keys of the tool's output, older than the names of the properties.
        case rotations = "rollOvers"
        case storageFullRejections = "refusedAsFull"
        case waiters, failure, scrub, recovery
    }
}

/// A segment file of a journal: ``Journal/segments()``.
public struct SegmentStatistics: Hashable, Sendable {
    /// The name of the file.
    public var name: String
    /// The positions in the segment; nil if it is empty.
    public var positions: ClosedRange<Position>?
    /// The bytes of the segment's commits, including commit headers but not its own header and
    /// unused space.
    public var bytes: UInt64
}

extension JournalStatistics {
    /// The media type of ``openMetrics(prefix:)``, for the `Content-Type` header of the response to
    /// a scrape.
    public static let openMetricsContentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// Returns the statistics as an OpenMetrics 1.0 text, which Prometheus can scrape.
    ///
    /// Counters start at 0 at each opening, as after a restart of a process. Times are in seconds.
    /// The names of the families are stable; new families may be added:
    ///
    /// | family | type | value |
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
    /// | `refused_full` | counter | ``storageFullRejections`` |
    /// | `waiters` | gauge | ``waiters`` |
    /// | `stopped` | gauge | 1 when ``failure`` is not nil |
    /// | `scrub_position`, `scrub_passes`, `scrub_findings` | gauge | ``scrub`` |
    /// | `scrub_last_findings` | gauge | the number of ``ScrubProgress/Pass/findings`` of the last whole pass; absent before one |
    /// | `scrub_age_seconds` | gauge | the time since the end of that pass; absent before one |
    /// | `recovery_clean` | gauge | 1 when the last writer closed the journal cleanly |
    /// | `recovery_recovered_records` | gauge | the number of ``RecoveryReport/recoveredPositions`` |
    /// | `recovery_cut_bytes` | gauge | the number of ``RecoveryReport/cutBytes`` |
    /// | `recovery_damaged_slots` | gauge | the number of ``RecoveryReport/damagedSlots`` |
    ///
    /// - Parameter prefix: The prefix of all names, followed by `_`; each invalid character becomes
    ///   `_`.
    /// - Returns: The text, which ends with `# EOF`. Serve it as ``openMetricsContentType``.
    /// - Complexity: Constant; about a hundred lines.
    public func openMetrics(prefix: String = "event_journal") -> String {
        var text = OpenMetricsText(prefix: prefix)
        write(to: &text)
        return text.finished
    }

    package func write(to text: inout OpenMetricsText) {
        text.info(
            "opening", "The journal and its mode.",
            [
                ("journal", journal.description), ("durability", durability.rawValue),
                ("mode", isReadOnly ? "read" : "write"),
            ])
        text.gauge("last_position", "The last position appended.", lastPosition)
        text.gauge("durable_position", "The last position that is durable under the journal's mode.", durablePosition)
        text.gauge("segments", "Segment files.", segments)
        text.gauge("stored_bytes", "Bytes of the commits in all segments.", unit: "bytes", storedBytes)
        text.gauge("unused_bytes", "Bytes of the last segment's file without commits.", unit: "bytes", unusedBytes)
        text.counter("appended_bytes", "Bytes of the commits appended.", unit: "bytes", appendedBytes)
        text.histogram("commit_records", "Records of each commit appended.", recordsPerCommit)
        text.histogram("sync_commits", "Commits that each sync made durable.", commitsPerSync)
        text.histogram("sync_duration_seconds", "Duration of each sync.", unit: "seconds", syncLatency, dividedBy: 1e9)
        text.counter("roll_overs", "Segments sealed because they were full.", rotations)
        text.counter(
            "refused_full", "Appends and reservations rejected because the disk was full.", storageFullRejections)
        text.gauge("waiters", "Threads and tasks waiting for a sync led by another.", waiters)
        text.gauge("stopped", "Whether a failed write or sync has stopped the journal.", failure == nil ? 0 : 1)
        text.gauge("scrub_position", "The last position checked in this scrub pass.", scrub.position)
        text.gauge("scrub_passes", "Completed scrub passes.", scrub.passes)
        text.gauge("scrub_findings", "Findings of scrubbing since opening.", scrub.findings)
        if let pass = scrub.lastPass {
            text.gauge("scrub_last_findings", "Findings of the last whole scrub pass.", pass.findings)
            text.gauge(
                "scrub_age_seconds", "Time since the end of the last whole scrub pass.", unit: "seconds",
                pass.age / 1_000)
        }
        text.gauge("recovery_clean", "Whether the last writer closed the journal cleanly.", recovery.wasClean ? 1 : 0)
        text.gauge(
            "recovery_recovered_records", "Records recovered beyond the position recorded as synced.",
            recovery.recoveredPositions.map { $0.upperBound - $0.lowerBound &+ 1 } ?? 0)
        text.gauge(
            "recovery_cut_bytes", "Bytes of a torn write after the last commit.", unit: "bytes",
            recovery.cutBytes.map { $0.upperBound - $0.lowerBound } ?? 0)
        text.gauge("recovery_damaged_slots", "Damaged slots of the durable file.", recovery.damagedSlots.count)
    }
}

/// The progress of scrubbing.
public struct ScrubProgress: Hashable, Sendable, Codable {
    /// The last position checked in this pass; 0 at the start of a pass.
    public var position: Position = 0
    /// The number of completed passes over all sealed segments, kept across openings.
    public var passes: UInt64 = 0
    /// The number of findings of scrubbing since opening.
    public var findings: UInt64 = 0
    /// The last whole pass, kept across openings; nil before one.
    public var lastPass: Pass?
    /// The number of findings of this pass, also before the opening.
    var passFindings: UInt64 = 0

    /// A whole pass over the sealed segments.
    public struct Pass: Hashable, Sendable, Codable {
        /// The time at its end, in milliseconds since 1970.
        public var endedAt: UInt64
        /// The number of its findings.
        public var findings: UInt64

        /// The time since its end in milliseconds; 0 if the clock was set back before it.
        public var age: UInt64 {
            let now = SystemCalls.millisecondsSince1970()
            return now - min(now, endedAt)
        }
    }

    private enum CodingKeys: CodingKey { case position, passes, findings, lastPass }

    /// Whether scrubbing has found damage, in this pass or in the last whole one.
    public var hasFindings: Bool { passFindings > 0 || findings > 0 || lastPass?.findings ?? 0 > 0 }

    init() {}
}
