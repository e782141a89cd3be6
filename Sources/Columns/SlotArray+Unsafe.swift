#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

// Unsafe: maps and unmaps the memory of the slots. An `Array` is zeroed at creation and freed in
// one step, and an insertion would wait for both. Mapped pages are zeroed one by one when touched
// and can be released in parts (Benchmarks/README.md). Every access checks the slot against the
// count.

/// The slots of a hash table with linear probing, in one block of memory.
///
/// A slot is 0, or holds the index + 1 of an entry and some bits of its hash. A reference type, so
/// that ``SlotTable`` can pass it on without a copy.
///
/// Unchecked Sendable: the table changes slots only while it holds the only reference
/// (``SlotTable/makeUnique()``), and shared arrays are only read.
@safe final class SlotArray: @unchecked Sendable {
    /// The number of slots: a power of two from 16, or the middle between two of them.
    let slotCount: Int
    /// The number of entries at which the table grows: 13/16 of the slots.
    let maximumEntryCount: Int
    /// The seed of the hashes.
    let seed: HashSeed
    /// The bits of a slot for the index + 1 of its entry; the others hold bits of the hash.
    private let indexMask: UInt32
    private let slots: UnsafeMutablePointer<UInt32>
    /// The number of mapped bytes; 0 for a small array, which is on the heap.
    private var mappedByteCount: Int
    private var touchedByteCount = 0

    /// The maximum number of slots: a hash has 32 bits for the slot.
    static let maximumSlotCount = 1 << 32
    /// The size from which memory is mapped instead of allocated on the heap.
    static let leastMappedByteCount = 1 << 16
    private static let pageByteCount = 1 << 12
    private static let unmapByteCount = 1 << 18

    /// Creates empty slots.
    ///
    /// - Complexity: O(1) from ``leastMappedByteCount`` bytes on, otherwise O(*n*).
    init(count: Int, seed: HashSeed = HashSeed()) {
        precondition(count >= 16 && count <= Self.maximumSlotCount)
        self.slotCount = count
        self.seed = seed
        maximumEntryCount = Self.maximumEntryCount(count)
        indexMask = .max >> UInt32((maximumEntryCount + 1).leadingZeroBitCount - 32)
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
        if slotCount * MemoryLayout<UInt32>.stride < Self.leastMappedByteCount {
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

    /// Returns the maximum number of entries in `count` slots before the table grows.
    static func maximumEntryCount(_ count: Int) -> Int { count * 13 / 16 }

    /// Whether a table makes arrays of `count` slots.
    static func isValidSlotCount(_ count: Int) -> Bool {
        count >= 16 && count <= maximumSlotCount && count >> (count.trailingZeroBitCount) <= 3
    }

    /// Returns the minimum number of slots for `entries` entries.
    static func slotCount(for entries: Int) -> Int {
        var count = 16
        while maximumEntryCount(count) < entries { count = count.nonzeroBitCount == 1 ? count / 2 * 3 : count / 3 * 4 }
        return count
    }

    /// Returns a copy with its own memory.
    func copy() -> SlotArray {
        let copy = SlotArray(count: slotCount, seed: seed)
        unsafe copy.slots.update(from: slots, count: slotCount)
        return copy
    }

    /// Accesses the content of a slot, 0 if it is empty.
    @inline(__always)
    subscript(slot: Int) -> UInt32 {
        get {
            precondition(UInt(bitPattern: slot) < UInt(bitPattern: slotCount))
            return unsafe slots[slot]
        }
        set {
            precondition(UInt(bitPattern: slot) < UInt(bitPattern: slotCount))
            unsafe slots[slot] = newValue
        }
    }

    /// Accesses a range of slots, for a file.
    subscript(range: Range<Int>) -> [UInt32] {
        get {
            precondition(range.lowerBound >= 0 && range.upperBound <= slotCount)
            return unsafe Array(UnsafeBufferPointer(start: slots + range.lowerBound, count: range.count))
        }
        set {
            precondition(range.lowerBound >= 0 && range.upperBound <= slotCount && range.count == newValue.count)
            unsafe newValue.withUnsafeBufferPointer { source in
                if let base = source.baseAddress {
                    unsafe (slots + range.lowerBound).update(from: base, count: source.count)
                }
            }
        }
    }

    /// Touches the next page, so that later accesses do not wait for the system to zero it.
    ///
    /// Has no effect after the last page.
    func touchNextPage() {
        guard touchedByteCount < mappedByteCount else { return }
        self[touchedByteCount / MemoryLayout<UInt32>.stride] = 0
        touchedByteCount += Self.pageByteCount
    }

    /// Releases the last part of the memory of an unused array; returns whether any is left.
    func releasePart() -> Bool {
        guard mappedByteCount > 0 else { return false }
        let byteCount = Swift.min(mappedByteCount, Self.unmapByteCount)
        mappedByteCount -= byteCount
        _ = unsafe munmap(UnsafeMutableRawPointer(slots) + mappedByteCount, byteCount)
        return mappedByteCount > 0
    }
}

extension SlotArray {
    /// Returns the first slot of the search for a hash: the lower half, scaled to the count.
    @inline(__always)
    func home(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: ((hash & 0xFFFF_FFFF) &* UInt64(truncatingIfNeeded: slotCount)) &>> 32)
    }

    /// Returns the content of a slot for an index and a hash.
    @inline(__always)
    func entry(_ index: Int, _ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: index &+ 1) | tag(hash) }

    /// The exclusive bound of indexes that fit in a slot; it exceeds ``maximumEntryCount``.
    var indexBound: Int { Int(indexMask) }

    /// Returns the index + 1 of an entry.
    @inline(__always)
    func ordinal(_ entry: UInt32) -> UInt32 { entry & indexMask }

    /// Whether an entry can be that of a hash.
    @inline(__always)
    func matches(_ entry: UInt32, _ hash: UInt64) -> Bool { entry & ~indexMask == tag(hash) }

    /// Returns the upper bits of the hash, which are independent of ``home(_:)``.
    @inline(__always)
    private func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash &>> 32) & ~indexMask }

    @inline(__always)
    func next(_ slot: Int) -> Int { slot &+ 1 == slotCount ? 0 : slot &+ 1 }

    /// Returns the index of the equal entry, or -1, and the slot where the search ended.
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

    /// Places an entry in the first empty slot of its search, unless the search meets an equal
    /// entry.
    ///
    /// Returns whether it was placed.
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

    /// Returns the number of slots from the start of a hash's search to a slot.
    func distance(to slot: Int, _ hash: UInt64) -> Int {
        let distance = slot - home(hash)
        return distance < 0 ? distance + slotCount : distance
    }
}
