import Foundation

/// The number of repetitions of a test: a sample by default, all cases in the long form.
///
/// `CHATJOURNAL_LONG=1` selects the long form. A seed determines each sample; every test run prints
/// it once.
package enum Repetitions {
    /// Whether the long form is selected.
    package static let areAll = ProcessInfo.processInfo.environment["CHATJOURNAL_LONG"].map { $0 != "0" } ?? false

    /// Returns the number of repetitions: `few` by default, `all` in the long form.
    package static func few(_ few: Int, of all: Int) -> Int {
        precondition(0 < few && few <= all)
        return areAll ? all : few
    }

    /// Returns a random case of every `share` consecutive cases by default, every case in the long
    /// form.
    ///
    /// - Parameter name: The name of the test, so that each test has its own cases under one seed.
    package static func oneIn(_ share: Int, of cases: Range<Int>, _ name: String = #function) -> [Int] {
        if areAll || share == 1 { return Array(cases) }
        var generator = SplitMix64(seed: seed ^ hash(name))
        return stride(from: cases.lowerBound, to: cases.upperBound, by: share).map { first in
            Int.random(in: first..<min(first + share, cases.upperBound), using: &generator)
        }
    }

    /// The seed of random cases and samples in this run.
    ///
    /// `CHATJOURNAL_SAMPLE` sets it alone; `CHATJOURNAL_SEED` replays a failure, and so also
    /// reduces the tests that have several seeds to this one.
    package static let seed: UInt64 = {
        let environment = ProcessInfo.processInfo.environment
        let given = ["CHATJOURNAL_SEED", "CHATJOURNAL_SAMPLE"].lazy.compactMap { name in
            environment[name].map { (name, $0) }
        }.first.map {
            guard let seed = UInt64($1) else { preconditionFailure("\($0) is not a seed: \($1)") }
            return seed
        }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("random cases and samples: CHATJOURNAL_SEED=\(seed)")
        return seed
    }()

    /// FNV-1a, because standard library hash values differ between runs.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
