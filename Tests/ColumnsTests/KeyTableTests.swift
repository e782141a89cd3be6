import ChatTesting
import Testing

@testable import ChatDomain
@testable import Columns

/// Tests ``KeyTable`` through its wrappers, at many sizes of its slots.
@Suite struct KeyTableTests {
    private static let count = 150_000

    @Test(arguments: Seeds.seeds(1)) func idsGetAscendingIndices(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = TypedIDInterner<MessageID>()
        var ids: [MessageID] = []
        var numbers: [MessageID: Int] = [:]
        // UUIDv7 ids with a common prefix, and ids that differ only in their last bits.
        let time = random.bits128() & ~0 << 80
        // One expectation at the end: an expectation per id would dominate the run time.
        var wrong: MessageID?
        for number in 0..<Self.count where wrong == nil {
            let id = MessageID(bits: number % 3 == 0 ? UInt128(number) : time | random.bits128() >> 56)
            guard numbers[id] == nil else { continue }
            if index.insert(id) != (ids.count, true) { wrong = id }
            numbers[id] = ids.count
            ids.append(id)
            if number % 16 == 0 {
                let old = ids[Int.random(in: ids.indices, using: &random)]
                if index.insert(old) != (numbers[old] ?? -1, false) { wrong = old }
            }
        }
        #expect(wrong == nil)
        #expect(index.count == ids.count && ids.count > 100_000)
        #expect(ids.enumerated().allSatisfy { index.find($1) == $0 && index.id($0) == $1 })
        for _ in 0..<5_000 {
            let other = MessageID(bits: random.bits128())
            #expect(index.find(other) == numbers[other])
        }
    }

    @Test(arguments: Seeds.seeds(1)) func pairsAreFoundByBothHalves(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = PairInterner()
        // A grid in random order, so that every half occurs often.
        let pairs = (0..<400).flatMap { user in (0..<300).map { (user, $0) } }.shuffled(using: &random)
        let wrong = pairs.enumerated().first { number, pair in index.insert(pair.0, pair.1) != (number, true) }
        #expect(wrong == nil)
        #expect(index.count == 120_000)
        #expect(pairs.enumerated().allSatisfy { index.find($1.0, $1.1) == $0 && index.pair($0) == $1 })
        #expect(index.find(300, 400) == nil && index.find(400, 0) == nil && index.find(0, 300) == nil)
        let largest = Int(UInt32.max)
        #expect(index.insert(largest, largest) == (120_000, true))
        #expect(index.pair(120_000) == (largest, largest))
    }

    @Test(arguments: Seeds.seeds(1)) func partOfListIsIndexed(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = SubsetInterner()
        var entries: [Int] = []
        var entry = 0
        while entries.count < Self.count {
            entry += Int.random(in: 1...5, using: &random)
            entries.append(entry)
        }
        let wrong = entries.enumerated().first { number, entry in index.insert(entry) != (number, true) }
        #expect(wrong == nil)
        #expect(index.count == Self.count)
        let numbers = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($0.element, $0.offset) })
        #expect((0...entry + 1).first { index.find($0) != numbers[$0] } == nil)
    }

    /// Tables are equal if their keys are, independent of their growth; copies are independent
    /// values.
    @Test func copyIsIndependentValue() {
        var index = SubsetInterner()
        for number in 0..<20_000 { _ = index.insert(number * 7) }
        let copy = index
        for number in 20_000..<40_000 { _ = index.insert(number * 7) }
        #expect(copy != index && copy.count == 20_000)
        #expect(copy.find(20_000 * 7) == nil && index.find(20_000 * 7) == 20_000)
        #expect((0..<20_000).allSatisfy { copy.find($0 * 7) == $0 && index.find($0 * 7) == $0 })
    }

    /// For any keys, the table wastes few slots and probes few of them.
    @Test(arguments: [1, 1 << 20]) func slotCountAndProbeLengthAreBounded(stride: Int) {
        var table = KeyTable<PackedColumn<UInt64>>()
        let wrong = (0..<60_000).first { index in table.insert(UInt64(index * stride)) != (index, true) }
        #expect(wrong == nil)
        #expect(table.finds(60_000, stride))
        #expect(table.find(UInt64(60_000 * stride)) == nil)
        let slots = table.slots.current
        #expect(!table.slots.isGrowing)
        #expect(slots.slotCount == SlotArray.slotCount(for: 60_000))
        // The distance of a key from its first probe. Linear probing at a load of 13/16 has a mean
        // of 13/6 (Knuth, 1963).
        var distance = 0
        for slot in 0..<slots.slotCount where slots[slot] != 0 {
            distance += slots.distance(to: slot, slots.seed.hash(table.keys[Int(slots.ordinal(slots[slot])) - 1]))
        }
        #expect(Double(distance) / 60_000 < 3)
    }
}

extension KeyTable<PackedColumn<UInt64>> {
    /// Whether the first `count` multiples of `stride` have indices in insertion order.
    fileprivate func finds(_ count: Int, _ stride: Int) -> Bool {
        (0..<count).allSatisfy { find(UInt64($0 * stride)) == $0 }
    }
}
