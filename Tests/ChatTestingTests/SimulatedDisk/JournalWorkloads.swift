import ChatTesting
import EventJournal
import Testing

/// Journal workloads that the crash suites interrupt.
enum JournalWorkload: String, CaseIterable, CustomTestStringConvertible {
    /// Waits for each commit.
    case synced
    /// Commits without waiters, with occasional syncs.
    case written
    /// Several commits per sync.
    case group
    /// Commits of several sectors; some exceed a segment.
    case long
    /// Reopened several times, with or without a close, in either durability.
    case reopened
    /// Read, refreshed, synchronized and scrubbed during writes, over several segments, in one
    /// durability and then the other.
    case attended
    /// Commits whose content looks like commits, apart from the salt.
    case forged

    var testDescription: String { rawValue }

    /// Whether recovery is slow, so that the short run tests fewer outcomes per crash.
    var isSlow: Bool { self == .attended || self == .forged }

    /// Returns the explorer of this workload; the seed determines sizes and order.
    func explorer(seed: UInt64, commits: Int = 10) -> CrashExplorer<JournalModel> {
        var model = JournalModel()
        if self == .written { model.durability = .written }
        if self == .long { model.segmentSize = 2048 }
        var explorer = CrashExplorer("journal-\(rawValue)-\(commits)-\(seed)", model: model) { disk, recorder in
            var random = SeededRandom(seed: seed)
            try run(disk, recorder, commits, &random)
        } recovery: { disk, recorder in
            try JournalRecovery.check(disk, recorder, isAttended: self == .attended)
        }
        explorer.seed = seed
        explorer.crashesAfterKill = 2
        return explorer
    }

    /// Longer workloads of this kind with more outcomes per crash.
    func series() -> CrashSeries<JournalModel> {
        CrashSeries { seed in
            var explorer = explorer(seed: seed, commits: 12)
            explorer.outcomesPerCrash = 256
            explorer.crashesAfterKill = 16
            return explorer
        }
    }

    private func run(
        _ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>, _ commits: Int, _ random: inout SeededRandom
    ) throws {
        if self == .reopened { return try reopen(disk, recorder, commits, &random) }
        if self == .attended { return try attend(disk, recorder, commits, &random) }
        let writer = try ModelWriter(disk, recorder)
        for number in 1...commits {
            switch self {
            case .synced, .reopened, .attended: try writer.append(&random)
            case .written:
                try writer.append(&random)
                if number % 7 == 0 { try writer.synchronize() }
            case .group: try writer.append(&random, wait: random.oneIn(3))
            case .long: try writer.append(&random, wait: random.oneIn(2), longest: 1500)
            case .forged: try writer.appendForged(&random, wait: random.oneIn(2))
            }
        }
        if writer.journal.durability == .synced { try writer.wait() }
        try writer.close()
    }

    private func reopen(
        _ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>, _ commits: Int, _ random: inout SeededRandom
    ) throws {
        var left = commits
        while left > 0 {
            recorder.update { $0.durability = random.oneIn(2) ? .synced : .written }
            let writer = try ModelWriter(disk, recorder)
            for _ in 0..<Int.random(in: 0...min(3, left), using: &random) {
                try writer.append(&random, wait: random.oneIn(2))
                left -= 1
            }
            left -= 1
            // An open journal ends as in a killed process: its writes stay, its lock is released.
            if random.oneIn(2) { try writer.close() }
        }
    }

    private func attend(
        _ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>, _ commits: Int, _ random: inout SeededRandom
    ) throws {
        // One reader sees both lifetimes of the writer and the recovery between them.
        var reader: ModelReader?
        for durability in [Durability.synced, .written] {
            recorder.update { $0.durability = durability }
            let writer = try ModelWriter(disk, recorder)
            let attendant = try reader ?? ModelReader(disk, recorder)
            reader = attendant
            for number in 1...(commits / 2 + 1) {
                try writer.append(&random, wait: random.oneIn(2), longest: 300)
                try attendant.refresh()
                if number % 3 == 2 { try writer.synchronize() }
                if random.oneIn(2) { try writer.scrub() }
            }
            try attendant.refresh()
        }
    }
}
