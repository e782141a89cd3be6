import Foundation

/// Returns the seconds that a closure takes.
func seconds<Failure: Error>(_ work: () throws(Failure) -> Void) throws(Failure) -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try work()
    let passed = (clock.now - start).components
    return Double(passed.seconds) + Double(passed.attoseconds) * 1e-18
}

/// The median of several runs.
struct Median {
    private(set) var values: [Double] = []

    init(_ values: [Double] = []) { self.values = values }

    mutating func add(_ value: Double) { values.append(value) }

    var value: Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

    /// The greatest distance of a run from the median, divided by the median.
    var spread: Double { value == 0 ? 0 : (values.map { abs($0 - value) }.max() ?? 0) / value }
}

/// Returns the resident memory of this process in bytes; 0 on a platform without `/proc`.
func residentBytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
        let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
        let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
    else { return 0 }
    return (Int(kilobytes) ?? 0) << 10
}
