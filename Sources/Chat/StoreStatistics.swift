public import ChatDomain
public import EventJournal
import Projections

/// The contents of a store and its activity since opening: ``ChatStore/statistics``.
public struct StoreStatistics: Hashable, Sendable, Codable {
    /// The journal's statistics; nil if the log is not a `Journal`.
    public var journal: JournalStatistics?
    /// The number of durable users.
    public var userCount: Int
    /// The number of durable threads.
    public var threadCount: Int
    /// The number of durable messages, including retracted and removed ones.
    public var messageCount: Int
    /// The number of durable replies, including retracted and removed ones.
    public var replyCount: Int
    /// The outcomes of the commands decided since opening.
    public var commands: CommandStatistics
    /// The number of appended events that are not yet durable and therefore not yet visible.
    public var pendingEventCount: Int
    /// The number of posts with open reports that reach no user:
    /// ``ChatStore/unattendedReportCount``.
    public var unattendedReportCount: Int
    /// The checkpoint statistics; nil if they are disabled or the log is not a `CheckpointLog`.
    public var checkpoints: CheckpointStatistics?

    private enum CodingKeys: String, CodingKey {
        case journal
        case userCount = "users"
        case threadCount = "threads"
        case messageCount = "messages"
        case replyCount = "replies"
        case commands
        case pendingEventCount = "eventsWaiting"
        case unattendedReportCount = "unattendedReports"
        case checkpoints
    }
}

/// The number of decided commands by outcome, excluding commands of a failed commit.
public struct CommandStatistics: Hashable, Sendable {
    /// The number of commands that appended events.
    public var appended: UInt64 = 0
    /// The number of commands whose effect already held.
    public var unchanged: UInt64 = 0
    /// The number of commands whose id the same command had already used.
    public var duplicates: UInt64 = 0
    /// The number of rejected commands by code; codes without rejections are absent.
    public var rejected: [Rejection.Code: UInt64] = [:]

    /// The number of decided commands.
    public var total: UInt64 { rejected.values.reduce(appended &+ unchanged &+ duplicates, &+) }

    static func += (all: inout CommandStatistics, some: CommandStatistics) {
        all.appended &+= some.appended
        all.unchanged &+= some.unchanged
        all.duplicates &+= some.duplicates
        all.rejected.merge(some.rejected, uniquingKeysWith: &+)
    }
}

extension StoreStatistics {
    /// Returns the statistics of the store and its journal as OpenMetrics 1.0 text, for example for
    /// Prometheus.
    ///
    /// The journal's families are named as in `JournalStatistics.openMetrics(prefix:)`, after
    /// `prefix_journal_`. The store's own families:
    ///
    /// | family | type | value |
    /// | --- | --- | --- |
    /// | `users`, `threads`, `messages`, `replies` | gauge | the durable counts |
    /// | `events_waiting` | gauge | ``pendingEventCount`` |
    /// | `unattended_reports` | gauge | ``unattendedReportCount`` |
    /// | `commands` | counter | accepted commands by `outcome`: `appended`, `unchanged`, `duplicate` |
    /// | `commands_refused` | counter | rejected commands by `code`, for every `Rejection.Code` |
    /// | `events_replayed` | gauge | ``CheckpointStatistics/replayedCount`` |
    /// | `checkpoints` | counter | checkpoints by `outcome`: `written`, `failed` |
    /// | `checkpoint_position` | gauge | the position of the last checkpoint written |
    ///
    /// - Parameter prefix: The prefix of every name, without the separating `_`. Invalid characters
    ///   become `_`.
    /// - Returns: The text, terminated by `# EOF`. Serve it as
    ///   `JournalStatistics.openMetricsContentType`.
    public func openMetrics(prefix: String = "chat") -> String {
        var text = OpenMetricsText(prefix: prefix)
        text.gauge("users", "Users.", userCount)
        text.gauge("threads", "Threads.", threadCount)
        text.gauge("messages", "Messages, including retracted ones.", messageCount)
        text.gauge("replies", "Replies, including retracted ones.", replyCount)
        text.gauge("events_waiting", "Appended events that are not yet durable.", pendingEventCount)
        text.gauge(
            "unattended_reports", "Posts with open reports that no moderator and no operator can read.",
            unattendedReportCount)
        text.counter(
            "commands", "Accepted commands.", by: "outcome",
            [("appended", commands.appended), ("unchanged", commands.unchanged), ("duplicate", commands.duplicates)])
        text.counter(
            "commands_refused", "Rejected commands.", by: "code",
            Rejection.Code.allCases.map { ($0.rawValue, commands.rejected[$0] ?? 0) })
        if let checkpoints {
            text.gauge("events_replayed", "Events replayed at opening.", Int(clamping: checkpoints.replayedCount))
            text.counter(
                "checkpoints", "Checkpoints by outcome.", by: "outcome",
                [("written", checkpoints.writtenCount), ("failed", checkpoints.failureCount)])
            if let last = checkpoints.lastWritten {
                text.gauge(
                    "checkpoint_position", "The position of the last checkpoint written.", Int(clamping: last.position))
            }
        }
        if let journal { text.nested("journal") { journal.write(to: &$0) } }
        return text.finished
    }
}

extension CommandStatistics: Codable {
    private enum CodingKeys: String, CodingKey {
        case appended, unchanged, duplicates
        case rejected = "refused"
    }

    /// Decodes the counts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        appended = try container.decode(UInt64.self, forKey: .appended)
        unchanged = try container.decode(UInt64.self, forKey: .unchanged)
        duplicates = try container.decode(UInt64.self, forKey: .duplicates)
        let codes = try container.nestedContainer(keyedBy: FieldKey.self, forKey: .rejected)
        for key in codes.allKeys {
            rejected[Rejection.Code(rawValue: key.stringValue)] = try codes.decode(UInt64.self, forKey: key)
        }
    }

    /// Encodes `{"appended":7,"unchanged":0,"duplicates":1,"refused":{"notAMember":2}}`.
    ///
    /// Known codes come in declaration order, followed by unknown codes sorted by text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(appended, forKey: .appended)
        try container.encode(unchanged, forKey: .unchanged)
        try container.encode(duplicates, forKey: .duplicates)
        var codes = container.nestedContainer(keyedBy: FieldKey.self, forKey: .rejected)
        let others = Set(rejected.keys).subtracting(Rejection.Code.allCases).sorted { $0.rawValue < $1.rawValue }
        for code in Rejection.Code.allCases + others {
            if let count = rejected[code] { try codes.encode(count, forKey: FieldKey(code.rawValue)) }
        }
    }
}

/// The checkpoint activity of a store since it was opened.
public struct CheckpointStatistics: Hashable, Sendable, Codable {
    /// The position of the loaded checkpoint; nil if opening replayed from the first event.
    public var loadedPosition: Position?
    /// The stable name of the reason why opening loaded no checkpoint; nil if it loaded one.
    ///
    /// One of `absent`, `unreadable`, `damaged`, `otherVersion`, `otherJournal`, `beyondEnd`,
    /// `otherHistory` and `beforeErasure`.
    public var ignoredReason: String?
    /// The same reason as a sentence.
    public var ignoredReasonMessage: String?
    /// The duration of loading the checkpoint, in seconds.
    public var loadSeconds: Double = 0
    /// The number of events that opening replayed.
    public var replayedCount: UInt64 = 0
    /// The number of checkpoints of the store's own read models written.
    ///
    /// Those of custom projections do not count.
    public var writtenCount: UInt64 = 0
    /// The last checkpoint written.
    public var lastWritten: WrittenCheckpoint?
    /// The number of checkpoints that could not be written, those of custom projections included.
    ///
    /// A failure affects only the duration of the next opening.
    public var failureCount: UInt64 = 0
    /// The reason of the latest failure, as a sentence.
    public var lastFailure: String?

    private enum CodingKeys: String, CodingKey {
        case loadedPosition = "loaded"
        case ignoredReason = "ignored"
        case ignoredReasonMessage = "ignoredMessage"
        case loadSeconds
        case replayedCount = "replayed"
        case writtenCount = "written"
        case lastWritten = "last"
        case failureCount = "failures"
        case lastFailure
    }

    /// A checkpoint that was written.
    public struct WrittenCheckpoint: Hashable, Sendable, Codable {
        /// The last position that the checkpoint covers.
        public var position: Position
        /// The size of its file, in bytes.
        public var bytes: UInt64
        /// The duration of writing it, in seconds.
        public var seconds: Double
        /// The time at which the write finished.
        public var at: Timestamp
    }

    mutating func ignore(_ problem: CheckpointProblem) {
        (ignoredReason, ignoredReasonMessage) = (problem.code.rawValue, problem.message)
    }
}
