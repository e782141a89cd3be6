public import ChatDomain
public import EventJournal
import Locking
import Projections

/// What a store holds, and what it has done since it was opened: ``ChatStore/statistics``.
public struct StoreStatistics: Hashable, Sendable, Codable {
    /// The journal under the store; nil where the log is not a ``EventJournal/Journal``.
    public var journal: JournalStatistics?
    /// The users that are shown.
    public var users: Int
    /// The threads that are shown.
    public var threads: Int
    /// The messages that are shown, the retracted ones too.
    public var messages: Int
    /// The replies that are shown, the retracted ones too.
    public var replies: Int
    /// What became of the commands decided since opening.
    public var commands: CommandStatistics
    /// The events that were decided and appended and wait until they are durable to be shown.
    public var eventsWaiting: Int
    /// What checkpoints have done; nil where they are switched off, and on a log that is no journal.
    public var checkpoints: CheckpointStatistics?
}

/// How many commands came to what, counted as they are decided; a command of a commit that failed is not counted.
public struct CommandStatistics: Hashable, Sendable {
    /// Those that appended events.
    public var appended: UInt64 = 0
    /// Those whose effect held already.
    public var unchanged: UInt64 = 0
    /// Those whose id had been used by the same command before.
    public var duplicates: UInt64 = 0
    /// Those that were refused, by the rule that they broke; only rules that were broken are there.
    public var refused: [Rejection.Code: UInt64] = [:]

    /// All that were decided.
    public var total: UInt64 { refused.values.reduce(appended &+ unchanged &+ duplicates, &+) }
}

extension StoreStatistics {
    /// The statistics as a text that Prometheus and whoever else reads OpenMetrics 1.0 can scrape: one text for the store and its journal.
    ///
    /// The journal's families are named as ``JournalStatistics/openMetrics(prefix:)`` says, after `prefix_journal_`. The store's own:
    ///
    /// | family | type | is |
    /// | --- | --- | --- |
    /// | `users`, `threads`, `messages`, `replies` | gauge | what is shown |
    /// | `events_waiting` | gauge | ``eventsWaiting`` |
    /// | `commands` | counter | commands accepted, by `outcome`: `appended`, `unchanged`, `duplicate` |
    /// | `commands_refused` | counter | commands refused, by the `code` of every ``ChatDomain/Rejection/Code`` |
    /// | `events_replayed` | gauge | ``CheckpointStatistics/replayed`` |
    /// | `checkpoints` | counter | checkpoints by `outcome`: `written`, `failed` |
    /// | `checkpoint_position` | gauge | the position of the last checkpoint that was written |
    ///
    /// - Parameter prefix: What the names begin with, before a `_`; characters that a name cannot have become `_`.
    /// - Returns: The text, which ends with `# EOF`. Serve it as ``JournalStatistics/openMetricsContentType``.
    public func openMetrics(prefix: String = "chat") -> String {
        var text = OpenMetricsText(prefix: prefix)
        text.gauge("users", "Users.", users)
        text.gauge("threads", "Threads.", threads)
        text.gauge("messages", "Messages, the retracted ones too.", messages)
        text.gauge("replies", "Replies, the retracted ones too.", replies)
        text.gauge("events_waiting", "Events appended that wait until they are durable to be shown.", eventsWaiting)
        text.counter(
            "commands", "Commands that were not refused.", by: "outcome",
            [("appended", commands.appended), ("unchanged", commands.unchanged), ("duplicate", commands.duplicates)])
        text.counter(
            "commands_refused", "Commands that were refused.", by: "code",
            Rejection.Code.allCases.map { ($0.rawValue, commands.refused[$0] ?? 0) })
        if let checkpoints {
            text.gauge("events_replayed", "Events that opening replayed.", Int(clamping: checkpoints.replayed))
            text.counter(
                "checkpoints", "Checkpoints, by what became of them.", by: "outcome",
                [("written", checkpoints.written), ("failed", checkpoints.failures)])
            if let last = checkpoints.last {
                text.gauge("checkpoint_position", "The position of the last checkpoint written.", Int(clamping: last.position))
            }
        }
        if let journal { text.nested("journal") { journal.write(to: &$0) } }
        return text.finished
    }
}

extension CommandStatistics: Codable {
    private enum CodingKeys: CodingKey { case appended, unchanged, duplicates, refused }

    /// Reads the counts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        appended = try container.decode(UInt64.self, forKey: .appended)
        unchanged = try container.decode(UInt64.self, forKey: .unchanged)
        duplicates = try container.decode(UInt64.self, forKey: .duplicates)
        let codes = try container.nestedContainer(keyedBy: FieldKey.self, forKey: .refused)
        for key in codes.allKeys {
            refused[Rejection.Code(rawValue: key.stringValue)] = try codes.decode(UInt64.self, forKey: key)
        }
    }

    /// Writes `{"appended":7,"unchanged":0,"duplicates":1,"refused":{"notAMember":2}}`, the codes in the order of their
    /// declaration, then those of another version in that of their text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(appended, forKey: .appended)
        try container.encode(unchanged, forKey: .unchanged)
        try container.encode(duplicates, forKey: .duplicates)
        var codes = container.nestedContainer(keyedBy: FieldKey.self, forKey: .refused)
        let others = Set(refused.keys).subtracting(Rejection.Code.allCases).sorted { $0.rawValue < $1.rawValue }
        for code in Rejection.Code.allCases + others {
            if let count = refused[code] { try codes.encode(count, forKey: FieldKey(code.rawValue)) }
        }
    }
}

/// What checkpoints have done for a store since it was opened.
public struct CheckpointStatistics: Hashable, Sendable, Codable {
    /// The position of the checkpoint that opening began with; nil where it replayed from the first event.
    public var loaded: Position?
    /// A stable name of the reason why there was none to begin with: `absent`, `unreadable`, `damaged`, `otherVersion`, `otherJournal`, `beyondEnd`, `otherHistory` or
    /// `beforeErasure`.
    public var ignored: String?
    /// That reason as a sentence.
    public var ignoredMessage: String?
    /// How long reading the checkpoint took, in seconds.
    public var loadSeconds: Double = 0
    /// How many events opening replayed.
    public var replayed: UInt64 = 0
    /// How many checkpoints have been written.
    public var written: UInt64 = 0
    /// The latest of them.
    public var last: Written?
    /// How many could not be written; nothing but the time of an opening is lost by that.
    public var failures: UInt64 = 0
    /// Why the latest of those could not, as a sentence.
    public var lastFailure: String?

    /// A checkpoint that was written.
    public struct Written: Hashable, Sendable, Codable {
        /// Its position.
        public var position: Position
        /// The size of its file.
        public var bytes: UInt64
        /// How long writing it took, in seconds.
        public var seconds: Double
        /// When that was done.
        public var at: Timestamp
    }

    mutating func ignore(_ problem: CheckpointProblem) { (ignored, ignoredMessage) = (problem.code.rawValue, problem.message) }
}
