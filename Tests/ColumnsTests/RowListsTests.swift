import ChatTesting
import TestSupport
import Testing

@testable import Columns

@Suite struct RowListsTests {
    /// Compares the lists with an array per owner; some owners have many rows, most have few.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 4))) func rowsOfOwnerAreOrdered(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var lists = RowLists()
        var expected = [[Int]](repeating: [], count: 20_000)
        let owners = (0..<40_000).map { _ in
            random.oneIn(3) ? Int.random(in: 0..<5, using: &random) : Int.random(in: 0..<20_000, using: &random)
        }
        for (row, owner) in owners.enumerated() {
            lists.append(to: owner)
            expected[owner].append(row)
        }
        #expect(lists.count == 40_000)
        for owner in expected.indices where lists.rows(of: owner) != expected[owner] { Issue.record("\(owner)") }
        #expect(lists.rows(of: 20_000) == [])
    }

    @Test func emptyListsHaveNoRows() { #expect(RowLists().rows(of: 0) == [] && RowLists().count == 0) }
}

extension RowLists {
    /// The rows of an owner, ascending.
    fileprivate func rows(of owner: Int) -> [Int] {
        Array(
            sequence(first: last(of: owner)) { $0.map { row(before: $0) } }.prefix { $0 != nil }.compactMap(\.self)
                .reversed())
    }
}
