import Foundation

/// What an earlier run came to: the lines that `--quick --json` printed then.
struct Baseline {
    /// The part of its former ratio to the floor that a time has to reach.
    ///
    /// Absolute times are never compared: machines differ.
    static let share = 1.0 / 3
    /// The factor by which a count may be above the former one: a few commands in a thousand make a table grow, at random.
    static let excess = 1.01
    private let figures: [Figure]

    init(_ path: String) throws {
        let decoder = JSONDecoder()
        figures = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
            try decoder.decode(Figure.self, from: Data(line.utf8))
        }
    }

    /// A figure that is not what it was.
    struct Regression: CustomStringConvertible {
        var workload: String
        var description: String
        /// Whether it may come out otherwise when it is measured again.
        var isNoisy: Bool
    }

    /// Compares a run: ratios to the floor grossly, counts and sizes on disk tightly.
    func regressions(of run: [Figure], wants: (String) -> Bool) -> [Regression] {
        figures.filter { wants($0.workload) }.compactMap { former in
            let found = run.filter { $0.workload == former.workload && $0.subject == former.subject && $0.unit == former.unit }
            let name = "\(former.workload), \(former.subject)"
            if found.isEmpty {
                // Where allocations cannot be counted, none are reported.
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

    /// Whether it is a count or a size on disk, the same in each run or nearly so.
    ///
    /// The memory of a process, workload M, also depends on the allocator.
    var isExact: Bool {
        [Self.allocations, "writes", "syncs", "reads"].contains(unit) || unit.hasPrefix("B/") && !workload.hasPrefix("M ")
    }
}
