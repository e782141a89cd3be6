/// The outcomes of one crash to try: all of them if they are few, otherwise a sample.
///
/// The sample always contains the extreme outcomes.
struct OutcomeSelection {
    /// The maximum number of choices whose combinations are all tried.
    ///
    /// ``CrashExplorer/exhaustiveLimit`` also limits the number of combinations.
    static let maximumEnumeratedChoices = 12

    private let image: DiskImage
    private let alternativeCounts: [Int]
    private var seen: Set<[Int]> = []
    private(set) var picks: [[Int]] = []

    /// Lists the distinct outcomes to try for a crash of this disk.
    ///
    /// - Parameters:
    ///   - exhaustive: The maximum number of outcomes up to which all are tried.
    ///   - limit: The size of a sample. The extreme outcomes (nothing, everything, each choice
    ///     alone, each choice left out) are included even if they exceed it.
    ///   - seed: The seed of the sample.
    init(_ image: DiskImage, exhaustive: Int, limit: Int, seed: UInt64) {
        self.image = image
        alternativeCounts = image.alternativeCounts
        let count = alternativeCounts.reduce(1) { count, alternatives in
            count > exhaustive ? count : count * alternatives
        }
        if alternativeCounts.count <= Self.maximumEnumeratedChoices && count <= exhaustive {
            enumerate()
        } else {
            sample(limit, seed)
        }
    }

    private mutating func enumerate() {
        var counter = alternativeCounts.map { _ in 0 }
        while true {
            add(counter)
            guard let place = counter.indices.first(where: { counter[$0] + 1 < alternativeCounts[$0] }) else { return }
            for index in 0..<place { counter[index] = 0 }
            counter[place] += 1
        }
    }

    private mutating func sample(_ limit: Int, _ seed: UInt64) {
        add(CrashOutcome.nothing.picks(alternativeCounts))
        add(CrashOutcome.everything.picks(alternativeCounts))
        for index in alternativeCounts.indices {
            add(CrashOutcome.only(index).picks(alternativeCounts))
            add(CrashOutcome.allBut(index).picks(alternativeCounts))
        }
        var random = SeededRandom(seed: seed)
        // Many choices can give few distinct disks, so the number of attempts is bounded.
        var attempts = 4 * limit
        while picks.count < limit && attempts > 0 {
            attempts -= 1
            add(CrashOutcome.random(seed: random.next()).picks(alternativeCounts))
        }
    }

    private mutating func add(_ outcome: [Int]) {
        let canonical = image.canonicalPicks(outcome)
        if seen.insert(canonical).inserted { picks.append(canonical) }
    }
}
