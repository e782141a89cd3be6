/// One choice of a power failure: which version of one unsynced change is on the disk afterwards.
public struct PendingChoice: Hashable, Sendable, CustomStringConvertible {
    /// The subject, for example `durable: sector 1` or `rename a.tmp to a`.
    public let title: String
    /// The number of alternatives; a pick is the index of one of them.
    ///
    /// Alternative 0 is the durable version, the last one is the version that reads returned before
    /// the crash, and those between are the versions between. With
    /// ``SimulatedDisk/init(seed:tearsSectors:)``, the torn versions come before the whole ones.
    public let alternativeCount: Int

    /// The title and the number of alternatives.
    public var description: String { "\(title) (\(alternativeCount))" }
}

/// The pending changes that remain on the disk after a power failure.
public enum CrashOutcome: Hashable, Sendable {
    /// None: all unsynced changes are lost.
    case nothing
    /// All, in their last version: as if everything had been synced.
    case everything
    /// Only the last version of the choice with this index.
    case only(Int)
    /// Everything except the choice with this index.
    case allBut(Int)
    /// Random picks that are determined by a seed.
    ///
    /// The seed determines the share of kept choices, then for every choice whether it is kept and
    /// in which version.
    case random(seed: UInt64)
    /// These picks, one for each of ``SimulatedDisk/pendingChoices``, each below its number of
    /// alternatives.
    case picks([Int])

    /// Returns the picks for choices with these numbers of alternatives.
    func picks(_ alternativeCounts: [Int]) -> [Int] {
        switch self {
        case .nothing: return alternativeCounts.map { _ in 0 }
        case .everything: return alternativeCounts.map { $0 - 1 }
        case .only(let index): return alternativeCounts.indices.map { $0 == index ? alternativeCounts[$0] - 1 : 0 }
        case .allBut(let index): return alternativeCounts.indices.map { $0 == index ? 0 : alternativeCounts[$0] - 1 }
        case .picks(let picks): return picks
        case .random(let seed):
            var random = SeededRandom(seed: seed)
            let share = [0.1, 0.5, 0.5, 0.9][Int.random(in: 0..<4, using: &random)]
            return alternativeCounts.map { count in
                Double.random(in: 0..<1, using: &random) < share ? Int.random(in: 1..<count, using: &random) : 0
            }
        }
    }
}
