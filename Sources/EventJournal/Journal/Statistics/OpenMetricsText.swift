/// Builds a text exposition in OpenMetrics 1.0, which Prometheus scrapes.
///
/// Each call writes one metric family, its metadata and all its samples, because the format
/// requires them to be adjacent.
package struct OpenMetricsText {
    private let prefix: String
    private var text: String

    /// Continues a finished text: its families stay, its end marker moves.
    package init(continuing finished: String, prefix: String) {
        self.init(prefix: prefix, text: finished.hasSuffix("# EOF\n") ? String(finished.dropLast(6)) : finished)
    }

    /// Starts a text whose families are named `prefix_name`; each invalid character becomes `_`.
    package init(prefix: String) { self.init(prefix: prefix, text: "") }

    private init(prefix: String, text: String) {
        var name = ""
        for scalar in prefix.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_", ":": name.unicodeScalars.append(scalar)
            case "0"..."9": name.unicodeScalars.append(contentsOf: name.isEmpty ? ["_", scalar] : [scalar])
            default: name.append("_")
            }
        }
        self.prefix = name.isEmpty ? "_" : name
        self.text = text
    }

    /// Writes families with a longer prefix into the same text.
    package mutating func nested(_ name: String, _ write: (inout OpenMetricsText) -> Void) {
        var inner = OpenMetricsText(prefix: "\(prefix)_\(name)", text: text)
        write(&inner)
        text = inner.text
    }

    /// The complete text with its end marker.
    package var finished: String { text + "# EOF\n" }

    /// Writes a value that may increase and decrease; `unit` must be the suffix of the name.
    package mutating func gauge(_ name: String, _ help: String, unit: String? = nil, _ value: some BinaryInteger) {
        let family = begin(name, "gauge", help, unit)
        text += "\(family) \(value)\n"
    }

    /// Writes a value that only increases, starting at 0 at each opening.
    package mutating func counter(_ name: String, _ help: String, unit: String? = nil, _ value: UInt64) {
        let family = begin(name, "counter", help, unit)
        text += "\(family)_total \(value)\n"
    }

    /// Writes values that only increase, one for each value of a label.
    package mutating func counter(
        _ name: String, _ help: String, by label: String, _ values: [(label: String, count: UInt64)]
    ) {
        counter(name, help, by: [label], values.map { ([$0.label], $0.count) })
    }

    /// Writes values that only increase, one for each combination of values of the labels.
    package mutating func counter(
        _ name: String, _ help: String, by labels: [String], _ values: [(labels: [String], count: UInt64)]
    ) {
        let family = begin(name, "counter", help, nil)
        for value in values {
            let pairs = zip(labels, value.labels).map { "\($0)=\"\(Self.escaped($1))\"" }
            text += "\(family)_total{\(pairs.joined(separator: ","))} \(value.count)\n"
        }
    }

    /// Writes labels that do not change while the journal is open.
    package mutating func info(_ name: String, _ help: String, _ labels: [(name: String, value: String)]) {
        let family = begin(name, "info", help, nil)
        text +=
            "\(family)_info{\(labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ","))} 1\n"
    }

    /// Writes a histogram with cumulative buckets; `divisor` converts the values to the unit.
    package mutating func histogram(
        _ name: String, _ help: String, unit: String? = nil, _ histogram: JournalStatistics.Histogram,
        dividedBy divisor: Double = 1
    ) {
        let family = begin(name, "histogram", help, unit)
        var cumulative: UInt64 = 0
        for bucket in histogram.buckets {
            cumulative &+= bucket.count
            let bound = bucket.upperBound.map { "\(Double($0) / divisor)" } ?? "+Inf"
            text += "\(family)_bucket{le=\"\(bound)\"} \(cumulative)\n"
        }
        text += "\(family)_count \(histogram.count)\n"
        text += divisor == 1 ? "\(family)_sum \(histogram.sum)\n" : "\(family)_sum \(Double(histogram.sum) / divisor)\n"
    }

    /// Writes the metadata of a family and returns its name.
    private mutating func begin(_ name: String, _ type: String, _ help: String, _ unit: String?) -> String {
        let family = "\(prefix)_\(name)"
        text += "# TYPE \(family) \(type)\n"
        if let unit { text += "# UNIT \(family) \(unit)\n" }
        text += "# HELP \(family) \(Self.escaped(help))\n"
        return family
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
