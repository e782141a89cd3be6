/// An open-addressing table that numbers keys from 0 in the order in which they come.
///
/// By hand, because a `Dictionary` keeps the key beside the value at a load of at most 3/4 and hashes with SipHash: here a key costs its own bytes and one slot of
/// 4 bytes at a load of 13/24 to 13/16, and rows can be plain columns beside it. The slots lie in shelves which split one by one as they fill (extendible hashing; Fagin and
/// others, 1979), so that no insertion ever waits for the whole table to be built anew. The bits of a slot that its number does not need hold a part of the key's
/// hash, so that a look-up hardly ever reads a wrong key. The hash is seeded, so that callers who choose ids cannot choose collisions;
/// the order of slots is never shown, so results do not depend on the seed.
struct NumberTable<Keys: KeyList>: Sendable {
    typealias Key = Keys.Key

    /// The keys by their numbers.
    var keys = Keys()

    var shelves = [Shelf(depth: 0, slotCount: 16)]
    /// The shelf of the keys whose hashes begin with these bits.
    var directory: [UInt32] = [0]
    /// How many leading bits of a hash the directory tells apart.
    var depth = 0
    /// How many bits of a slot its number takes; the rest holds bits of the hash.
    var numberBits: UInt32 = 24
    /// The table's own random seed, which goes with its slots wherever they go.
    var seed = (low: UInt64.random(in: 0 ... .max), high: UInt64.random(in: 0 ... .max))

    struct Shelf: Sendable {
        /// How many leading bits the hashes of the shelf's keys have in common.
        var depth: Int
        var count = 0
        /// The number + 1 of the key that lives there and bits of its hash, 0 for an empty slot.
        var slots: [UInt32]

        init(depth: Int, slotCount: Int) {
            self.depth = depth
            slots = [UInt32](repeating: 0, count: slotCount)
        }

        /// Makes an empty shelf for so many keys of one that was split: not the size that they would just fill, because more of them are on their way.
        init(depth: Int, splitFor count: Int) {
            var slotCount = 2_048
            while count * 16 > slotCount * 13 { slotCount = Self.next(slotCount) }
            self.init(depth: depth, slotCount: slotCount)
        }

        /// Whether one more key would be one too many: a search goes on to the next empty slot.
        var isFull: Bool { (count &+ 1) &* 16 > slots.count &* 13 }

        /// The size after one: powers of two, and the middle between any two of them.
        static func next(_ slotCount: Int) -> Int {
            slotCount.nonzeroBitCount == 1 ? slotCount / 2 * 3 : 1 << (Int.bitWidth - slotCount.leadingZeroBitCount)
        }

        /// Where the search for a key begins: its hash's lower half, as a part of the whole.
        @inline(__always)
        func home(_ hash: UInt64) -> Int {
            Int(truncatingIfNeeded: ((hash & 0xFFFF_FFFF) &* UInt64(truncatingIfNeeded: slots.count)) >> 32)
        }

        /// Makes a shelf of slots of which so many are taken.
        init(depth: Int, count: Int, slots: [UInt32]) {
            self.depth = depth
            self.count = count
            self.slots = slots
        }

        /// Puts an entry where nothing equal to it is, and a search has come to an empty slot.
        mutating func place(_ entry: UInt32, atSlot slot: Int) {
            slots[slot] = entry
            count += 1
        }

        /// Puts an entry where nothing equal to it is.
        mutating func place(_ entry: UInt32, _ hash: UInt64) {
            var slot = home(hash)
            while slots[slot] != 0 { slot = slot + 1 == slots.count ? 0 : slot + 1 }
            place(entry, atSlot: slot)
        }
    }

    static var fullShelf: Int { 3_072 }
    /// The directory tells apart no more leading bits than these, enough for 2^32 keys: shelves that have more in common, by collisions that chance does not bring
    /// about, grow instead.
    static var maximumDepth: Int { 24 }

    init() {}

    func find(_ key: Key) -> Int? {
        let hash = self.hash(key)
        let (number, _) = search(key, hash, shelfIndex(of: hash))
        return number < 0 ? nil : number
    }

    /// The number of a key, or -1, and the slot where the search ended.
    @inline(__always)
    private func search(_ key: Key, _ hash: UInt64, _ shelf: Int) -> (number: Int, slot: Int) {
        let slotCount = shelves[shelf].slots.count
        let numberMask = self.numberMask
        let tag = self.tag(of: hash)
        var slot = shelves[shelf].home(hash)
        while true {
            let entry = shelves[shelf].slots[slot]
            if entry == 0 { return (-1, slot) }
            if entry & ~numberMask == tag {
                let number = Int(entry & numberMask) - 1
                if keys[number] == key { return (number, slot) }
            }
            slot = slot + 1 == slotCount ? 0 : slot + 1
        }
    }

    /// Reads what looking up some keys is going to read.
    func warm(_ keys: [Key]) {
        var strip = Strip()
        var sum: UInt64 = 0
        for start in stride(from: 0, to: keys.count, by: Strip.count) {
            findAtHome(keys.span, from: start, &strip)
            for index in strip.found.indices { sum &+= UInt64(strip.found[index]) }
        }
        ReadAhead.keep(sum)
    }

    /// Some keys that are looked up together.
    private struct Strip {
        static var count: Int { 64 }

        var hashes = InlineArray<64, UInt64>(repeating: 0)
        /// What stands where the search for each begins.
        var first = InlineArray<64, UInt32>(repeating: 0)
        /// The number + 1 of each that was found there, 0 for another.
        var found = InlineArray<64, UInt32>(repeating: 0)
    }

    /// Finds those of a strip of keys that stand where the search for them begins, as most that there are do.
    ///
    /// Looking up one key after another waits for memory each time. These reads do not depend on one another, and the loops that make them do so little else that a
    /// processor has many of them under way at once; a look-up that has to go on finds what it reads next in a near cache.
    @inline(__always)
    private func findAtHome(_ keys: borrowing Span<Key>, from start: Int, _ strip: inout Strip) {
        let count = Swift.min(Strip.count, keys.count &- start)
        for index in 0..<count {
            let hash = self.hash(keys[start &+ index])
            strip.hashes[index] = hash
            let shelf = shelfIndex(of: hash)
            strip.first[index] = shelves[shelf].slots[shelves[shelf].home(hash)]
        }
        let numberMask = self.numberMask
        for index in 0..<count {
            let entry = strip.first[index]
            strip.found[index] = 0
            guard entry != 0, entry & ~numberMask == tag(of: strip.hashes[index]) else { continue }
            let number = entry & numberMask
            if self.keys[Int(number) &- 1] == keys[start &+ index] { strip.found[index] = number }
        }
    }

    /// At most 2^32 - 2 keys fit; the memory that they would take is out of reach sooner.
    mutating func insert(_ key: Key) -> (number: Int, isNew: Bool) {
        let hash = self.hash(key)
        let shelf = shelfIndex(of: hash)
        let (number, slot) = search(key, hash, shelf)
        if number >= 0 { return (number, false) }
        add(key, hash, shelf, slot)
        return (keys.count - 1, true)
    }

    /// Adds a key that a search has not found, with the shelf and the slot where it ended.
    @inline(__always)
    private mutating func add(_ key: Key, _ hash: UInt64, _ home: Int, _ slot: Int) {
        var shelf = home
        keys.append(key)
        if keys.count > Int(numberMask) { widenNumbers() }
        let entry = UInt32(truncatingIfNeeded: keys.count) | tag(of: hash)
        if !shelves[shelf].isFull {
            shelves[shelf].place(entry, atSlot: slot)
        } else {
            repeat {
                enlarge(shelf, of: hash)
                shelf = shelfIndex(of: hash)
            } while shelves[shelf].isFull
            shelves[shelf].place(entry, hash)
        }
    }

    /// Looks up keys in their order, with what each one's look-up reads under way before it is waited for.
    ///
    /// - Parameters:
    ///   - inserting: Whether the key at an index is given a number if it has none.
    /// - Returns: The number + 1 of each; 0 for a key that has none and is given none.
    @inline(__always)
    mutating func lookUp(_ keys: [Key], inserting: (Int) -> Bool) -> [UInt32] {
        var entries = [UInt32](repeating: 0, count: keys.count)
        var found = entries.mutableSpan
        var strip = Strip()
        for start in stride(from: 0, to: keys.count, by: Strip.count) {
            findAtHome(keys.span, from: start, &strip)
            for index in start..<Swift.min(start &+ Strip.count, keys.count) {
                if strip.found[index &- start] != 0 {
                    found[index] = strip.found[index &- start]
                    continue
                }
                let hash = strip.hashes[index &- start]
                let shelf = shelfIndex(of: hash)
                let (number, slot) = search(keys[index], hash, shelf)
                if number >= 0 {
                    found[index] = UInt32(truncatingIfNeeded: number &+ 1)
                } else if inserting(index) {
                    add(keys[index], hash, shelf, slot)
                    found[index] = UInt32(truncatingIfNeeded: self.keys.count)
                }
            }
        }
        return entries
    }

    /// Makes room for so many keys in a table that has none, so that it need not grow as far as that; in another it does nothing.
    mutating func reserve(_ count: Int) {
        guard keys.count == 0, count > Self.fullShelf / 2 else { return }
        var depth = 0
        // As many in each shelf as leave it some way from a split.
        while count >> depth > Self.fullShelf * 11 / 16, depth < Self.maximumDepth { depth += 1 }
        let mean = count >> depth
        // Chance gives hardly a shelf four times the square root of the mean more than the mean.
        let slotCount = min(Self.fullShelf, (mean + 4 * Int(Double(mean).squareRoot())) * 16 / 13)
        self.depth = depth
        directory = (0..<UInt32(1) << UInt32(depth)).map { $0 }
        shelves = directory.map { _ in Shelf(depth: depth, slotCount: slotCount) }
    }

    /// 24, 28 or 32 bits.
    var numberMask: UInt32 { .max &>> (32 &- numberBits) }

    private func tag(of hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 12) & ~numberMask }

    @inline(__always)
    private func shelfIndex(of hash: UInt64) -> Int {
        // In two steps, because a shift by all 64 bits would be by none.
        Int(directory[Int(truncatingIfNeeded: (hash &>> 1) &>> UInt64(truncatingIfNeeded: 63 &- depth))])
    }

    /// Makes a small shelf larger; splits a full one in two, by the next bit of the hashes.
    private mutating func enlarge(_ index: Int, of hash: UInt64) {
        let old = shelves[index]
        // Apart from placing them, so that the reads of the keys, which lie anywhere, do not wait for one another.
        let entries = old.slots.filter { $0 != 0 }
        let hashes = entries.map { self.hash(keys[Int($0 & numberMask) - 1]) }
        if old.slots.count < Self.fullShelf || old.depth == Self.maximumDepth {
            let next = Shelf.next(old.slots.count)
            // One that was made for what was announced has any size.
            var larger = Shelf(depth: old.depth, slotCount: old.slots.count < Self.fullShelf ? Swift.min(next, Self.fullShelf) : next)
            for (entry, hash) in zip(entries, hashes) { larger.place(entry, hash) }
            shelves[index] = larger
            return
        }
        if old.depth == depth {
            directory = directory.flatMap { [$0, $0] }
            depth += 1
        }
        let bit: UInt64 = 1 << UInt64(63 - old.depth)
        // Chance makes them nearly even; that they are not leaves no key without room.
        let upperCount = hashes.count { $0 & bit != 0 }
        var halves = (
            Shelf(depth: old.depth + 1, splitFor: entries.count - upperCount), Shelf(depth: old.depth + 1, splitFor: upperCount)
        )
        for (entry, hash) in zip(entries, hashes) {
            if hash & bit == 0 { halves.0.place(entry, hash) } else { halves.1.place(entry, hash) }
        }
        shelves[index] = halves.0
        shelves.append(halves.1)
        // The directory's entries for the shelf stand together; the upper half of them now names the new one.
        let span = 1 << (depth - old.depth)
        let first = Int(truncatingIfNeeded: hash >> UInt64(64 - depth)) & ~(span - 1)
        for position in first + span / 2..<first + span { directory[position] = UInt32(shelves.count - 1) }
    }

    /// Gives numbers four more bits of every slot; needed at 2^24 and at 2^28 keys.
    private mutating func widenNumbers() {
        let former = numberMask
        numberBits += 4
        let added = numberMask & ~former
        for shelf in shelves.indices {
            for slot in shelves[shelf].slots.indices { shelves[shelf].slots[slot] &= ~added }
        }
    }

    /// A folded multiplication of the two seeded halves, so that all bits of the key reach all bits of the result, and a mix of it.
    @inline(__always)
    func hash(_ key: Key) -> UInt64 {
        let low = UInt64(truncatingIfNeeded: key) ^ seed.low
        let high = (Key.bitWidth > 64 ? UInt64(truncatingIfNeeded: key >> Key(64)) : 0) ^ seed.high
        let product = low.multipliedFullWidth(by: high)
        let folded = (product.high ^ product.low) &* 0x9E37_79B9_7F4A_7C15
        return folded ^ folded >> 32
    }
}

extension NumberTable: Equatable {
    /// The slots follow from the keys.
    static func == (first: NumberTable, second: NumberTable) -> Bool { first.keys == second.keys }
}
