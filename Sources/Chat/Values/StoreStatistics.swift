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

extension ChatStore {
    /// What the store holds and has done since it was opened.
    ///
    /// The journal's numbers are of one moment, so are those of the commands, and those of what is shown; commands that run meanwhile may
    /// come between the three. Waits for the store's locks, which are held for one commit at a time, and at the end of a segment for its
    /// sync.
    ///
    /// - Complexity: O(*t*) in the number of threads.
    public var statistics: StoreStatistics {
        let (commands, head) = decider.withLock { ($0.commands, $0.rules.head) }
        let journal = journal?.statistics
        let checkpoints = checkpointer.flatMap { $0.options == nil ? nil : $0.statistics }
        let sections = presentSections
        let now = sections.view.position
        let threads = sections.places(sections.ask { $0.scanOfThreads() }).count
        return sections.ask { models in
            StoreStatistics(
                journal: journal, users: models.userCount(asOf: now), threads: threads,
                messages: models.messageCount(asOf: now), replies: models.replyCount(asOf: now), commands: commands,
                eventsWaiting: Int(clamping: head - min(now, head)), checkpoints: checkpoints)
        }
    }

    /// The segments of the journal under the store, in order; none where the log is not a ``EventJournal/Journal``.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if one of them cannot be read.
    /// - Complexity: Linear in the number of segments.
    public func segments() throws(ChatError) -> [SegmentStatistics] {
        try wrapping { () throws(JournalError) in try journal?.segments() ?? [] }
    }
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
