import ChatTesting
import Testing

@testable import Columns

/// The growth of a ``KeyTable``: at every stage the table, its copies and restored tables agree
/// with a dictionary.
@Suite struct SlotTableTests {
    /// A table and the dictionary that it must agree with.
    private struct Pair {
        var table = KeyTable<Column<UInt128>>()
        var model: [UInt128: Int] = [:]

        var isGrowing: Bool { table.slots.isGrowing }

        /// Inserts a key.
        ///
        /// Returns whether the table agrees with the dictionary.
        mutating func insert(_ key: UInt128) -> Bool {
            let expected = (model[key] ?? model.count, model[key] == nil)
            model[key] = expected.0
            return table.insert(key) == expected
        }

        /// Looks up keys in groups.
        ///
        /// Returns whether the indexes agree with the dictionary and nearly all existing keys are
        /// found; the look-ups perform a part of the growth.
        mutating func groupsAgree(_ keys: [UInt128]) -> Bool {
            var (found, wrong) = (0, 0)
            for start in stride(from: 0, to: keys.count, by: KeyGroup<UInt128>.capacity) {
                var group = KeyGroup<UInt128>()
                for row in start..<min(start + KeyGroup<UInt128>.capacity, keys.count) {
                    group.append(keys[row], for: row)
                }
                table.find(&group)
                group.forEachFound { row, index in
                    found += 1
                    if model[keys[row]] != index { wrong += 1 }
                }
            }
            return wrong == 0 && found * 10 >= model.count * 9 && agrees
        }

        var agrees: Bool {
            table.keys.count == model.count && model.allSatisfy { table.find($0) == $1 && table.keys[$1] == $0 }
        }
    }

    @Test(arguments: Seeds.seeds(1)) func growthAgreesWithDictionaryAtEveryStage(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var pair = Pair()
        var former: [Pair] = []
        var (growing, wrong) = (0, 0)
        let edges = (4..<12).flatMap { [1 << $0, 3 << ($0 - 1)] }.map(SlotArray.maximumEntryCount)
        while pair.model.count < 2_500 {
            let key = random.oneIn(4) ? UInt128(random.next() % 3_000) : random.bits128()
            if pair.table.find(key) != pair.model[key] || !pair.insert(key) { wrong += 1 }
            // Frequent at the start of growth, where a key waits for relocation, and rare
            // elsewhere.
            guard pair.isGrowing ? random.oneIn(12) : edges.contains(pair.model.count) || random.oneIn(150) else {
                continue
            }
            growing += pair.isGrowing ? 1 : 0
            if !pair.agrees || pair.table.find(random.bits128()) != nil { wrong += 1 }
            let keys = pair.table.keys.shuffled(using: &random) + (0..<70).map { _ in random.bits128() }
            var copy = pair
            if !copy.groupsAgree(keys) { wrong += 1 }
            copy = pair
            // A copy and a restored table continue independently.
            var read = pair
            read.table = try pair.table.reread()
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                let key = random.bits128()
                if !copy.insert(key) || !read.insert(key) { wrong += 1 }
            }
            if !copy.agrees || !read.agrees || copy.table != read.table { wrong += 1 }
            former.append(copy)
        }
        #expect(wrong == 0)
        #expect(growing > 20)
        #expect(pair.agrees && former.allSatisfy(\.agrees))
    }

    /// Large arrays have mapped memory, which is allocated ahead and released in parts.
    @Test(arguments: Seeds.seeds(1)) func mappedArraysGrowAndCopy(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var pair = Pair()
        var (former, growing, wrong) = ([] as [Pair], 0, 0)
        while pair.model.count < 70_000 {
            if !pair.insert(random.bits128()) { wrong += 1 }
            guard pair.isGrowing ? random.oneIn(3_000) : random.oneIn(20_000) else { continue }
            growing += pair.isGrowing ? 1 : 0
            former.append(pair)
            if try pair.table.reread() != pair.table { wrong += 1 }
            // One table continues until it has grown.
            let limit = pair.table.slots.current.maximumEntryCount
            if former.count == 4 {
                while former[0].model.count <= limit * 9 / 8 { if !former[0].insert(random.bits128()) { wrong += 1 } }
            }
        }
        #expect(wrong == 0 && growing > 1)
        #expect(pair.agrees && former.allSatisfy(\.agrees))
        #expect(pair.table.slots.current.slotCount * MemoryLayout<UInt32>.stride > SlotArray.leastMappedByteCount)
    }

    /// A checkpoint copies only the keys, so that the table keeps unique slots and changes them in
    /// place.
    @Test func copyOfKeysLeavesSlotsUnique() throws {
        var table = KeyTable<Column<UInt128>>()
        for key in 0..<1_000 as Range<UInt128> { _ = table.insert(key) }
        let slots = ObjectIdentifier(table.slots.current)
        var copy = table
        copy.removeSlots()
        _ = table.insert(1_000)
        #expect(ObjectIdentifier(table.slots.current) == slots)
        let read = try copy.reread()
        #expect(read == copy && (0..<1_001).allSatisfy { read.find($0) == ($0 < 1_000 ? Int($0) : nil) })
        let whole = table
        _ = table.insert(1_001)
        #expect(ObjectIdentifier(table.slots.current) != slots && ObjectIdentifier(whole.slots.current) == slots)
        #expect(whole.find(1_001) == nil && table.find(1_001) == 1_001)
    }

    @Test func repeatedKeysFinishGrowth() {
        var pair = Pair()
        while pair.model.count < 1_000 || !pair.isGrowing { _ = pair.insert(UInt128(pair.model.count)) }
        let copy = pair
        let count = pair.model.count
        var wrong = 0
        for key in 0..<count / 8 + 1 where !pair.insert(UInt128(key)) { wrong += 1 }
        #expect(wrong == 0 && !pair.isGrowing && pair.agrees && pair.table.slots.usedSlotCount == count)
        // So do keys that are looked up in groups.
        var other = copy
        #expect(other.groupsAgree(Array(other.table.keys)) && !other.isGrowing)
        // A copy keeps its own slots.
        #expect(copy.isGrowing && copy.agrees)
    }

    /// A group does not take another key for one with an equal hash: with the seed 0, the key with
    /// exchanged halves has it.
    @Test func groupsCompareKeys() {
        var table = KeyTable<Column<UInt128>>(
            Column(), SlotTable(SlotArray(count: 16, seed: HashSeed(low: 0, high: 0)), usedSlotCount: 0))
        let (key, other) = (UInt128(3) << 64 | 5, UInt128(5) << 64 | 3)
        #expect(table.insert(key) == (0, true))
        var group = KeyGroup<UInt128>()
        group.append(other, for: 7)
        group.append(key, for: 8)
        table.find(&group)
        var found: [[Int]] = []
        group.forEachFound { found.append([$0, $1]) }
        #expect(found == [[8, 0]])
    }

    /// Keys crafted with a known seed share their first probe.
    ///
    /// The table then changes its seed.
    @Test func craftedKeysChangeTheSeed() {
        let seed = HashSeed(low: 0, high: 0)
        let array = SlotArray(count: 24_576, seed: seed)
        var pair = Pair(table: KeyTable(Column(), SlotTable(array, usedSlotCount: 0)))
        var random = SeededRandom(seed: 1)
        var wrong = 0
        for _ in 0...SlotTable.maximumProbeLength + 1 {
            let key = Self.key(hashedTo: random.next() & ~0xFFFF_FFFF | 0x8000_0000)
            if array.home(seed.hash(key)) != 12_288 || !pair.insert(key) { wrong += 1 }
        }
        #expect(wrong == 0)
        #expect(pair.isGrowing && pair.table.slots.current.seed != seed)
        #expect(pair.agrees)
        for _ in 0..<1_000 where !pair.insert(random.bits128()) { wrong += 1 }
        #expect(wrong == 0 && !pair.isGrowing && pair.agrees)
        let slots = pair.table.slots.current
        #expect(slots.slotCount == 24_576)
        let longest = pair.model.keys.map { key in
            slots.distance(
                to: slots.search(slots.seed.hash(key)) { pair.table.keys[$0] == key }.slot, slots.seed.hash(key))
        }
        #expect(longest.max() ?? 0 < 200)
    }

    /// Returns the key that the seed 0 hashes to a number: the inverse of ``HashSeed/hash(_:)``.
    private static func key(hashedTo hash: UInt64) -> UInt128 {
        let folded = hash ^ hash >> 32
        // Newton's iteration: each step doubles the correct bits of the inverse, starting with
        // three.
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        var inverse = factor
        for _ in 0..<5 { inverse = inverse &* (2 &- factor &* inverse) }
        return UInt128(folded &* inverse) << 64 | 1
    }

    /// Forged slots that would cause an endless search or lead to no key.
    @Test(arguments: Forgery.allCases) func forgedSlotsAreRejected(_ forgery: Forgery) throws {
        let count = forgery == .tooManyKeys ? 14 : 13
        var (slotCount, slots) = (16, (1...16).map { UInt32($0 <= count ? $0 : 0) })
        switch forgery {
        case .none, .tooManyKeys: break
        case .otherSize:
            slotCount = 20
            slots += [0, 0, 0, 0]
        case .noSlots: (slotCount, slots) = (0, [])
        case .hugeSize: slotCount = 1 << 40
        case .shortened: slots.removeLast()
        case .fewerThanKeys: slots[0] = 0
        case .beyondTheKeys: slots[0] = 14
        case .noIndex: slots[0] = 1 << 31
        }
        let bytes = Bytes([])
        var writer = ColumnWriter(bytes)
        Column((0..<count).map { UInt128($0) }).write(to: &writer)
        writer.write([1, 2] as [UInt64])
        writer.write(slotCount)
        writer.write(slots)
        writer.flush()
        var reader = ColumnReader(bytes)
        if forgery == .none {
            #expect(try KeyTable<Column<UInt128>>(from: &reader).keys.count == count)
        } else {
            #expect(throws: ColumnError.self) { try KeyTable<Column<UInt128>>(from: &reader) }
        }
    }

    enum Forgery: CaseIterable {
        case none, tooManyKeys, otherSize, noSlots, hugeSize, shortened, fewerThanKeys, beyondTheKeys, noIndex
    }

    @Test func sizesArePowersOfTwoAndTheirMidpoints() {
        #expect((0..<400).filter(SlotArray.isValidSlotCount) == [16, 24, 32, 48, 64, 96, 128, 192, 256, 384])
        #expect(
            SlotArray.isValidSlotCount(1 << 32) && !SlotArray.isValidSlotCount(3 << 31)
                && !SlotArray.isValidSlotCount(1 << 33))
        #expect([0, 13, 14, 19, 20, 26, 27].map(SlotArray.slotCount) == [16, 16, 24, 24, 32, 32, 48])
    }
}

extension KeyTable {
    /// Returns the table after a round trip through its bytes.
    fileprivate func reread() throws -> KeyTable {
        let bytes = Bytes([])
        var writer = ColumnWriter(bytes)
        write(to: &writer)
        writer.flush()
        var reader = ColumnReader(bytes)
        let read = try KeyTable(from: &reader)
        try reader.checkEnd()
        return read
    }
}
