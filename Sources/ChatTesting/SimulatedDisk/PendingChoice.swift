/// One thing that a power cut decides: whether, and in which version, something that was not synced is on the disk afterwards.
public struct PendingChoice: Hashable, Sendable, CustomStringConvertible {
    /// What it is about: `durable: sector 1`, `rename a.tmp to a`.
    public let title: String
    /// How many values there are to pick from: 0 is what was durable, the last is what a program read before the crash; between them are
    /// the versions that came between; with ``SimulatedDisk/init(seed:tearsSectors:)``, torn versions come before the whole ones.
    public let alternatives: Int

    /// The title and the number of alternatives.
    public var description: String { "\(title) (\(alternatives))" }
}

/// Which of the pending changes a power cut leaves on the disk.
public enum CrashOutcome: Hashable, Sendable {
    /// None: all that was not synced is gone.
    case nothing
    /// All, in their last version: as if everything had been synced.
    case everything
    /// Only the last version of the choice with this index.
    case only(Int)
    /// Everything but the choice with this index.
    case allBut(Int)
    /// Values that follow from a seed: it decides how much is kept at all, then for every choice whether it is kept, and which version.
    case random(seed: UInt64)
    /// Exactly these values, one for each of ``SimulatedDisk/pendingChoices``, each below its number of alternatives.
    case picks([Int])

    /// The values picked among choices with these numbers of alternatives.
    func picks(_ radices: [Int]) -> [Int] {
        switch self {
        case .nothing: return radices.map { _ in 0 }
        case .everything: return radices.map { $0 - 1 }
        case .only(let index): return radices.indices.map { $0 == index ? radices[$0] - 1 : 0 }
        case .allBut(let index): return radices.indices.map { $0 == index ? 0 : radices[$0] - 1 }
        case .picks(let picks): return picks
        case .random(let seed):
            var random = SeededRandom(seed: seed)
            let share = [0.1, 0.5, 0.5, 0.9][Int.random(in: 0..<4, using: &random)]
            return radices.map { radix in
                Double.random(in: 0..<1, using: &random) < share ? Int.random(in: 1..<radix, using: &random) : 0
            }
        }
    }
}
