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
    /// Holds fewer than 3,435,134,976 keys: with that many, the table would prepare to grow beyond
    /// ``SlotArray/maximumSlotCount``, which traps.
    mutating func insert(_ key: Key) -> (index: Int, isNew: Bool) { Self.insert(key, &keys, &slots) }

    @inline(__always)
    private static func insert(_ key: Key, _ keys: inout Keys, _ slots: inout SlotTable) -> (index: Int, isNew: Bool) {
        assert(slots.isEmpty == (keys.count == 0), "A table without slots is only written.")
        let search = slots.search(hash: { $0.hash(key) }, isEqual: { keys[$0] == key })
        if search.index >= 0 {
            if slots.isGrowing { slots.continueGrowth { index, seed in seed.hash(keys[index]) } }
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
        slots = SlotTable(
            SlotArray(count: SlotArray.slotCount(for: Swift.max(0, Swift.min(count, 1 << 28)))), usedSlotCount: 0)
    }

    /// Removes the slots of a copy that is only written.
    ///
    /// A later insertion into the original then copies no slots. Afterwards the copy can no longer
    /// find or insert keys.
    mutating func removeSlots() { slots = SlotTable() }

    /// Returns the slots of all keys in one array.
    func gatheredSlots() -> SlotArray {
        if !slots.isGrowing && slots.usedSlotCount == keys.count { return slots.current }
        let array = SlotArray(count: SlotArray.slotCount(for: keys.count))
        for index in 0..<keys.count { _ = array.place(index, array.seed.hash(keys[index])) }
        return array
    }
}

extension KeyTable {
    /// Looks up the keys of a group and finds most of those that exist.
    ///
    /// Separate look-ups wait for memory one after the other. The loads in these loops are
    /// independent of one another, and the loops are short, so the processor overlaps many of them.
    /// A later look-up or insertion of one of the keys finds its slots in the cache.
    mutating func find(_ group: inout KeyGroup<Key>) {
        for index in 0..<group.count { group.found[index] = 0 }
        Self.find(&group, keys, in: slots.current)
        guard let old = slots.previous else { return }
        Self.find(&group, keys, in: old)
        // Each key that is found continues the growth, as the insertion of an existing key does.
        for index in 0..<group.count where group.found[index] != 0 && slots.isGrowing {
            slots.continueGrowth { [keys] index, seed in seed.hash(keys[index]) }
        }
    }

    @inline(__always)
    private static func find(_ group: inout KeyGroup<Key>, _ keys: borrowing Keys, in array: SlotArray) {
        let seed = array.seed
        var hashes = InlineArray<64, UInt64>(repeating: 0)
        var entries = InlineArray<64, UInt32>(repeating: 0)
        for index in 0..<group.count {
            let hash = seed.hash(group.keys[index])
            hashes[index] = hash
            entries[index] = array[array.home(hash)]
        }
        // The first entry whose hash bits match is almost always that of the key.
        for index in 0..<group.count {
            let hash = hashes[index]
            var entry = entries[index]
            var slot = array.home(hash)
            while entry != 0, !array.matches(entry, hash) {
                slot = array.next(slot)
                entry = array[slot]
            }
            entries[index] = array.ordinal(entry)
        }
        for index in 0..<group.count {
            let ordinal = entries[index]
            if ordinal != 0, keys[Int(ordinal) &- 1] == group.keys[index] { group.found[index] = ordinal }
        }
    }
}

extension KeyTable: Equatable {
    /// Compares the keys; the slots are derived from them.
    static func == (first: KeyTable, second: KeyTable) -> Bool { first.keys == second.keys }
}

extension KeyTable: ColumnCoded {
    /// The number of slots to copy at a time.
    private static var slotsPerBlock: Int { ColumnWriter.blockByteCount / MemoryLayout<UInt32>.stride }

    /// Writes the keys and, except for a digest, the seed and the slots.
    ///
    /// Reading them back needs no hashing. A table that is growing or has no slots is written with
    /// slots rebuilt from the keys.
    package func write(to writer: inout ColumnWriter) {
        keys.write(to: &writer)
        if writer.isCanonical { return }
        let array = gatheredSlots()
        writer.write(array.seed.low)
        writer.write(array.seed.high)
        writer.write(array.slotCount)
        for start in stride(from: 0, to: array.slotCount, by: Self.slotsPerBlock) {
            writer.write(array[start..<Swift.min(start + Self.slotsPerBlock, array.slotCount)])
        }
    }

    package init(from reader: inout ColumnReader) throws(ColumnError) {
        let keys = try Keys(keysFrom: &reader)
        let seed = HashSeed(low: try reader.read(), high: try reader.read())
        let slotCount: UInt64 = try reader.read()
        // A count that a table could have and that leaves empty slots, so that every search ends.
        try require(
            slotCount <= UInt64(SlotArray.maximumSlotCount) && SlotArray.isValidSlotCount(Int(slotCount))
                && keys.count <= SlotArray.maximumEntryCount(Int(slotCount)),
            "\(slotCount) slots for \(keys.count) keys")
        try reader.checkRemaining(Int(slotCount), of: MemoryLayout<UInt32>.stride)
        let array = SlotArray(count: Int(slotCount), seed: seed)
        var used: UInt32 = 0
        for start in stride(from: 0, to: array.slotCount, by: Self.slotsPerBlock) {
            let slots: [UInt32] = try reader.readArray(Swift.min(Self.slotsPerBlock, array.slotCount - start))
            // One pass without branches, which the compiler can vectorize.
            var indexed: UInt32 = 0
            var largest: UInt32 = 0
            var usedInBlock: UInt32 = 0
            for entry in slots {
                usedInBlock &+= entry == 0 ? 0 : 1
                indexed &+= array.ordinal(entry) == 0 ? 0 : 1
                largest = Swift.max(largest, array.ordinal(entry))
            }
            // Searches subtract 1 from the number in a slot, so a slot in use must have an index.
            try require(
                usedInBlock == indexed && Int(largest) <= keys.count, "a slot of key \(largest) for \(keys.count) keys")
            used += usedInBlock
            array[start..<start + slots.count] = slots
        }
        try require(Int(used) == keys.count, "\(used) used slots for \(keys.count) keys")
        self.init(keys, SlotTable(array, usedSlotCount: Int(used)))
    }
}
