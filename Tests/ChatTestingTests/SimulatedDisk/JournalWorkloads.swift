import ChatTesting
import EventJournal
import Testing

/// The lives of journals that the crash suites cut off.
enum JournalWorkload: String, CaseIterable, CustomTestStringConvertible {
    /// A commit at a time, waited for.
    case synced
    /// Commits that nobody waits for, and a sync now and then.
    case written
    /// Several commits for each sync.
    case group
    /// Commits of several sectors, some longer than a segment.
    case long
    /// Opened several times, closed or not, in either durability.
    case reopened
    /// Read and refreshed, synchronised and scrubbed while it is written, over several segments, in one durability and then the other.
    case attended
    /// Commits whose content reads as commits, but for the salt.
    case forged

    var testDescription: String { rawValue }

    /// Whether a recovery takes so long that the short run tries fewer outcomes of each crash.
    var isSlow: Bool { self == .attended || self == .forged }

    /// The explorer of this life; the seed decides sizes and order.
    func explorer(seed: UInt64, commits: Int = 10) -> CrashExplorer<JournalModel> {
        var model = JournalModel()
        if self == .written { model.durability = .written }
        if self == .long { model.segmentSize = 2048 }
        var explorer = CrashExplorer("journal-\(rawValue)-\(commits)-\(seed)", model: model) { disk, witness in
            var random = SeededRandom(seed: seed)
            try run(disk, witness, commits, &random)
        } recovery: { disk, witness in
            try JournalRecovery.check(disk, witness, isAttended: self == .attended)
        }
        explorer.seed = seed
        explorer.crashesAfterKill = 2
        return explorer
    }

    /// Longer lives like this one, with more outcomes of each crash.
    func series() -> CrashSeries<JournalModel> {
        CrashSeries { seed in
            var explorer = explorer(seed: seed, commits: 12)
            explorer.outcomesPerCrash = 256
            explorer.crashesAfterKill = 16
            return explorer
        }
    }

    private func run(
        _ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>, _ commits: Int, _ random: inout SeededRandom
    ) throws {
        if self == .reopened { return try reopen(disk, witness, commits, &random) }
        if self == .attended { return try attend(disk, witness, commits, &random) }
        let writer = try ModelWriter(disk, witness)
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
        _ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>, _ commits: Int, _ random: inout SeededRandom
    ) throws {
        var left = commits
        while left > 0 {
            witness.update { $0.durability = random.oneIn(2) ? .synced : .written }
            let writer = try ModelWriter(disk, witness)
            for _ in 0..<Int.random(in: 0...min(3, left), using: &random) {
                try writer.append(&random, wait: random.oneIn(2))
                left -= 1
            }
            left -= 1
            // Left open, the journal goes as it does when its process is killed: what was written is there, the lock is not.
            if random.oneIn(2) { try writer.close() }
        }
    }

    private func attend(
        _ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>, _ commits: Int, _ random: inout SeededRandom
    ) throws {
        // One reader sees both lives of the writer, the recovery between them included.
        var reader: ModelReader?
        for durability in [Durability.synced, .written] {
            witness.update { $0.durability = durability }
            let writer = try ModelWriter(disk, witness)
            let attendant = try reader ?? ModelReader(disk, witness)
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
