import Chat
import ChatDomain
import EventJournal

extension ToolCommand {
    static let stats = ToolCommand(
        spec: CommandSpec(
            "stats", "shows the size and the state of a journal in numbers", positionals: [.journal],
            options: [
                CommandSpec.Option("json", .flag, "print one JSON object"),
                CommandSpec.Option("metrics", .flag, "print OpenMetrics text, for Prometheus and others"),
            ],
            discussion: "A journal that cannot be opened has no numbers; 'verify' shows what is wrong with it.")
    ) { arguments, output in
        if arguments.hasFlag("json") && arguments.hasFlag("metrics") {
            throw arguments.error("--json and --metrics cannot be combined")
        }
        let store: ChatStore
        do {
            store = try arguments.openReadOnly()
        } catch let error as ChatError {
            throw StatsError(error: error, journal: arguments[positional: "JOURNAL"])
        }
        if arguments.hasFlag("metrics") {
            try output.write(store.statistics.openMetrics())
            return true
        }
        let report = try StatsReport(store)
        if arguments.hasFlag("json") { try output.writeLine(json: report) } else { try output.write(report.tables) }
        return true
    }
}

/// A journal that cannot be opened, and the command that reports details.
private struct StatsError: Error, CustomStringConvertible {
    let error: ChatError
    let journal: String

    /// Whether files are damaged: only then `verify` reports details.
    private var isDamage: Bool {
        switch error {
        case .journal(let error): error.code == .damaged
        case .undecodable: true
        case .rejected, .newerEvents, .erasureUnfinished, .batchTooLarge, .foreignToken, .futureToken, .rolledBackToken,
            .lagged, .cancelled, .incompleteThread:
            false
        }
    }

    var description: String { isDamage ? "\(error); '\(ToolSpec.name) verify \(journal)' tells more" : "\(error)" }
}

/// The numbers that `stats` shows.
private struct StatsReport {
    let statistics: StoreStatistics
    let head: JournalHead
    let clock: ClockStatus
    /// Nil for a log that is not in files.
    let journal: JournalStatistics?
    let segments: [SegmentStatistics]
    /// The number of events by kind; that of nil counts kinds unknown to this version.
    private var counts: [EventKind?: UInt64] = [:]

    init(_ store: ChatStore) throws(ChatError) {
        head = store.head
        statistics = store.statistics
        clock = store.clockStatus
        journal = statistics.journal
        segments = try store.segments()
        try store.forEachEvent(matching: EventFilter(as: .host)) { recorded, _ in
            counts[recorded.event.kind, default: 0] += 1
        }
    }

    private var events: [(kind: String, count: UInt64)] {
        (EventKind.allCases + [nil]).map { (kind: $0?.name ?? "unknown", count: counts[$0] ?? 0) }
    }
}

extension StatsReport: Encodable {
    private enum Key: CodingKey {
        case journal, position, lastPosition, durability, clean, liveWriter, bytes, unusedBytes, segments, recovery,
            checkpoint, users, threads, messages, replies, warnings, events
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(head.journal, forKey: .journal)
        try container.encode(head.position, forKey: .position)
        try container.encode(journal?.lastPosition ?? head.position, forKey: .lastPosition)
        if let journal {
            try container.encode(journal.durability, forKey: .durability)
            try container.encode(journal.recovery.wasClean, forKey: .clean)
            try container.encode(journal.recovery.hasLiveWriter, forKey: .liveWriter)
            try container.encode(journal.storedBytes, forKey: .bytes)
            try container.encode(journal.unusedBytes, forKey: .unusedBytes)
            try container.encode(segments.map(SegmentLine.init), forKey: .segments)
            try container.encode(journal.recovery, forKey: .recovery)
        }
        try container.encodeIfPresent(statistics.checkpoints, forKey: .checkpoint)
        try container.encode(statistics.userCount, forKey: .users)
        try container.encode(statistics.threadCount, forKey: .threads)
        try container.encode(statistics.messageCount, forKey: .messages)
        try container.encode(statistics.replyCount, forKey: .replies)
        if clock.isAhead { try container.encode(["clockAhead"], forKey: .warnings) }
        var kinds = container.nestedContainer(keyedBy: FieldKey.self, forKey: .events)
        for event in events { try kinds.encode(event.count, forKey: FieldKey(event.kind)) }
    }

    private struct SegmentLine: Encodable {
        let segment: SegmentStatistics

        private enum Key: CodingKey { case segment, positions, bytes }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(segment.name, forKey: .segment)
            try container.encode(segment.positions.map { [$0.lowerBound, $0.upperBound] }, forKey: .positions)
            try container.encode(segment.bytes, forKey: .bytes)
        }
    }
}

extension StatsReport {
    /// A table of the numbers, and one of the events by kind.
    var tables: String {
        var facts = Table([.init("JOURNAL"), .init("\(head.journal)")])
        let last = journal?.lastPosition ?? head.position
        facts.append(["positions", last == 0 ? "none" : "1...\(last), durable up to \(head.position)"])
        if let journal {
            facts.append(["durability", journal.durability.rawValue])
            facts.append(["state", journal.recovery.state])
            facts.append([
                "segments",
                "\(segments.count), \(journal.storedBytes) bytes of commits, "
                    + "\(journal.unusedBytes) bytes not used at the end",
            ])
            for sentence in journal.recovery.sentences { facts.append(["recovery", sentence]) }
        }
        if let checkpoints = statistics.checkpoints { facts.append(["checkpoint", checkpoints.sentence]) }
        facts.append(["users", "\(statistics.userCount)"])
        facts.append(["threads", "\(statistics.threadCount)"])
        facts.append(["messages", "\(statistics.messageCount)"])
        facts.append(["replies", "\(statistics.replyCount)"])
        if let warning = clock.warning { facts.append(["warning", warning]) }
        var kinds = Table([.init("EVENT"), .init("COUNT", .right)])
        for event in events where event.count > 0 { kinds.append([event.kind, "\(event.count)"]) }
        return facts.render() + "\n" + kinds.render()
    }
}

extension ClockStatus {
    /// What to do if the last recorded time is ahead of the clock; nil if it is not.
    var warning: String? {
        guard isAhead, let lastRecordedAt else { return nil }
        return
            "clockAhead: the last event was recorded at \(lastRecordedAt), ahead of the clock, \(now): set the clock, "
            + "or use '\(ToolSpec.name) correct-clock' if it was wrong then"
    }
}

extension CheckpointStatistics {
    /// The checkpoint of the read models that opening has used, in words.
    fileprivate var sentence: String {
        let replay = "\(replayedCount) events were replayed"
        if let loadedPosition { return "of position \(loadedPosition); \(replay)" }
        guard let ignoredReason, let ignoredReasonMessage, ignoredReason != "absent" else { return "none; \(replay)" }
        return "ignored (\(ignoredReason)): \(escapedForTerminal(ignoredReasonMessage)) \(replay)"
    }
}

extension RecoveryReport {
    /// Whether a writer has the journal open, or has closed it, in words.
    fileprivate var state: String {
        if hasLiveWriter { return "open by a writer now" }
        return wasClean ? "closed in good order" : "not closed in good order"
    }

    /// The findings of a reader's opening, in words.
    fileprivate var sentences: [String] {
        var sentences: [String] = []
        if let positions = recoveredPositions, !hasLiveWriter {
            sentences.append(
                "positions \(positions.lowerBound)...\(positions.upperBound) are valid but may not be synced; "
                    + "the next writer syncs them"
            )
        }
        if let bytes = cutBytes {
            sentences.append(
                "bytes \(bytes.lowerBound)..<\(bytes.upperBound) of \(cutSegment ?? "the last segment") "
                    + "are a torn write; the next writer removes them")
        }
        for slot in damagedSlots { sentences.append("slot \(slot) of the durable file cannot be read") }
        return sentences.isEmpty ? ["nothing to recover"] : sentences
    }
}
