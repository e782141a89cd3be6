/// Explorers that differ by a seed, tried one after another: a long run.
///
/// Each is named by what the series explores and, after the last hyphen, its seed, so that the path of a failure says which of them to replay.
///
/// ```swift
/// var series = CrashSeries { seed in Workload(seed: seed).explorer("append-\(seed)") }
/// let report = try series.run(states: 100_000)
/// ```
public struct CrashSeries<Model: Sendable> {
    /// The seed that comes next.
    public private(set) var nextSeed: UInt64

    private let explorer: (UInt64) -> CrashExplorer<Model>

    /// Makes a series that begins with a seed; `explorer` makes the one of any seed, with a name that ends in a hyphen and the seed.
    public init(from seed: UInt64 = 100, explorer: @escaping (_ seed: UInt64) -> CrashExplorer<Model>) {
        nextSeed = seed
        self.explorer = explorer
    }

    /// Tries one seed after another until there are so many states or a failure, or only the state of `CHATJOURNAL_CRASH`.
    ///
    /// - Throws: As ``CrashExplorer/run()``.
    public mutating func run(states: Int) throws -> CrashReport {
        if let path = try CrashPath.requested() { return try replay(path) ?? CrashReport(isReplay: true) }
        var report = CrashReport()
        while report.states < states && report.failures.isEmpty {
            let explorer = explorer(nextSeed)
            precondition(explorer.name.hasSuffix("-\(nextSeed)"), "the path of a failure of \(explorer.name) would not say its seed")
            report += try explorer.run()
            nextSeed += 1
        }
        return report
    }

    /// Tries the one state that a path leads to; nil when it is of no explorer of this series, whatever its seed.
    ///
    /// - Throws: As ``CrashExplorer/replay(_:)``.
    public func replay(_ path: CrashPath) throws -> CrashReport? {
        guard let hyphen = path.name.lastIndex(of: "-"), let seed = UInt64(path.name[path.name.index(after: hyphen)...]) else { return nil }
        let explorer = explorer(seed)
        return explorer.name == path.name ? try explorer.replay(path) : nil
    }
}
