import ChatTesting
import TestSupport
import Testing

@testable import Columns

@Suite struct MostlyZeroColumnTests {
    /// Compares the list with an array: zeros are appended, few numbers are set, and lists that
    /// were written and read continue independently.
    ///
    /// By default, single numbers are compared for a sample of the indices; whole lists are
    /// compared in any case.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 40))) func equalsArrayAfterEachStep(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var column = MostlyZeroColumn<UInt32>()
        var list: [UInt32] = []
        var wrong = 0
        for step in 0..<Repetitions.few(45, of: 60) {
            // Some steps pass the end of one or several pieces.
            for _ in 0..<Int.random(in: 0...(random.oneIn(6) ? 20_000 : 40), using: &random) {
                column.appendZero()
                list.append(0)
            }
            for _ in 0..<random.next() % 4 where !list.isEmpty {
                let index = random.oneIn(2) ? list.count - 1 : Int.random(in: list.indices, using: &random)
                let value = random.oneIn(3) ? 0 : UInt32(truncatingIfNeeded: random.next() >> (random.next() % 64))
                column[index] = value
                list[index] = value
            }
            let indices = Repetitions.oneIn(8, of: list.indices, "step \(step) of \(seed)")
            if column.count != list.count || indices.contains(where: { column[$0] != list[$0] }) { wrong += 1 }
            // All numbers of a list that was read are stored, so equality cannot depend on that.
            let read = try column.reread(atMost: list.count)
            if read != column || column != read || read != MostlyZeroColumn(list) { wrong += 1 }
            if random.oneIn(3) { column = read }
        }
        #expect(wrong == 0)
    }

    @Test func listsDifferInLengthAndNumbers() {
        var (first, second) = (MostlyZeroColumn<UInt8>(), MostlyZeroColumn<UInt8>())
        first.appendZero()
        #expect(first != second)
        second.appendZero()
        #expect(first == second)
        second[0] = 3
        #expect(first != second)
        second[0] = 0
        #expect(first == second)
    }

    @Test func checksReadLengthAndBound() throws {
        var column = MostlyZeroColumn<UInt32>()
        for _ in 0..<5 { column.appendZero() }
        column[2] = 9
        try column.check(below: 10)
        #expect(throws: ColumnError.self) { try column.check(below: 9) }
        #expect(throws: ColumnError.self) { try column.reread(atMost: 4) }
    }
}

extension MostlyZeroColumn where Element: PlainElement {
    /// Writes the list and reads it back.
    fileprivate func reread(atMost most: Int) throws -> MostlyZeroColumn {
        let bytes = Bytes([])
        var writer = ColumnWriter(bytes)
        write(to: &writer)
        writer.flush()
        var reader = ColumnReader(bytes)
        let column = try MostlyZeroColumn(from: &reader, atMost: most)
        try reader.checkEnd()
        return column
    }
}
