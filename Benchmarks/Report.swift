import Foundation

/// A figure, its floor, and the bar that the ratio of the two has to reach.
struct Figure: Encodable {
    /// The name of the workload, such as `R2`, with what varies in it.
    var workload: String
    /// Whose figure it is.
    var subject: String
    var value: Double
    var unit: String
    /// The floor, measured in the same run by the same method; nil where there is none.
    var floor: Double?
    /// The figure by the floor, or the floor by the figure where less is better: 1 is the floor.
    var ratio: Double?
    /// What the ratio, or without one the figure, has to reach.
    var bar: String?
    /// The greatest distance of a run from the median, by the median.
    var spread: Double?
}

/// Prints figures as they come: one JSON object a line, or a table.
struct Report {
    let isJSON: Bool
    let filter: String?
    private var figures: [Figure] = []

    init(isJSON: Bool, filter: String?) {
        self.isJSON = isJSON
        self.filter = filter
    }

    /// Whether a workload is asked for.
    func wants(_ workload: String) -> Bool { filter.map { workload == $0 || workload.hasPrefix($0 + " ") } ?? true }

    mutating func add(_ figure: Figure) throws {
        figures.append(figure)
        guard isJSON else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(figure), as: UTF8.self))
    }

    func describeMachine() {
        if isJSON { return }
        let process = ProcessInfo.processInfo
        print("\(process.activeProcessorCount) cores, \(process.physicalMemory >> 30) GiB, \(process.operatingSystemVersionString)")
    }

    func finish() {
        if isJSON { return }
        print("workload                          subject           value unit           floor   ratio  spread  bar")
        for figure in figures {
            let columns = [
                pad(figure.workload, 34), pad(figure.subject, 10), padLeft(number(figure.value), 13), " ", pad(figure.unit, 9),
                padLeft(figure.floor.map(number) ?? "", 11), padLeft(figure.ratio.map { String(format: "%.2f", $0) } ?? "", 8),
                padLeft(figure.spread.map { String(format: "%.0f %%", $0 * 100) } ?? "", 8), "  ", figure.bar ?? "",
            ]
            print(columns.joined())
        }
    }

    private func number(_ value: Double) -> String {
        value >= 1_000 ? String(format: "%.0f", value) : String(format: "%.3g", value)
    }

    private func pad(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }

    private func padLeft(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }
}
