import ChatDomain
import ChatTesting
import Testing

@testable import Columns

@Suite struct ColumnTests {
    /// Compares a column with an array, across the bounds of pieces.
    @Test(arguments: Seeds.seeds(3)) func columnEqualsArray(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var column = Column<UInt64>()
        var list: [UInt64] = []
        #expect(column.isEmpty && column.last == nil && Array(column) == [])
        for count in [1, 2, 8_191, 8_192, 8_193, 16_384, 16_385, 50_000] {
            while list.count < count {
                let value = UInt64.random(in: 0...9, using: &random)
                column.append(value)
                list.append(value)
            }
            let former = (column, list)
            for _ in 0..<200 {
                let index = Int.random(in: list.indices, using: &random)
                column[index] &+= 1
                list[index] &+= 1
            }
            #expect(Array(former.0) == former.1)
            #expect(column.count == count && column.indices == list.indices && column.last == list.last)
            #expect(Array(column) == list)
            var pieces: [UInt64] = []
            column.forEachPiece { pieces += $0 }
            #expect(pieces == list)
            for index in [0, count / 2, count - 1] { #expect(column[index] == list[index]) }
        }
    }

    @Test func pieceHasAtMost64KiB() {
        struct Row { var texts: (String, String, String) }
        #expect(
            [Column<UInt8>.shift, Column<UInt32>.shift, Column<UInt64>.shift, Column<UInt128>.shift] == [
                14, 14, 13, 12,
            ])
        #expect(Column<Row>.shift == 10 && MemoryLayout<Row>.stride == 48)
    }

    @Test func copyIsIndependentOfOriginal() {
        var column = Column<Int>()
        for number in 0..<40_000 { column.append(number) }
        let copy = column
        column[0] = -1
        column[20_000] = -1
        column.append(-1)
        #expect(copy != column)
        #expect(copy.elementsEqual(0..<40_000))
        column[0] = 0
        column[20_000] = 20_000
        #expect(copy != column && copy.count == 40_000)
    }
}
