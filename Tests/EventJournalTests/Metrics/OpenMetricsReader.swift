/// A minimal reader of OpenMetrics 1.0 text, written from the specification and independent of the
/// writer.
struct OpenMetricsReader {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    struct Sample: Equatable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    struct Family: Equatable {
        var type = ""
        var unit = ""
        var help = ""
        var samples: [Sample] = []
    }

    private(set) var families: [String: Family] = [:]
    private var current = ""

    init(_ text: String) throws(Problem) {
        guard text.hasSuffix("\n") else { throw Problem(description: "the last line has no newline") }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.removeLast()
        guard lines.popLast() == "# EOF" else { throw Problem(description: "the text does not end with # EOF") }
        for line in lines {
            if line.hasPrefix("#") { try readMetadata(line) } else { try readSample(line) }
        }
        for (name, family) in families { try check(name, family) }
    }

    private mutating func readMetadata(_ line: String) throws(Problem) {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard words.count == 4, words[0] == "#", Self.isName(words[2]) else {
            throw Problem(description: "no metadata: \(line)")
        }
        let name = words[2]
        if name != current {
            guard families[name] == nil else { throw Problem(description: "the family \(name) is not contiguous") }
            families[name] = Family()
            current = name
        }
        var family = families[name] ?? Family()
        guard family.samples.isEmpty else { throw Problem(description: "metadata after samples: \(line)") }
        switch words[1] {
        case "TYPE" where family.type.isEmpty && ["gauge", "counter", "histogram", "info"].contains(words[3]):
            family.type = words[3]
        case "UNIT" where family.unit.isEmpty && name.hasSuffix("_" + words[3]): family.unit = words[3]
        case "HELP" where family.help.isEmpty: family.help = words[3]
        default: throw Problem(description: "invalid metadata: \(line)")
        }
        families[name] = family
    }

    private mutating func readSample(_ line: String) throws(Problem) {
        var rest = line[...]
        let name = String(rest.prefix { $0 != "{" && $0 != " " })
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while rest.first != "}" {
                let label = String(rest.prefix { $0 != "=" })
                rest = rest.dropFirst(label.count)
                guard rest.hasPrefix("=\""), Self.isName(label), labels[label] == nil else {
                    throw Problem(description: "no label: \(line)")
                }
                rest = rest.dropFirst(2)
                labels[label] = try Self.readQuoted(&rest)
                if rest.first == "," { rest = rest.dropFirst() }
            }
            rest = rest.dropFirst()
        }
        guard rest.first == " ", let value = Double(rest.dropFirst()) else {
            throw Problem(description: "no value: \(line)")
        }
        let suffixes: [String]
        switch families[current]?.type {
        case "gauge": suffixes = [""]
        case "counter": suffixes = ["_total"]
        case "info": suffixes = ["_info"]
        case "histogram": suffixes = ["_bucket", "_count", "_sum"]
        default: throw Problem(description: "a sample without a family: \(line)")
        }
        guard suffixes.contains(where: { current + $0 == name }) else {
            throw Problem(description: "a sample of another family: \(line)")
        }
        let sample = Sample(name: name, labels: labels, value: value)
        if families[current]?.samples.contains(where: { $0.name == name && $0.labels == labels }) == true {
            throw Problem(description: "a duplicate sample: \(line)")
        }
        families[current]?.samples.append(sample)
    }

    /// Reads up to the closing quote and consumes it.
    private static func readQuoted(_ rest: inout Substring) throws(Problem) -> String {
        var value = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return value
            case "\\":
                switch rest.popFirst() {
                case "n": value.append("\n")
                case "\\": value.append("\\")
                case "\"": value.append("\"")
                default: throw Problem(description: "no escape")
                }
            default: value.append(character)
            }
        }
        throw Problem(description: "a quoted value has no closing quote")
    }

    private func check(_ name: String, _ family: Family) throws(Problem) {
        guard !family.samples.isEmpty, !family.help.isEmpty else { throw Problem(description: "\(name) is incomplete") }
        if family.type == "counter", family.samples.contains(where: { $0.value < 0 }) {
            throw Problem(description: "\(name) is below 0")
        }
        guard family.type == "histogram" else { return }
        let buckets = family.samples.filter { $0.name == name + "_bucket" }
        let bounds = buckets.compactMap { $0.labels["le"].flatMap(Double.init) }
        guard bounds.count == buckets.count, bounds.last == .infinity, zip(bounds, bounds.dropFirst()).allSatisfy(<),
            zip(buckets, buckets.dropFirst()).allSatisfy({ $0.value <= $1.value }),
            buckets.last?.value == family.samples.first(where: { $0.name == name + "_count" })?.value,
            family.samples.contains(where: { $0.name == name + "_sum" })
        else { throw Problem(description: "\(name) is not a valid histogram") }
    }

    private static func isName(_ text: String) -> Bool { text.wholeMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) != nil }
}
