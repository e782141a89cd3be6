/// A long run: crash explorers with different seeds, one after another.
///
/// The name of each explorer ends with a hyphen and its seed, so that the path of a failure
/// identifies the explorer to replay.
///
/// ```swift
/// var series = CrashSeries { seed in
///     var explorer = CrashExplorer("opening-\(seed)", model: 0) { disk, _ in
///         _ = try openStore(on: disk)
///     } recovery: { disk, _ in
///         _ = try openStore(on: disk)
///     }
///     explorer.seed = seed
///     return explorer
/// }
/// let report = try series.run(states: 100)
/// ```
public struct CrashSeries<Model: Sendable> {
    /// The next seed.
    public private(set) var nextSeed: UInt64

    private let explorer: (UInt64) throws -> CrashExplorer<Model>

    /// Creates a series; `explorer` returns the explorer of a seed, whose name ends in `-SEED`.
    public init(from seed: UInt64 = 100, explorer: @escaping (_ seed: UInt64) throws -> CrashExplorer<Model>) {
        nextSeed = seed
        self.explorer = explorer
    }

    /// Tries one seed after another until this number of states, or a failure.
    ///
    /// If `CHATJOURNAL_CRASH` is set, tries only its state.
    ///
    /// - Throws: As ``CrashExplorer/run()``, and the errors of making an explorer.
    public mutating func run(states: Int) throws -> CrashReport {
        if let path = try CrashPath.requestedPath() { return try replay(path) ?? CrashReport(isReplay: true) }
        var report = CrashReport()
        while report.states < states && report.failures.isEmpty {
            let explorer = try explorer(nextSeed)
            precondition(
                explorer.name.hasSuffix("-\(nextSeed)"),
                "The name '\(explorer.name)' must end with a hyphen and the seed.")
            report += try explorer.run()
            nextSeed += 1
        }
        return report
    }

    /// Tries only the state that a path names; nil if no explorer of this series has the name.
    ///
    /// - Throws: As ``CrashExplorer/replay(_:)``, and the errors of making an explorer.
    public func replay(_ path: CrashPath) throws -> CrashReport? {
        guard let hyphen = path.name.lastIndex(of: "-"), let seed = UInt64(path.name[path.name.index(after: hyphen)...])
        else { return nil }
        let explorer = try explorer(seed)
        return explorer.name == path.name ? try explorer.replay(path) : nil
    }
}
