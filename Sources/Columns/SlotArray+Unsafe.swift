#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

// Unsafe, because the memory of the slots is mapped and unmapped by hand. An `Array` of as many
// slots is zeroed when it is made and freed in one step, and an insertion waits for both: 47 and 7
// ms at 10^7 keys. Pages that are mapped are zeroed one by one as they are touched (2 us), and are
// given back in parts (256 KiB: 25 us). Every access compares the slot with the count.

/// The slots of a hash table with linear probing, in one piece of memory: in each the index of an
/// entry and bits of its hash, or nothing.
///
/// A reference, so that ``SlotTable`` can hand it on without a copy.
///
/// Sendable without the compiler's check: the table changes the slots only while it holds the only
/// reference (``SlotTable/makeUnique()``), and arrays that are shared are only read.
@safe final class SlotArray: @unchecked Sendable {
    /// A power of two from 16, or the middle between two of them.
    let count: Int
    /// The count of entries at which the table grows: 13/16 of the slots.
    let limit: Int
    /// The seed of the hashes.
    let seed: HashSeed
    /// The bits of a slot that hold the index + 1 of its entry; the others hold bits of the hash.
    private let indexMask: UInt32
    private let slots: UnsafeMutablePointer<UInt32>
    /// The bytes that are mapped; 0 for a small array, which is on the heap.
    private var mappedByteCount: Int
    private var touchedByteCount = 0

    /// From this size on the memory is mapped.
    static let leastMappedByteCount = 1 << 16
    private static let pageByteCount = 1 << 12
    private static let unmappedAtOnce = 1 << 18

    /// Makes empty slots.
    ///
    /// - Complexity: O(1) from ``leastMappedByteCount`` on.
    init(count: Int, seed: HashSeed = HashSeed()) {
        precondition(count >= 16 && count <= 1 << 32)
        self.count = count
        self.seed = seed
        limit = Self.limit(count)
        indexMask = .max >> UInt32((limit + 1).leadingZeroBitCount - 32)
        let byteCount = count * MemoryLayout<UInt32>.stride
        if byteCount < Self.leastMappedByteCount {
            mappedByteCount = 0
            unsafe slots = .allocate(capacity: count)
            unsafe slots.initialize(repeating: 0, count: count)
        } else {
            mappedByteCount = byteCount
            guard let map = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | Self.anonymous, -1, 0),
                unsafe map != MAP_FAILED
            else { fatalError("No memory for \(count) slots.") }
            unsafe slots = map.bindMemory(to: UInt32.self, capacity: count)
        }
    }

    deinit {
        if count * MemoryLayout<UInt32>.stride < Self.leastMappedByteCount {
            unsafe slots.deallocate()
        } else if mappedByteCount > 0 {
            _ = unsafe munmap(slots, mappedByteCount)
        }
    }

    #if canImport(Darwin)
        private static let anonymous = MAP_ANON
    #else
        private static let anonymous = MAP_ANONYMOUS
    #endif

    /// The most entries of so many slots before the table grows.
    static func limit(_ count: Int) -> Int { count * 13 / 16 }

    /// Whether a table makes arrays of so many slots.
    static func isCount(_ count: Int) -> Bool { count >= 16 && count >> (count.trailingZeroBitCount) <= 3 }

    /// The fewest slots for so many entries.
    static func count(for entries: Int) -> Int {
        var count = 16
        while limit(count) < entries { count = count.nonzeroBitCount == 1 ? count / 2 * 3 : count / 3 * 4 }
        return count
    }

    /// Makes a copy of its own.
    func copy() -> SlotArray {
        let copy = SlotArray(count: count, seed: seed)
        unsafe copy.slots.update(from: slots, count: count)
        return copy
    }

    /// What is in a slot, 0 for nothing.
    @inline(__always)
    subscript(slot: Int) -> UInt32 {
        get {
            precondition(UInt(bitPattern: slot) < UInt(bitPattern: count))
            return unsafe slots[slot]
        }
        set {
            precondition(UInt(bitPattern: slot) < UInt(bitPattern: count))
            unsafe slots[slot] = newValue
        }
    }

    /// Some slots, for a file.
    subscript(range: Range<Int>) -> [UInt32] {
        get {
            precondition(range.lowerBound >= 0 && range.upperBound <= count)
            return unsafe Array(UnsafeBufferPointer(start: slots + range.lowerBound, count: range.count))
        }
        set {
            precondition(range.lowerBound >= 0 && range.upperBound <= count && range.count == newValue.count)
            unsafe newValue.withUnsafeBufferPointer { source in
                if let base = source.baseAddress { unsafe (slots + range.lowerBound).update(from: base, count: source.count) }
            }
        }
    }

    /// Touches the next page, so that no later access waits for the system to zero it; returns
    /// after the last one without effect.
    func touchNextPage() {
        guard touchedByteCount < mappedByteCount else { return }
        self[touchedByteCount / MemoryLayout<UInt32>.stride] = 0
        touchedByteCount += Self.pageByteCount
    }

    /// Gives back the last part of the memory of an array that is not going to be used again;
    /// returns whether anything is left.
    func releasePart() -> Bool {
        guard mappedByteCount > 0 else { return false }
        let byteCount = Swift.min(mappedByteCount, Self.unmappedAtOnce)
        mappedByteCount -= byteCount
        _ = unsafe munmap(UnsafeMutableRawPointer(slots) + mappedByteCount, byteCount)
        return mappedByteCount > 0
    }
}

extension SlotArray {
    /// Where the search for a hash begins: its lower half, as a part of the whole.
    @inline(__always)
    func home(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: ((hash & 0xFFFF_FFFF) &* UInt64(truncatingIfNeeded: count)) &>> 32)
    }

    /// What a slot holds for an index and a hash.
    @inline(__always)
    func entry(_ index: Int, _ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: index &+ 1) | tag(hash) }

    /// The indices that fit into a slot are smaller than this; it is more than the limit.
    var capacity: Int { Int(indexMask) }

    /// The index + 1 of an entry.
    @inline(__always)
    func ordinal(_ entry: UInt32) -> UInt32 { entry & indexMask }

    /// Whether an entry may be that of a hash.
    @inline(__always)
    func matches(_ entry: UInt32, _ hash: UInt64) -> Bool { entry & ~indexMask == tag(hash) }

    /// The upper half of the hash, apart from ``home(_:)``.
    @inline(__always)
    private func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash &>> 32) & ~indexMask }

    @inline(__always)
    func next(_ slot: Int) -> Int { slot &+ 1 == count ? 0 : slot &+ 1 }

    /// The index of the entry that is equal, or -1, and the slot where the search ended.
    @inline(__always)
    func search(_ hash: UInt64, _ isEqual: (Int) -> Bool) -> (index: Int, slot: Int) {
        var slot = home(hash)
        while true {
            let entry = self[slot]
            if entry == 0 { return (-1, slot) }
            if matches(entry, hash) {
                let index = Int(ordinal(entry)) &- 1
                if isEqual(index) { return (index, slot) }
            }
            slot = next(slot)
        }
    }

    /// Puts an entry into the first empty slot, unless the search for one meets the same; returns
    /// whether it did.
    @inline(__always)
    func place(_ index: Int, _ hash: UInt64) -> Bool {
        let new = entry(index, hash)
        var slot = home(hash)
        while true {
            let entry = self[slot]
            if entry == 0 {
                self[slot] = new
                return true
            }
            if entry == new { return false }
            slot = next(slot)
        }
    }

    /// The count of slots from where the search for a hash begins to another.
    func distance(to slot: Int, _ hash: UInt64) -> Int {
        let distance = slot - home(hash)
        return distance < 0 ? distance + count : distance
    }
}
