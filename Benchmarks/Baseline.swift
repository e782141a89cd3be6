import Foundation

/// The figures of an earlier run, as `--quick --json` printed them.
struct Baseline {
    /// The fraction of the former ratio to the floor that a ratio must reach.
    ///
    /// Absolute times are never compared, because machines differ.
    static let share = 1.0 / 3
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

    /// Says which counts of this run were made with another toolchain, and are not judged.
    func describeToolchains(of run: [Figure]) {
        let former = Set(figures.compactMap(\.toolchain))
        for toolchain in Set(run.compactMap(\.toolchain)).subtracting(former).sorted() {
            printError(
                "not judged: instructions with \(toolchain); those of the baseline are with \(former.sorted().joined(separator: "; "))"
            )
        }
    }

    /// Returns the regressions of a run.
    ///
    /// Ratios to the floor have a wide tolerance, counts and sizes on disk a narrow one
    /// (``Figure/tolerance``).
    func regressions(of run: [Figure], wants: (String) -> Bool) -> [Regression] {
        figures.filter { wants($0.workload) }.compactMap { former in
            let found = run.filter {
                $0.workload == former.workload && $0.subject == former.subject && $0.unit == former.unit
            }
            let name = "\(former.workload), \(former.subject)"
            if found.isEmpty {
                // What a machine cannot count it does not report.
                if former.isOptional && !run.contains(where: { $0.unit == former.unit }) { return nil }
                return Regression(workload: former.workload, description: "\(name): not measured", isNoisy: false)
            }
            if let excess = former.tolerance {
                // Another compiler or C library makes other instructions.
                guard let worst = found.max(by: { $0.value < $1.value }), worst.toolchain == former.toolchain,
                    worst.value > excess * former.value
                else { return nil }
                let times = String(format: "%.3f times", worst.value / former.value)
                return Regression(
                    workload: former.workload,
                    description: "\(name): \(worst.value) \(former.unit), \(times) as many as \(former.value)",
                    isNoisy: false)
            }
            guard let ratio = former.ratio, let best = found.compactMap(\.ratio).max(), best < Self.share * ratio else {
                return nil
            }
            return Regression(
                workload: former.workload,
                description: String(format: "\(name): %.3f of the floor, where it was %.3f", best, ratio),
                isNoisy: true)
        }
    }
}

extension Figure {
    static let allocations = "allocs"
    static let instructions = "instr"

    /// Whether not every machine can measure the figure.
    var isOptional: Bool { [Self.allocations, Self.instructions].contains(unit) }

    /// The factor by which a count or a size on disk may exceed the former one; nil for a figure
    /// that is noisy.
    ///
    /// Hash tables grow at random points, so a count differs slightly between runs. The memory of a
    /// process (workload M) also depends on the allocator.
    var tolerance: Double? {
        switch unit {
        case Self.instructions: 1.03
        case Self.allocations, "writes", "syncs", "reads": 1.01
        default: unit.hasPrefix("B/") && !workload.hasPrefix("M ") ? 1.01 : nil
        }
    }
}
