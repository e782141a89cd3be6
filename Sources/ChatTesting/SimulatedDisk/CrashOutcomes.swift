/// The outcomes of one crash to try: all of them if they are few, otherwise a sample.
///
/// The sample always contains the extreme outcomes.
struct CrashOutcomes {
    /// The maximum number of choices whose combinations are all tried.
    static let enumerableChoices = 12

    private let image: DiskImage
    private let radices: [Int]
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
        radices = image.radices
        let count = radices.reduce(1) { count, radix in count > exhaustive ? count : count * radix }
        if radices.count <= Self.enumerableChoices && count <= exhaustive {
            enumerate()
        } else {
            sample(limit, seed)
        }
    }

    private mutating func enumerate() {
        var counter = radices.map { _ in 0 }
        while true {
            add(counter)
            guard let place = counter.indices.first(where: { counter[$0] + 1 < radices[$0] }) else { return }
            for index in 0..<place { counter[index] = 0 }
            counter[place] += 1
        }
    }

    private mutating func sample(_ limit: Int, _ seed: UInt64) {
        add(CrashOutcome.nothing.picks(radices))
        add(CrashOutcome.everything.picks(radices))
        for index in radices.indices {
            add(CrashOutcome.only(index).picks(radices))
            add(CrashOutcome.allBut(index).picks(radices))
        }
        var random = SeededRandom(seed: seed)
        // Many choices can give few distinct disks, so the number of attempts is bounded.
        var attempts = 4 * limit
        while picks.count < limit && attempts > 0 {
            attempts -= 1
            add(CrashOutcome.random(seed: random.next()).picks(radices))
        }
    }

    private mutating func add(_ outcome: [Int]) {
        let canonical = image.canonical(outcome)
        if seen.insert(canonical).inserted { picks.append(canonical) }
    }
}
