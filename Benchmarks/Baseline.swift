import Foundation

/// The figures of an earlier run, as `--quick --json` printed them.
struct Baseline {
    /// The fraction of the former ratio to the floor that a ratio must reach.
    ///
    /// Absolute times are never compared, because machines differ.
    static let share = 1.0 / 3
    /// The factor by which a count may exceed the former one.
    ///
    /// Hash tables grow at random points, so a count differs slightly between runs.
    static let excess = 1.01
    private let figures: [Figure]

    init(_ path: String) throws {
        let decoder = JSONDecoder()
        figures = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
            try decoder.decode(Figure.self, from: Data(line.utf8))
        }
    }

    /// A figure that is worse than the baseline, or missing.
    struct Regression: CustomStringConvertible {
        var workload: String
        var description: String
        /// Whether a second measurement may differ.
        var isNoisy: Bool
    }

    /// Returns the regressions of a run.
    ///
    /// Ratios to the floor have a wide tolerance, counts and sizes on disk a narrow one.
    func regressions(of run: [Figure], wants: (String) -> Bool) -> [Regression] {
        figures.filter { wants($0.workload) }.compactMap { former in
            let found = run.filter { $0.workload == former.workload && $0.subject == former.subject && $0.unit == former.unit }
            let name = "\(former.workload), \(former.subject)"
            if found.isEmpty {
                // A platform that cannot count allocations reports none.
                if former.unit == Figure.allocations && !run.contains(where: { $0.unit == Figure.allocations }) { return nil }
                return Regression(workload: former.workload, description: "\(name): not measured", isNoisy: false)
            }
            if former.isExact {
                guard let worst = found.map(\.value).max(), worst > Self.excess * former.value else { return nil }
                return Regression(
                    workload: former.workload, description: "\(name): \(worst) \(former.unit), where it was \(former.value)", isNoisy: false
                )
            }
            guard let ratio = former.ratio, let best = found.compactMap(\.ratio).max(), best < Self.share * ratio else { return nil }
            return Regression(
                workload: former.workload, description: String(format: "\(name): %.3f of the floor, where it was %.3f", best, ratio),
                isNoisy: true)
        }
    }
}

extension Figure {
    static let allocations = "allocs"

    /// Whether the figure is a count or a size on disk, which hardly differs between runs.
    ///
    /// The memory of a process (workload M) also depends on the allocator.
    var isExact: Bool {
        [Self.allocations, "writes", "syncs", "reads"].contains(unit) || unit.hasPrefix("B/") && !workload.hasPrefix("M ")
    }
}
