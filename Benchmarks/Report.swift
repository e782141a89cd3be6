import Foundation

/// A figure, its floor, and the target for their ratio.
struct Figure: Codable {
    /// The name of the workload, such as `R2`, and its variant.
    var workload: String
    /// The program that was measured, such as `Chat`.
    var subject: String
    var value: Double
    var unit: String
    /// The floor, measured in the same run by the same method; nil if there is none.
    var floor: Double?
    /// The figure divided by the floor, or the floor divided by the figure if less is better.
    ///
    /// 1 is the floor, and more is better. A figure without a floor is compared with a fixed size.
    var ratio: Double?
    /// The target for the ratio.
    var target: Double?
    /// The greatest distance of a run from the median, divided by the median.
    var spread: Double?
    /// What a count of instructions depends on besides the sources.
    var toolchain: String?

    private enum CodingKeys: CodingKey { case workload, subject, value, unit, floor, ratio, target, spread, toolchain }

    /// Encodes all fields; a missing value is null.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(workload, forKey: .workload)
        try container.encode(subject, forKey: .subject)
        try container.encode(value, forKey: .value)
        try container.encode(unit, forKey: .unit)
        try container.encode(floor, forKey: .floor)
        try container.encode(ratio, forKey: .ratio)
        try container.encode(target, forKey: .target)
        try container.encode(spread, forKey: .spread)
        try container.encode(toolchain, forKey: .toolchain)
    }
}

/// Collects figures, and prints them as JSON lines at once or as a table at the end.
struct Report {
    let isJSON: Bool
    let filter: String?
    private(set) var figures: [Figure] = []

    init(isJSON: Bool, filter: String?) {
        self.isJSON = isJSON
        self.filter = filter
    }

    /// Whether the filter selects a workload.
    func wants(_ workload: String) -> Bool { filter.map { workload == $0 || workload.hasPrefix($0 + " ") } ?? true }

    mutating func add(_ figure: Figure) throws {
        figures.append(figure)
        guard isJSON else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        printLine(String(decoding: try encoder.encode(figure), as: UTF8.self))
    }

    /// Says on standard error what could not be measured.
    func skip(_ what: String) { printError("SKIPPED: \(what)") }

    func describeMachine() {
        if isJSON { return }
        let process = ProcessInfo.processInfo
        printLine(
            "\(process.activeProcessorCount) cores, \(process.physicalMemory >> 30) GiB, \(process.operatingSystemVersionString)"
        )
    }

    func finish() {
        if isJSON { return }
        printLine(
            "workload                              subject                  value unit           floor   ratio  spread target"
        )
        for figure in figures {
            let columns = [
                pad(figure.workload, 38), pad(figure.subject, 17), padLeft(number(figure.value), 13), " ",
                pad(figure.unit, 9),
                padLeft(figure.floor.map(number) ?? "", 11),
                padLeft(figure.ratio.map { String(format: $0 < 0.1 ? "%.2g" : "%.2f", $0) } ?? "", 8),
                padLeft(figure.spread.map(percent) ?? "", 8), "  ",
                padLeft(figure.target.map { String(format: "%.2f", $0) } ?? "", 5),
                mark(figure),
            ]
            printLine(columns.joined())
        }
    }

    /// Marks a figure that does not reach its target.
    private func mark(_ figure: Figure) -> String {
        guard let (ratio, target) = figure.ratio.flatMap({ ratio in figure.target.map { (ratio, $0) } }), ratio < target
        else { return "" }
        return "  below"
    }
}

/// Returns a number with at least three digits.
func number(_ value: Double) -> String {
    value >= 1_000 ? String(format: "%.0f", value) : String(format: "%.3g", value)
}

func percent(_ share: Double) -> String { String(format: "%.0f %%", share * 100) }

func pad(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }

func padLeft(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}
