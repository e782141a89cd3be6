/// Interns keys: assigns dense indexes from 0 in order of insertion.
///
/// The keys form a column by index, and other columns can use the same indexes. A ``SlotTable``
/// maps keys to indexes. The order of its slots is never visible, so results do not depend on its
/// seeds.
struct KeyTable<Keys: KeyList>: Sendable {
    typealias Key = Keys.Key

    /// The keys by index.
    private(set) var keys = Keys()
    private(set) var slots = SlotTable()

    init() {}

    /// Creates a table from matching keys and slots.
    init(_ keys: Keys, _ slots: SlotTable) { (self.keys, self.slots) = (keys, slots) }

    func find(_ key: Key) -> Int? {
        assert(slots.isEmpty == (keys.count == 0), "A table without slots is only written.")
        return slots.find(hash: { $0.hash(key) }, isEqual: { keys[$0] == key })
    }

    /// Returns the index of a key, assigning the next one if the key is new.
    ///
    /// Holds at most 2^32 - 2 keys.
    mutating func insert(_ key: Key) -> (index: Int, isNew: Bool) { Self.insert(key, &keys, &slots) }

    @inline(__always)
    private static func insert(_ key: Key, _ keys: inout Keys, _ slots: inout SlotTable) -> (index: Int, isNew: Bool) {
        assert(slots.isEmpty == (keys.count == 0), "A table without slots is only written.")
        let search = slots.search(hash: { $0.hash(key) }, isEqual: { keys[$0] == key })
        if search.index >= 0 {
            if slots.isGrowing { slots.goOn { index, seed in seed.hash(keys[index]) } }
            return (search.index, false)
        }
        let index = keys.count
        keys.append(key)
        slots.add(index, at: search, of: index + 1) { index, seed in seed.hash(keys[index]) }
        return (index, true)
    }

    /// Reserves slots for `count` keys in an empty table; otherwise does nothing.
    mutating func reserve(_ count: Int) {
        guard keys.count == 0 else { return }
        // Clamped, because an estimate can be any number.
        slots = SlotTable(SlotArray(count: SlotArray.count(for: Swift.max(0, Swift.min(count, 1 << 28)))), taken: 0)
    }

    /// Removes the slots of a copy that is only written.
    ///
    /// A later insertion into the original then copies no slots.
    mutating func removeSlots() { slots = SlotTable() }

    /// Returns the slots of all keys in one array.
    func gatheredSlots() -> SlotArray {
        if !slots.isGrowing && slots.taken == keys.count { return slots.current }
        let array = SlotArray(count: SlotArray.count(for: keys.count))
        for index in 0..<keys.count { _ = array.place(index, array.seed.hash(keys[index])) }
        return array
    }
}

extension KeyTable {
    /// Prefetches the slots and keys for some keys.
    func prefetch(_ keys: Span<Key>) {
        var group = Group()
        var sum: UInt64 = 0
        for start in stride(from: 0, to: keys.count, by: Group.count) {
            find(keys, from: start, &group)
            for index in group.found.indices { sum &+= UInt64(group.found[index]) }
        }
        ReadAhead.keep(sum)
    }

    /// A prefetch group: keys that are looked up together.
    private struct Group {
        static var count: Int { 64 }

        var hashes = InlineArray<64, UInt64>(repeating: 0)
        /// The content of the first slot of each search.
        var first = InlineArray<64, UInt32>(repeating: 0)
        /// The index + 1 of each key that was found, otherwise 0.
        var found = InlineArray<64, UInt32>(repeating: 0)
    }

    /// Looks up a group of keys and finds most of those that exist.
    ///
    /// Separate look-ups wait for memory one after the other. The loads in these loops are
    /// independent of one another, and the loops are short, so the processor overlaps many of them.
    @inline(__always)
    private func find(_ keys: Span<Key>, from start: Int, _ group: inout Group) {
        let count = Swift.min(Group.count, keys.count &- start)
        for index in 0..<count { group.found[index] = 0 }
        find(keys, start, count, &group, in: slots.current)
        if let old = slots.old { find(keys, start, count, &group, in: old) }
    }

    @inline(__always)
    private func find(_ keys: Span<Key>, _ start: Int, _ count: Int, _ group: inout Group, in array: SlotArray) {
        let seed = array.seed
        for index in 0..<count {
            let hash = seed.hash(keys[start &+ index])
            group.hashes[index] = hash
            group.first[index] = array[array.home(hash)]
        }
        // The first entry whose hash bits match is almost always that of the key.
        for index in 0..<count {
            let hash = group.hashes[index]
            var entry = group.first[index]
            var slot = array.home(hash)
            while entry != 0, !array.matches(entry, hash) {
                slot = array.next(slot)
                entry = array[slot]
            }
            group.first[index] = array.ordinal(entry)
        }
        for index in 0..<count {
            let ordinal = group.first[index]
            if ordinal != 0, self.keys[Int(ordinal) &- 1] == keys[start &+ index] { group.found[index] = ordinal }
        }
    }
}

extension KeyTable: Equatable {
    /// Compares the keys; the slots are derived from them.
    static func == (first: KeyTable, second: KeyTable) -> Bool { first.keys == second.keys }
}
