/// An open-addressing table that numbers 128-bit keys from 0 in the order in which they come.
///
/// By hand, because a `Dictionary` keyed by 16-byte ids keeps the key beside the value at a load of at most 3/4 and hashes with SipHash: here an id costs
/// its 16 bytes and one slot of 4 to 8 bytes, and rows can be plain arrays beside it. Look-up and insertion are O(1) on average. The hash is seeded once
/// for each process, so that callers who choose ids cannot choose collisions; the order of slots is never shown, so results do not depend on the seed.
@usableFromInline
struct IDTable: Equatable, Sendable {
    /// The keys by their numbers.
    @usableFromInline private(set) var keys: [UInt128] = []

    /// Number + 1 of the key that lives there, 0 for an empty slot; the count is a power of two.
    private var slots = [UInt32](repeating: 0, count: 16)

    @usableFromInline init() {}

    /// The slots follow from the keys.
    @usableFromInline static func == (first: IDTable, second: IDTable) -> Bool { first.keys == second.keys }

    @usableFromInline func find(_ key: UInt128) -> Int? {
        let mask = slots.count - 1
        var slot = Self.hash(key) & mask
        while true {
            let entry = slots[slot]
            if entry == 0 { return nil }
            if keys[Int(entry) - 1] == key { return Int(entry) - 1 }
            slot = (slot + 1) & mask
        }
    }

    /// At most 2^32 - 2 keys fit; the 80 GB of memory that they would take are out of reach sooner.
    @usableFromInline mutating func insert(_ key: UInt128) -> (number: Int, isNew: Bool) {
        if (keys.count + 1) * 4 > slots.count * 3 { grow() }
        let mask = slots.count - 1
        var slot = Self.hash(key) & mask
        while true {
            let entry = slots[slot]
            if entry == 0 {
                keys.append(key)
                slots[slot] = UInt32(keys.count)
                return (keys.count - 1, true)
            }
            if keys[Int(entry) - 1] == key { return (Int(entry) - 1, false) }
            slot = (slot + 1) & mask
        }
    }

    private mutating func grow() {
        var larger = [UInt32](repeating: 0, count: slots.count * 2)
        let mask = larger.count - 1
        for number in keys.indices {
            var slot = Self.hash(keys[number]) & mask
            while larger[slot] != 0 { slot = (slot + 1) & mask }
            larger[slot] = UInt32(number) + 1
        }
        slots = larger
    }

    /// A folded multiplication of the two seeded halves, so that all bits of the key reach the low bits of the result, and a mix of it.
    private static func hash(_ key: UInt128) -> Int {
        let low = UInt64(truncatingIfNeeded: key) ^ hashSeed.low
        let high = UInt64(truncatingIfNeeded: key >> 64) ^ hashSeed.high
        let product = low.multipliedFullWidth(by: high)
        let folded = (product.high ^ product.low) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: folded ^ folded >> 32)
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
