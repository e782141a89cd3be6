import Foundation
import Testing

@testable import EventJournal

@Suite struct HistogramTests {
    /// Values of all magnitudes, with the bucket bounds and their neighbours.
    private static func values(_ generator: inout SeededGenerator) -> [UInt64] {
        (0..<Int.random(in: 0...300, using: &generator)).map { _ in
            let power: UInt64 = 1 << UInt64.random(in: 0...63, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: return power
            case 1: return power - 1
            case 2: return power + 1
            case 3: return [0, 1, .max, .max - 1][Int.random(in: 0..<4, using: &generator)]
            default: return UInt64.random(in: 0...power, using: &generator)
            }
        }
    }

    private static func exponents(_ generator: inout SeededGenerator) -> ClosedRange<Int> {
        let first = Int.random(in: 0...62, using: &generator)
        return first...Int.random(in: first...62, using: &generator)
    }

    private static func histogram(_ exponents: ClosedRange<Int>, _ values: [UInt64]) -> JournalStatistics.Histogram {
        var histogram = JournalStatistics.Histogram(powersOfTwo: exponents)
        for value in values { histogram.record(value) }
        return histogram
    }

    @Test(arguments: 0..<40) func bucketsEqualNaiveCounts(_ round: Int) throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        let exponents = Self.exponents(&generator)
        let values = Self.values(&generator)
        let histogram = Self.histogram(exponents, values)

        var lower: UInt64?
        var expected: [(bound: UInt64?, count: Int)] = []
        for bound in exponents.map({ UInt64(pow(2, Double($0))) }) {
            expected.append((bound, values.count { $0 <= bound && $0 > lower ?? 0 || lower == nil && $0 == 0 }))
            lower = bound
        }
        expected.append((nil, values.count { $0 > lower ?? 0 }))
        #expect(histogram.buckets.map(\.upperBound) == expected.map(\.bound), "CHATJOURNAL_SEED=\(seed)")
        #expect(histogram.buckets.map(\.count) == expected.map { UInt64($0.count) }, "CHATJOURNAL_SEED=\(seed)")
        #expect(histogram.count == UInt64(values.count), "CHATJOURNAL_SEED=\(seed)")
        let sum = values.reduce(UInt128(0)) { $0 + UInt128($1) }
        #expect(histogram.sum == UInt64(clamping: sum), "CHATJOURNAL_SEED=\(seed)")
        #expect(histogram.maximum == values.max() ?? 0, "CHATJOURNAL_SEED=\(seed)")
    }

    @Test(arguments: 0..<40) func quantileErrorIsBounded(_ round: Int) throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        let exponents = Self.exponents(&generator)
        let values = Self.values(&generator).sorted()
        let histogram = Self.histogram(exponents, values)
        let first: UInt64 = 1 << UInt64(exponents.lowerBound)
        let last: UInt64 = 1 << UInt64(exponents.upperBound)
        let fractions = [0, 0.5, 0.99, 1] + (0..<20).map { _ in Double.random(in: 0...1, using: &generator) }
        for fraction in fractions {
            guard let estimate = histogram.quantile(fraction) else {
                #expect(values.isEmpty, "CHATJOURNAL_SEED=\(seed)")
                continue
            }
            let rank = max(1, Int((fraction * Double(values.count)).rounded(.up)))
            let exact = values[rank - 1]
            #expect(estimate >= exact, "CHATJOURNAL_SEED=\(seed) \(fraction)")
            if exact <= first {
                #expect(estimate <= first, "CHATJOURNAL_SEED=\(seed) \(fraction)")
            } else if exact <= last {
                #expect(UInt128(estimate) < 2 * UInt128(exact), "CHATJOURNAL_SEED=\(seed) \(fraction)")
            } else {
                #expect(estimate == values.last, "CHATJOURNAL_SEED=\(seed) \(fraction)")
            }
        }
    }

    @Test func fractionsAreClamped() {
        let histogram = Self.histogram(0...10, [1, 100, 1000])
        #expect(histogram.quantile(-1) == 1)
        #expect(histogram.quantile(.nan) == 1)
        #expect(histogram.quantile(0.5) == 128)
        #expect(histogram.quantile(.infinity) == 1000)
        #expect(JournalStatistics.Histogram(powersOfTwo: 0...10).quantile(0.5) == nil)
        #expect(histogram.mean == 367)
        #expect(JournalStatistics.Histogram(powersOfTwo: 0...10).mean == 0)
    }

    @Test(arguments: 0..<10) func jsonRoundTrips(_ round: Int) throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        let histogram = Self.histogram(Self.exponents(&generator), Self.values(&generator))
        let json = try JSONEncoder().encode(histogram)
        #expect(
            try JSONDecoder().decode(JournalStatistics.Histogram.self, from: json) == histogram,
            "CHATJOURNAL_SEED=\(seed)")
    }

    @Test(arguments: [
        #"{"count":1,"sum":1,"maximum":1,"firstBound":3,"counts":[1,0]}"#,
        #"{"count":1,"sum":1,"maximum":1,"firstBound":0,"counts":[1,0]}"#,
        #"{"count":1,"sum":1,"maximum":1,"firstBound":1,"counts":[1]}"#,
        #"{"count":0,"sum":0,"maximum":0,"firstBound":1,"counts":[]}"#,
        #"{"count":1,"sum":1,"maximum":1,"firstBound":4611686018427387904,"counts":[1,0,0]}"#,
        #"{"count":2,"sum":1,"maximum":1,"firstBound":1,"counts":[1,0]}"#,
        #"{"count":0,"sum":1,"maximum":1,"firstBound":1,"counts":[1,18446744073709551615]}"#,
    ]) func invalidJSONIsRejected(_ text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(JournalStatistics.Histogram.self, from: Data(text.utf8))
        }
    }
}
