/// A hash table from keys to indexes that grows in bounded steps.
///
/// The caller stores the keys and provides their hashes. A `Dictionary` grows in one step, which
/// delays an insertion, and stores the keys again. Here an index takes a slot of 4 bytes at a load
/// of 13/24 to 13/16.
///
/// At the load limit a larger array replaces the current one. Each following insertion, including
/// that of an existing key, moves the next 8 indexes to the new array; until all are moved,
/// look-ups search both. The bits of a slot that the index does not need hold a part of the hash,
/// so a look-up rarely reads the key of another entry.
///
/// Every array has a random seed. A search longer than ``maximumProbeLength`` slots, which does not
/// occur by chance, triggers the move to an array with another seed.
///
/// A value type: a change after a copy copies the array. ``KeyTable/removeSlots()`` avoids this for
/// a copy that is only written to a checkpoint.
struct SlotTable: Sendable {
    private(set) var current: SlotArray
    /// The previous array during growth, with the indexes from `movedCount` to `oldIndexCount` that
    /// are still to be moved.
    private(set) var previous: SlotArray?
    /// The number of indexes moved so far during growth.
    private var movedCount = 0
    /// The number of indexes when the growth started.
    private var oldIndexCount = 0
    /// The next array, whose pages are touched in advance.
    private var next: SlotArray?
    /// The former array, whose memory is released in parts.
    private var retired: SlotArray?
    /// The number of used slots in `current`.
    private(set) var usedSlotCount: Int
    /// Whether a search was so long that the next array needs another seed.
    private var needsNewSeed = false

    /// The number of indexes that an insertion moves during growth.
    private static var step: Int { 8 }
    /// A search longer than this does not occur by chance.
    static var maximumProbeLength: Int { 4_096 }
    /// The insertions per touched page of the next array, shortly before growth.
    ///
    /// Touching starts at 63/64 of the limit, so there are about twice as many touches as pages.
    private static var insertionsPerPage: Int { 4 }
    /// The insertions per released part of the former array; each release is a system call.
    private static var insertionsPerRelease: Int { 64 }

    /// Creates an empty table.
    init() { self.init(SlotArray(count: SlotArray.slotCount(for: 0)), usedSlotCount: 0) }

    /// Creates a table from an array and the number of its used slots.
    init(_ array: SlotArray, usedSlotCount: Int) { (current, self.usedSlotCount) = (array, usedSlotCount) }

    /// Whether some indexes are still to be moved.
    var isGrowing: Bool { previous != nil }

    /// Whether the table is empty.
    var isEmpty: Bool { usedSlotCount == 0 && !isGrowing }

    /// Returns the index whose key is equal, or nil.
    @inline(__always)
    func find(hash: (HashSeed) -> UInt64, isEqual: (Int) -> Bool) -> Int? {
        let search = search(hash: hash, isEqual: isEqual)
        return search.index < 0 ? nil : search.index
    }

    /// The result of a search.
    struct Search {
        /// The index of the equal key, or -1.
        var index: Int
        /// The slot in `current` where the search ended.
        var slot: Int
        /// The hash with the seed of `current`.
        var hash: UInt64
    }

    @inline(__always)
    func search(hash: (HashSeed) -> UInt64, isEqual: (Int) -> Bool) -> Search {
        let hashed = hash(current.seed)
        let (index, slot) = current.search(hashed, isEqual)
        guard index < 0, let previous else { return Search(index: index, slot: slot, hash: hashed) }
        return Search(index: previous.search(hash(previous.seed), isEqual).index, slot: slot, hash: hashed)
    }

    /// Adds an index after an unsuccessful search, then performs a bounded part of the growth.
    ///
    /// - Parameters:
    ///   - count: The number of indexes, including this one.
    ///   - hash: Returns the hash of an index's key, or nil if the index no longer has a key.
    @inline(__always)
    mutating func add(_ index: Int, at search: Search, of count: Int, hash: (Int, HashSeed) -> UInt64?) {
        precondition(index < current.indexBound)
        makeUnique()
        current[search.slot] = current.entry(index, search.hash)
        usedSlotCount &+= 1
        if current.distance(to: search.slot, search.hash) > Self.maximumProbeLength { needsNewSeed = true }
        if previous != nil { return moveIndexes(Self.step, hash) }
        if retired != nil || needsNewSeed
            || usedSlotCount >= current.maximumEntryCount &- current.maximumEntryCount &>> 6
        {
            prepareGrowth(count)
        }
    }

    /// Adds an index, unless an entry of the same index and hash exists.
    mutating func update(_ index: Int, of count: Int, hash: (Int, HashSeed) -> UInt64?) {
        // An index must fit the bits of a slot. If few indexes have a key, they reach that bound
        // before the number of entries reaches the limit, so the table grows here.
        if index >= current.maximumEntryCount {
            if isGrowing {
                makeUnique()
                moveIndexes(oldIndexCount, hash)
            }
            startGrowth(count)
        }
        guard let hashed = hash(index, current.seed) else { return }
        let (present, slot) = current.search(hashed) { $0 == index }
        if present < 0 { add(index, at: Search(index: -1, slot: slot, hash: hashed), of: count, hash: hash) }
    }

    /// Performs a bounded part of the growth without an insertion.
    ///
    /// Growth then completes even if only existing keys follow.
    mutating func continueGrowth(hash: (Int, HashSeed) -> UInt64?) {
        makeUnique()
        moveIndexes(Self.step, hash)
    }

    @inline(__always)
    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&current) { current = current.copy() }
    }

    @inline(never)
    private mutating func prepareGrowth(_ count: Int) {
        if retired != nil, usedSlotCount % Self.insertionsPerRelease == 0 {
            if !isKnownUniquelyReferenced(&retired) || retired?.releasePart() == false { retired = nil }
        }
        if usedSlotCount >= current.maximumEntryCount || needsNewSeed { return startGrowth(count) }
        guard usedSlotCount >= current.maximumEntryCount - current.maximumEntryCount >> 6 else { return }
        let nextCount = nextCount(count + current.maximumEntryCount - usedSlotCount)
        if next?.slotCount != nextCount || !isKnownUniquelyReferenced(&next) { next = SlotArray(count: nextCount) }
        if usedSlotCount % Self.insertionsPerPage == 0 { next?.touchNextPage() }
    }

    /// Returns the size of the next array for `count` indexes, with room for insertions during
    /// growth.
    ///
    /// Growth takes at most `count` / ``step`` insertions, rounded up, which need slots too. The
    /// term `2 * step` is a margin.
    private func nextCount(_ count: Int) -> Int {
        Swift.max(current.slotCount, SlotArray.slotCount(for: count + count / Self.step + 2 * Self.step))
    }

    private mutating func startGrowth(_ count: Int) {
        let nextCount = nextCount(count)
        if next?.slotCount != nextCount || !isKnownUniquelyReferenced(&next) { next = nil }
        (previous, retired) = (current, nil)
        current = next ?? SlotArray(count: nextCount)
        next = nil
        (usedSlotCount, movedCount, oldIndexCount) = (0, 0, count)
        needsNewSeed = false
    }

    /// Moves up to `most` indexes to the current array.
    @inline(__always)
    private mutating func moveIndexes(_ most: Int, _ hash: (Int, HashSeed) -> UInt64?) {
        let end = Swift.min(movedCount &+ most, oldIndexCount)
        while movedCount < end {
            if let hash = hash(movedCount, current.seed), current.place(movedCount, hash) { usedSlotCount &+= 1 }
            movedCount &+= 1
        }
        if movedCount == oldIndexCount { (retired, previous) = (previous, nil) }
    }
}
