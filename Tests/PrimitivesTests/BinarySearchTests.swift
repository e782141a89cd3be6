import Primitives
import TestSupport
import Testing

@Suite struct BinarySearchTests {
    @Test func partitioningIndexIsFirstSatisfyingIndex() {
        var random = SplitMix64(seed: Repetitions.seed)
        for _ in 0..<600 {
            let list = (0..<Int.random(in: 0...40, using: &random)).map { _ in Int.random(in: 0...30, using: &random) }
                .sorted()
            let bound = Int.random(in: -1...31, using: &random)
            let expected = list.firstIndex { $0 > bound } ?? list.count
            var calls = 0
            let found = list.partitioningIndex { element in
                calls += 1
                return element > bound
            }
            #expect(found == expected, "\(list), \(bound)")
            #expect(calls <= 6)
            // A slice keeps the indices of its base.
            let cut = list.count / 3
            #expect(list[cut...].partitioningIndex { $0 > bound } == max(cut, expected), "\(list), \(bound)")
            #expect((UInt64(0)..<UInt64(list.count)).partitioningIndex { list[Int($0)] > bound } == UInt64(expected))
        }
    }
}
