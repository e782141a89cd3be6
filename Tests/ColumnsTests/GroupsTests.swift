import ChatTesting
import Testing

@testable import Columns

@Suite struct GroupsTests {
    /// The same as putting one after the other into lists by owner.
    @Test(arguments: Seeds.seeds(8)) func thingsOfOneOwnerStandTogetherInTheirOrder(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for count in [0, 1, 2, 3, 64, 1_000] {
            let owners = (0..<count).map { _ in Int.random(in: 0..<Int.random(in: 1...300, using: &random), using: &random) }
            // Some of a longer list, as the messages among all events are.
            let things = owners.indices.filter { _ in random.oneIn(2) }
            let groups = Groups(things) { owners[$0] }
            var expected: [(owner: Int, things: [Int])] = []
            for thing in things {
                if let group = expected.firstIndex(where: { $0.owner == owners[thing] }) {
                    expected[group].things.append(thing)
                } else {
                    expected.append((owners[thing], [thing]))
                }
            }
            #expect((0..<groups.count).map { groups.owner($0) } == expected.map(\.owner))
            #expect((0..<groups.count).map { Array(groups[$0]) } == expected.map(\.things))
        }
    }
}
