/// Numbers ids from 0 in the order in which they come, and finds an id's number.
///
/// By hand, because a `Dictionary` keyed by 16-byte ids keeps the key beside the value at a load of at most 3/4 and hashes with SipHash: here an id costs its 16 bytes and
/// one slot of 4 to 8 bytes, and rows can be plain arrays beside it. Look-up and insertion are O(1) on average. The hash is seeded once for each process, so that callers who choose ids cannot choose
/// collisions; the order of slots is never shown, so results do not depend on the seed.
package struct DenseIndex<ID: EntityID>: Equatable, Sendable {
    /// The ids by their numbers.
    package private(set) var ids: [ID] = []

    /// Number + 1 of the id that lives there, 0 for an empty slot; the count is a power of two.
    private var slots: [UInt32] = [UInt32](repeating: 0, count: 16)

    package init() {}

    /// The slots follow from the ids.
    package static func == (first: Self, second: Self) -> Bool { first.ids == second.ids }

    package var count: Int { ids.count }

    /// Finds the number of an id.
    package func find(_ id: ID) -> Int? {
        let mask = slots.count - 1
        var slot = Self.hash(id) & mask
        while true {
            let entry = slots[slot]
            if entry == 0 { return nil }
            if ids[Int(entry) - 1].bits == id.bits { return Int(entry) - 1 }
            slot = (slot + 1) & mask
        }
    }

    /// Gives an id its number: the one it has, or the next.
    ///
    /// At most 2^32 - 2 ids fit; the 80 GB of memory that they would take are out of reach sooner.
    package mutating func insert(_ id: ID) -> (number: Int, isNew: Bool) {
        if (ids.count + 1) * 4 > slots.count * 3 { grow() }
        let mask = slots.count - 1
        var slot = Self.hash(id) & mask
        while true {
            let entry = slots[slot]
            if entry == 0 {
                ids.append(id)
                slots[slot] = UInt32(ids.count)
                return (ids.count - 1, true)
            }
            if ids[Int(entry) - 1].bits == id.bits { return (Int(entry) - 1, false) }
            slot = (slot + 1) & mask
        }
    }

    private mutating func grow() {
        var larger = [UInt32](repeating: 0, count: slots.count * 2)
        let mask = larger.count - 1
        for number in ids.indices {
            var slot = Self.hash(ids[number]) & mask
            while larger[slot] != 0 { slot = (slot + 1) & mask }
            larger[slot] = UInt32(number) + 1
        }
        slots = larger
    }

    /// A folded multiplication of the two seeded halves: all bits of the id reach the low bits of the result.
    private static func hash(_ id: ID) -> Int {
        let low = UInt64(truncatingIfNeeded: id.bits) ^ hashSeed.low
        let high = UInt64(truncatingIfNeeded: id.bits >> 64) ^ hashSeed.high
        let product = low.multipliedFullWidth(by: high)
        return Int(truncatingIfNeeded: product.high ^ product.low ^ (low &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }
}

/// The process's own random seed, taken from the standard library's.
private let hashSeed: (low: UInt64, high: UInt64) = {
    var first = Hasher()
    first.combine(1)
    var second = Hasher()
    second.combine(2)
    return (UInt64(bitPattern: Int64(first.finalize())), UInt64(bitPattern: Int64(second.finalize())))
}()
