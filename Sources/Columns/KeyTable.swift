/// Interns keys: each gets a dense index, from 0 in the order in which they come.
///
/// The keys are a column by their index, and rows can be plain columns beside it. A ``SlotTable``
/// finds the index of a key. The order of its slots is never shown, so results do not depend on its
/// seeds.
struct KeyTable<Keys: KeyList>: Sendable {
    typealias Key = Keys.Key

    /// The keys by their index.
    private(set) var keys = Keys()
    private(set) var slots = SlotTable()

    init() {}

    /// Makes a table of keys and slots that belong together.
    init(_ keys: Keys, _ slots: SlotTable) { (self.keys, self.slots) = (keys, slots) }

    func find(_ key: Key) -> Int? {
        assert(slots.isEmpty == (keys.count == 0), "A table without slots is only written.")
        return slots.find(hash: { $0.hash(key) }, isEqual: { keys[$0] == key })
    }

    /// Gives a key its index: the one it has, or the next.
    ///
    /// At most 2^32 - 2 keys fit; the memory that they would take is out of reach sooner.
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

    /// Makes room for so many keys in a table that has none, so that it need not grow as far as that; in another it does nothing.
    mutating func reserve(_ count: Int) {
        guard keys.count == 0 else { return }
        // An estimate may be anything.
        slots = SlotTable(SlotArray(count: SlotArray.count(for: Swift.max(0, Swift.min(count, 1 << 28)))), taken: 0)
    }

    /// Removes all but the keys, in a copy that is only written.
    ///
    /// A change of the original then copies no slots.
    mutating func removeSlots() { slots = SlotTable() }

    /// The slots of all keys in one array.
    func gatheredSlots() -> SlotArray {
        if !slots.isGrowing && slots.taken == keys.count { return slots.current }
        let array = SlotArray(count: SlotArray.count(for: keys.count))
        for index in 0..<keys.count { _ = array.place(index, array.seed.hash(keys[index])) }
        return array
    }
}

extension KeyTable {
    /// Reads what looking up some keys is going to read.
    func prefetch(_ keys: Span<Key>) {
        var group = Group()
        var sum: UInt64 = 0
        for start in stride(from: 0, to: keys.count, by: Group.count) {
            find(keys, from: start, &group)
            for index in group.found.indices { sum &+= UInt64(group.found[index]) }
        }
        ReadAhead.keep(sum)
    }

    /// Some keys that are looked up together.
    private struct Group {
        static var count: Int { 64 }

        var hashes = InlineArray<64, UInt64>(repeating: 0)
        /// What is in the slot where the search for each begins.
        var first = InlineArray<64, UInt32>(repeating: 0)
        /// The index + 1 of each that was found, 0 for another.
        var found = InlineArray<64, UInt32>(repeating: 0)
    }

    /// Finds most of those of a group of keys that exist.
    ///
    /// Looking up one key after another waits for memory each time. These reads do not depend on
    /// one another, and the loops that make them do so little else that a processor has many of
    /// them under way at once.
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
        // The first entry that has the hash's bits; nearly all of these are that of the key.
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
    /// The slots follow from the keys.
    static func == (first: KeyTable, second: KeyTable) -> Bool { first.keys == second.keys }
}
