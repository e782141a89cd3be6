import Foundation

/// How often a test repeats what it checks: a share by default, everything in the long form.
///
/// `CHATJOURNAL_LONG=1` asks for the long form. What a sample takes follows from a seed, which is
/// printed once for each run of the tests; `CHATJOURNAL_SEED` sets it.
package enum Repetitions {
    /// Whether the long form is asked for.
    package static let areAll = ProcessInfo.processInfo.environment["CHATJOURNAL_LONG"].map { $0 != "0" } ?? false

    /// The number of repetitions: `few` by default, `all` in the long form.
    package static func few(_ few: Int, of all: Int) -> Int {
        precondition(0 < few && few <= all)
        return areAll ? all : few
    }

    /// One case at random of every `share` in a row by default, each case in the long form.
    ///
    /// - Parameter name: The name of the test, so that one seed gives each test cases of its own.
    package static func oneIn(_ share: Int, of cases: Range<Int>, _ name: String = #function) -> [Int] {
        if areAll || share == 1 { return Array(cases) }
        var generator = SplitMix64(seed: seed ^ hash(name))
        return stride(from: cases.lowerBound, to: cases.upperBound, by: share).map { first in
            Int.random(in: first..<min(first + share, cases.upperBound), using: &generator)
        }
    }

    /// The seed of the random cases and samples of this run.
    package static let seed: UInt64 = {
        let given = ProcessInfo.processInfo.environment["CHATJOURNAL_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("random cases and samples: CHATJOURNAL_SEED=\(seed)")
        return seed
    }()

    /// FNV-1a, because the hash values of the standard library differ from run to run.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
