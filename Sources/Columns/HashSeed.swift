import Synchronization

/// The random seed of a table's hashes, so that callers cannot construct colliding keys.
struct HashSeed: Sendable, Hashable {
    var low: UInt64
    var high: UInt64

    /// The number of seeds that were made.
    private static let count = Atomic<UInt64>(0)

    /// Creates a seed from the secret of this process for hashes.
    ///
    /// The secret is random, unless `SWIFT_DETERMINISTIC_HASHING` is set: then a run is repeatable.
    init() {
        let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        self.init(low: Self.hash(2 * number), high: Self.hash(2 * number + 1))
    }

    private static func hash(_ number: UInt64) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(number)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

    /// Multiplies the seeded halves and folds the product, then mixes the result.
    ///
    /// Changes of the key spread to all bits of the result, with high probability over the seed.
    @inline(__always)
    func hash<Key: FixedWidthInteger & UnsignedInteger>(_ key: Key) -> UInt64 {
        let low = UInt64(truncatingIfNeeded: key) ^ self.low
        let high = (Key.bitWidth > 64 ? UInt64(truncatingIfNeeded: key >> Key(64)) : 0) ^ self.high
        let product = low.multipliedFullWidth(by: high)
        let folded = (product.high ^ product.low) &* 0x9E37_79B9_7F4A_7C15
        return folded ^ folded >> 32
    }
}
