import Primitives
import TestSupport
import Testing

/// Position sets, compared with a set of single positions.
@Suite struct PositionSetTests {
    /// Random ranges; some of them overlap, touch, are equal or are single positions.
    private func randomRanges(_ random: inout SplitMix64) -> [ClosedRange<Position>] {
        (0..<Int.random(in: 0...8, using: &random)).map { _ in
            let first = Position.random(in: 0...40, using: &random)
            return first...(first + Position.random(in: 0...(Bool.random(using: &random) ? 2 : 10), using: &random))
        }
    }

    private func check(_ set: PositionSet, _ model: Set<Position>, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(set.ranges.flatMap { Array($0) } == model.sorted(), sourceLocation: sourceLocation)
        for (range, next) in zip(set.ranges, set.ranges.dropFirst()) {
            #expect(range.upperBound + 1 < next.lowerBound, "\(set.ranges)", sourceLocation: sourceLocation)
        }
        #expect(
            set.isEmpty == model.isEmpty && set.count == UInt64(model.count), "\(set.ranges)",
            sourceLocation: sourceLocation)
        for position in 0...Position(60) where set.contains(position) != model.contains(position) {
            Issue.record("\(position) of \(set.ranges)", sourceLocation: sourceLocation)
        }
    }

    @Test func setsEqualSetsOfPositions() {
        var random = SplitMix64(seed: Repetitions.seed)
        for _ in 0..<Repetitions.few(500, of: 20_000) {
            let (first, second) = (randomRanges(&random), randomRanges(&random))
            let (firstModel, secondModel) = (Set(first.joined()), Set(second.joined()))
            let set = PositionSet(first)
            check(set, firstModel)
            #expect(set == PositionSet(first.shuffled(using: &random)))
            #expect((set == PositionSet(second)) == (firstModel == secondModel))

            let bounds = randomRanges(&random).first ?? 7...7
            check(set.clamped(to: bounds), firstModel.filter(bounds.contains))

            var union = set
            union.formUnion(PositionSet(second))
            check(union, firstModel.union(secondModel))

            var appended = PositionSet()
            for position in firstModel.sorted() {
                appended.append(position)
                if Bool.random(using: &random) { appended.append(position) }
            }
            #expect(appended == set)
        }
    }

    @Test func boundsOfPositionsAreValid() {
        let ends = PositionSet([Position.max...Position.max, 0...0])
        #expect(ends.ranges == [0...0, Position.max...Position.max] && ends.count == 2)
        #expect(ends.contains(0) && ends.contains(.max) && !ends.contains(1) && !ends.contains(.max - 1))
        var all = ends
        all.formUnion(PositionSet([1...Position.max - 1]))
        #expect(all.ranges == [0...Position.max])
        all.append(.max)
        #expect(all.ranges == [0...Position.max])
        #expect(all.clamped(to: 5...Position.max).ranges == [5...Position.max])
        #expect(PositionSet().clamped(to: 0...Position.max).isEmpty)
    }

    /// A position before those of the set would be lost.
    @Test func positionsAreAppendedInOrder() async {
        var set = PositionSet()
        for position: Position in [3, 4, 4, 7] { set.append(position) }
        #expect(set.ranges == [3...4, 7...7])
        await #expect(processExitsWith: .failure) {
            var set = PositionSet([3...5, 9...9])
            set.append(8)
        }
    }
}
