import ChatTesting
import Testing

@testable import ChatDomain
@testable import Columns

/// ``NumberTable`` through its wrappers, far beyond the first shelves.
@Suite struct NumberTableTests {
    private static let count = 150_000

    @Test(arguments: Seeds.seeds(2)) func idsGetNumbersInTheOrderInWhichTheyCome(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = DenseIndex<MessageID>()
        var ids: [MessageID] = []
        var numbers: [MessageID: Int] = [:]
        // Ids as UUIDv7 has them, with a common beginning, and ids that differ in their last bits alone.
        let time = random.bits128() & ~0 << 80
        for number in 0..<Self.count {
            let id = MessageID(bits: number % 3 == 0 ? UInt128(number) : time | random.bits128() >> 56)
            guard numbers[id] == nil else { continue }
            if index.insert(id) != (ids.count, true) { Issue.record("\(id)") }
            numbers[id] = ids.count
            ids.append(id)
            if number % 16 == 0 {
                let old = ids[Int.random(in: ids.indices, using: &random)]
                #expect(index.insert(old) == (numbers[old] ?? -1, false))
            }
        }
        #expect(index.count == ids.count && ids.count > 100_000)
        for (number, id) in ids.enumerated() where index.find(id) != number || index.id(number) != id { Issue.record("\(id)") }
        for _ in 0..<5_000 {
            let other = MessageID(bits: random.bits128())
            #expect(index.find(other) == numbers[other])
        }
    }

    /// Ids that are looked up together, some of them twice, get the numbers that they get one after the other.
    @Test(arguments: Seeds.seeds(4)) func idsLookedUpTogetherGetTheSameNumbers(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (one, many, users) = (IDTable(), IDTable(), IDTable())
        let known = (0..<60_000).map { _ in random.bits128() }
        var count = 0
        while count < 200_000 {
            let ids = (0..<Int.random(in: 0...300, using: &random)).map { _ in known[Int.random(in: known.indices, using: &random)] }
            let inserting = ids.map { _ in Int.random(in: 0..<4, using: &random) > 0 }
            let expected = zip(ids, inserting).map { id, inserts in UInt32((inserts ? one.insert(id).number : one.find(id) ?? -1) + 1) }
            if many.lookUp(ids, inserting: inserting) != expected { Issue.record("\(count)") }
            if users.insert(ids) != ids.map({ UInt32((users.find($0) ?? -1) + 1) }) { Issue.record("\(count)") }
            count += ids.count
        }
        #expect(many == one && one.count > 50_000 && users.count > one.count)
        #expect((0..<many.count).allSatisfy { many.find(many.id($0)) == $0 })
    }

    @Test(arguments: Seeds.seeds(2)) func pairsTogetherGetTheSameNumbers(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (one, many) = (PairIndex(), PairIndex())
        for _ in 0..<200 {
            let pairs = (0..<Int.random(in: 0...400, using: &random)).map { _ in
                (first: Int.random(in: 0..<300, using: &random), second: Int.random(in: 0..<200, using: &random))
            }
            if many.insert(pairs) != pairs.map({ UInt32(one.insert($0.first, $0.second).number + 1) }) { Issue.record("\(many.count)") }
        }
        #expect(many == one && one.count > 10_000)
    }

    @Test(arguments: Seeds.seeds(2)) func pairsAreFoundByBothHalves(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = PairIndex()
        // A grid, so that every half occurs often, in a random order.
        let pairs = (0..<400).flatMap { user in (0..<300).map { (user, $0) } }.shuffled(using: &random)
        for (number, pair) in pairs.enumerated() where index.insert(pair.0, pair.1) != (number, true) { Issue.record("\(pair)") }
        #expect(index.count == 120_000)
        for (number, pair) in pairs.enumerated() where index.find(pair.0, pair.1) != number || index.pair(number) != pair {
            Issue.record("\(pair)")
        }
        #expect(index.find(300, 400) == nil && index.find(400, 0) == nil && index.find(0, 300) == nil)
        let largest = Int(UInt32.max)
        #expect(index.insert(largest, largest) == (120_000, true))
        #expect(index.pair(120_000) == (largest, largest))
    }

    @Test(arguments: Seeds.seeds(2)) func someEntriesOfAListAreNumbered(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = SubsetIndex()
        var entries: [Int] = []
        var entry = 0
        while entries.count < Self.count {
            entry += Int.random(in: 1...5, using: &random)
            entries.append(entry)
        }
        for (number, entry) in entries.enumerated() where index.insert(entry) != (number, true) { Issue.record("\(entry)") }
        #expect(index.count == Self.count)
        let numbers = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($0.element, $0.offset) })
        for entry in 0...entry + 1 where index.find(entry) != numbers[entry] { Issue.record("\(entry)") }
    }

    /// Tables are equal if their keys are, whatever way they grew; a copy is a value of its own.
    @Test func aCopyIsAValueOfItsOwn() {
        var index = SubsetIndex()
        for number in 0..<20_000 { _ = index.insert(number * 7) }
        let copy = index
        for number in 20_000..<40_000 { _ = index.insert(number * 7) }
        #expect(copy != index && copy.count == 20_000)
        #expect(copy.find(20_000 * 7) == nil && index.find(20_000 * 7) == 20_000)
        #expect((0..<20_000).allSatisfy { copy.find($0 * 7) == $0 && index.find($0 * 7) == $0 })
    }

    /// However few or many were announced, and for whatever keys: the numbers are the same, slots are neither wasted nor searched for long.
    @Test(arguments: [0, 5_000, 60_000, 2_000_000], [1, 1 << 20])
    func whatWasAnnouncedChangesNothingButTheGrowing(announced: Int, stride: Int) {
        var table = NumberTable<PackedColumn<UInt64>>()
        table.reserve(announced)
        for number in 0..<60_000 where table.insert(UInt64(number * stride)) != (number, true) { Issue.record("\(number)") }
        for number in 0..<60_000 where table.find(UInt64(number * stride)) != number { Issue.record("\(number)") }
        #expect(table.find(UInt64(60_000 * stride)) == nil)
        let slotCount = table.shelves.reduce(0) { $0 + $1.slots.count }
        #expect(slotCount <= max(60_000, announced) * 5 / 2)
        #expect(table.shelves.allSatisfy { $0.count * 16 <= $0.slots.count * 13 })
        // How far from where its search begins a key lies: with linear probing at a load of 13/16, 13/6 in the mean (Knuth, 1963).
        var distance = 0
        for shelf in table.shelves {
            for (slot, entry) in shelf.slots.enumerated() where entry != 0 {
                let home = shelf.home(table.hash(table.keys[Int(entry & table.numberMask) - 1]))
                distance += (slot - home + shelf.slots.count) % shelf.slots.count
            }
        }
        #expect(Double(distance) / 60_000 < 3)
    }

    /// Too few announced, so that shelves of any size grow: what is written is read again.
    @Test func aTableThatOutgrewWhatWasAnnouncedIsReadAgain() throws {
        for announced in stride(from: 2_000, to: 60_000, by: 1_500) {
            var table = NumberTable<PackedColumn<UInt64>>()
            table.reserve(announced)
            for number in 0..<announced * 5 / 4 { _ = table.insert(UInt64(number)) }
            let bytes = Bytes([])
            var writer = ColumnWriter(bytes)
            table.write(to: &writer)
            writer.finish()
            var reader = ColumnReader(bytes)
            let read = try NumberTable<PackedColumn<UInt64>>(from: &reader)
            #expect(read == table && read.find(UInt64(announced)) == announced)
        }
    }

    @Test func roomIsMadeOnlyInAnEmptyTable() {
        var table = NumberTable<PackedColumn<UInt64>>()
        _ = table.insert(7)
        table.reserve(100_000)
        #expect(table.find(7) == 0 && table.shelves.count == 1)
    }
}
