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

    var testDescription: String { rawValue }

    /// The explorer of this life; the seed decides sizes and order.
    func explorer(seed: UInt64, commits: Int = 10) -> CrashExplorer<JournalModel> {
        var model = JournalModel()
        if self == .written { model.durability = .written }
        if self == .long { model.segmentSize = 2048 }
        var explorer = CrashExplorer("journal-\(rawValue)-\(commits)-\(seed)", model: model) { disk, witness in
            var random = SeededRandom(seed: seed)
            try run(disk, witness, commits, &random)
        } recovery: { disk, witness in
            try JournalRecovery.check(disk, witness)
        }
        explorer.seed = seed
        return explorer
    }

    private func run(
        _ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>, _ commits: Int, _ random: inout SeededRandom
    ) throws {
        if self == .reopened { return try reopen(disk, witness, commits, &random) }
        let writer = try ModelWriter(disk, witness)
        for number in 1...commits {
            switch self {
            case .synced, .reopened: try writer.append(&random)
            case .written:
                try writer.append(&random)
                if number % 7 == 0 { try writer.synchronize() }
            case .group: try writer.append(&random, wait: random.oneIn(3))
            case .long: try writer.append(&random, wait: random.oneIn(2), longest: 1500)
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
}
