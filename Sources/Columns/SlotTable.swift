/// A hash table from keys to indices that grows in bounded steps; the keys are their owner's, who
/// tells their hashes.
///
/// By hand, because a `Dictionary` grows at once, for which an insertion waits hundreds of
/// milliseconds, and keeps every key beside its value. Here an index costs one slot of 4 bytes at a
/// load of 13/24 to 13/16. When the load is reached, a larger array takes the place of the one
/// before. Each insertion that follows, also that of an existing key, moves the next 8 indices
/// there. Until all are moved, look-ups search both. The bits of a slot that its index does not need hold a part of the hash, so that a
/// look-up hardly ever reads a wrong key.
///
/// Every array has a random seed. A search over ``longestRun`` slots, which chance does not bring
/// about, makes the table move to another array with another seed.
///
/// A value: a change after a copy copies the array. ``KeyTable/removeSlots()`` makes a copy that
/// shares nothing, for a checkpoint.
struct SlotTable: Sendable {
    private(set) var current: SlotArray
    /// Where the indices from `placed` to `toPlace` still are, while they are placed anew.
    private(set) var old: SlotArray?
    private var placed = 0
    private var toPlace = 0
    /// The array that comes next: its pages are touched ahead.
    private var next: SlotArray?
    /// The array before, whose memory is given back in parts.
    private var retired: SlotArray?
    /// The count of slots in `current` that are taken.
    private(set) var taken: Int
    /// Whether a search was so long that the seed has to be another.
    private var needsOtherSeed = false

    /// The indices that an insertion places anew.
    private static var step: Int { 8 }
    /// More slots than chance makes a search visit.
    static var longestRun: Int { 4_096 }
    /// Each fourth insertion of the last 64th before the limit touches a page of the next array:
    /// twice as many as it has.
    private static var insertionsPerPage: Int { 4 }
    /// So seldom a part of the array before is given back, which is a system call.
    private static var insertionsPerRelease: Int { 64 }

    /// Makes an empty table.
    init() { self.init(SlotArray(count: SlotArray.count(for: 0)), taken: 0) }

    /// Makes a table of an array with so many entries.
    init(_ array: SlotArray, taken: Int) { (current, self.taken) = (array, taken) }

    /// Whether some indices are still to be placed anew.
    var isGrowing: Bool { old != nil }

    /// Whether there is nothing in it.
    var isEmpty: Bool { taken == 0 && !isGrowing }

    /// Finds the index whose key is equal.
    @inline(__always)
    func find(hash: (HashSeed) -> UInt64, isEqual: (Int) -> Bool) -> Int? {
        let search = search(hash: hash, isEqual: isEqual)
        return search.index < 0 ? nil : search.index
    }

    /// Where a search ended.
    struct Search {
        /// -1 if no key is equal.
        var index: Int
        /// In `current`.
        var slot: Int
        /// In `current`.
        var hash: UInt64
    }

    @inline(__always)
    func search(hash: (HashSeed) -> UInt64, isEqual: (Int) -> Bool) -> Search {
        let hashed = hash(current.seed)
        let (index, slot) = current.search(hashed, isEqual)
        guard index < 0, let old else { return Search(index: index, slot: slot, hash: hashed) }
        return Search(index: old.search(hash(old.seed), isEqual).index, slot: slot, hash: hashed)
    }

    /// Adds an index where a search has found none, then does a bounded part of what growing takes.
    ///
    /// - Parameters:
    ///   - count: The count of indices, this one included.
    ///   - hash: The hash of an index's key; nil for an index that has none any more.
    @inline(__always)
    mutating func add(_ index: Int, at search: Search, of count: Int, hash: (Int, HashSeed) -> UInt64?) {
        precondition(index < current.capacity)
        makeUnique()
        current[search.slot] = current.entry(index, search.hash)
        taken &+= 1
        if current.distance(to: search.slot, search.hash) > Self.longestRun { needsOtherSeed = true }
        if old != nil { return place(Self.step, hash) }
        if retired != nil || needsOtherSeed || taken >= current.limit &- current.limit &>> 6 { prepareGrowth(count) }
    }

    /// Adds an index without a search before, unless there is one with the same hash.
    mutating func update(_ index: Int, of count: Int, hash: (Int, HashSeed) -> UInt64?) {
        // More indices than entries, because few of them have a key.
        if index >= current.limit {
            if isGrowing {
                makeUnique()
                place(toPlace, hash)
            }
            startGrowth(count)
        }
        guard let hashed = hash(index, current.seed) else { return }
        let (present, slot) = current.search(hashed) { $0 == index }
        if present < 0 { add(index, at: Search(index: -1, slot: slot, hash: hashed), of: count, hash: hash) }
    }

    /// Does a bounded part of what growing takes, so that it ends where no index is added any more.
    mutating func goOn(hash: (Int, HashSeed) -> UInt64?) {
        makeUnique()
        place(Self.step, hash)
    }

    @inline(__always)
    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&current) { current = current.copy() }
    }

    @inline(never)
    private mutating func prepareGrowth(_ count: Int) {
        if retired != nil, taken % Self.insertionsPerRelease == 0 {
            if !isKnownUniquelyReferenced(&retired) || retired?.releasePart() == false { retired = nil }
        }
        if taken >= current.limit || needsOtherSeed { return startGrowth(count) }
        guard taken >= current.limit - current.limit >> 6 else { return }
        let nextCount = nextCount(count + current.limit - taken)
        if next?.count != nextCount || !isKnownUniquelyReferenced(&next) { next = SlotArray(count: nextCount) }
        if taken % Self.insertionsPerPage == 0 { next?.touchNextPage() }
    }

    /// The count of slots that comes next where so many indices are placed anew: it leaves room for
    /// those that are inserted meanwhile.
    private func nextCount(_ count: Int) -> Int {
        Swift.max(current.count, SlotArray.count(for: count + count / Self.step + 2 * Self.step))
    }

    private mutating func startGrowth(_ count: Int) {
        let nextCount = nextCount(count)
        if next?.count != nextCount || !isKnownUniquelyReferenced(&next) { next = nil }
        (old, retired) = (current, nil)
        current = next ?? SlotArray(count: nextCount)
        next = nil
        (taken, placed, toPlace) = (0, 0, count)
        needsOtherSeed = false
    }

    /// Places the next so many indices anew.
    @inline(__always)
    private mutating func place(_ most: Int, _ hash: (Int, HashSeed) -> UInt64?) {
        let end = Swift.min(placed &+ most, toPlace)
        while placed < end {
            if let hash = hash(placed, current.seed), current.place(placed, hash) { taken &+= 1 }
            placed &+= 1
        }
        if placed == toPlace { (retired, old) = (old, nil) }
    }
}
