import Foundation

/// Compares this program with the same one of another build, in alternating runs.
///
/// Each round runs the other build, this one, and the other one again: the quotient of the two runs
/// of the same build is what the machine alone does.
struct Pairs {
    let program: String
    let other: String
    let count: Int
    let isJSON: Bool
    let directory: String

    /// A figure of both builds, over all rounds.
    private struct Comparison: Encodable {
        var workload: String
        var subject: String
        var unit: String
        /// The median of the other build.
        var old: Double
        /// The median of this build.
        var new: Double
        /// The median of the rounds' quotients; above 1, this build is faster or smaller.
        var quotient: Double
        /// The greatest distance of a round's quotient from the median, divided by the median.
        var spread: Double
        /// The same of the other build's two runs in a round.
        var oldAgainstOld: Double
        var oldSpread: Double
    }

    private struct Key: Hashable {
        var workload: String
        var subject: String
        var unit: String
    }

    /// Runs both builds, and prints a line for each figure that both have.
    func run(_ arguments: [String]) throws {
        var rounds: [(before: [Figure], new: [Figure], after: [Figure])] = []
        for number in 1...count {
            printError("round \(number) of \(count)")
            rounds.append(
                (
                    try figures(other, "old", arguments), try figures(program, "new", arguments),
                    try figures(other, "old", arguments)
                ))
        }
        var seen: Set<Key> = []
        if !isJSON {
            printLine(
                "workload                              subject                old         new unit       quotient spread  old/old spread"
            )
        }
        for figure in rounds[0].new {
            let key = Key(workload: figure.workload, subject: figure.subject, unit: figure.unit)
            guard seen.insert(key).inserted else { continue }
            let values = rounds.compactMap { round in
                value(key, round.before).flatMap { before in
                    value(key, round.new).flatMap { new in
                        value(key, round.after).map { (before: before, new: new, after: $0) }
                    }
                }
            }
            guard values.count == rounds.count else {
                printError("not in both builds: \(key.workload), \(key.subject), \(key.unit)")
                continue
            }
            // A rate is better if it is larger, all else if it is smaller.
            let isRate = key.unit.hasSuffix("/s")
            let quotients = Median(values.map { isRate ? $0.new / $0.before : $0.before / $0.new })
            let same = Median(values.map { isRate ? $0.after / $0.before : $0.before / $0.after })
            try show(
                Comparison(
                    workload: key.workload, subject: key.subject, unit: key.unit,
                    old: Median(values.flatMap { [$0.before, $0.after] }).value,
                    new: Median(values.map(\.new)).value, quotient: quotients.value, spread: quotients.spread,
                    oldAgainstOld: same.value,
                    oldSpread: same.spread))
        }
    }

    private func value(_ key: Key, _ figures: [Figure]) -> Double? {
        figures.first {
            $0.workload == key.workload && $0.subject == key.subject && $0.unit == key.unit && $0.value != 0
        }?.value
    }

    private func show(_ comparison: Comparison) throws {
        if isJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return printLine(String(decoding: try encoder.encode(comparison), as: UTF8.self))
        }
        printLine(
            pad(comparison.workload, 38) + pad(comparison.subject, 12) + padLeft(number(comparison.old), 14)
                + padLeft(number(comparison.new), 12) + " " + pad(comparison.unit, 11)
                + padLeft(String(format: "%.3f", comparison.quotient), 8) + padLeft(percent(comparison.spread), 7)
                + padLeft(String(format: "%.3f", comparison.oldAgainstOld), 9)
                + padLeft(percent(comparison.oldSpread), 7))
    }

    /// Runs a build, and returns its figures.
    ///
    /// Each build has a directory of its own, because the other one may have another format.
    private func figures(_ program: String, _ folder: String, _ arguments: [String]) throws -> [Figure] {
        let place = "\(directory)/\(folder)"
        try makeDirectory(place)
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments + ["--json", "--directory", place]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw UsageError("\(program) ended with \(process.terminationStatus)")
        }
        let decoder = JSONDecoder()
        return try data.split(separator: UInt8(ascii: "\n")).map { try decoder.decode(Figure.self, from: $0) }
    }
}
