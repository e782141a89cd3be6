#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A random number generator that is reproducible from its seed, for tests.
///
/// Implements SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// 2014). Not suitable for values that must be hard to guess.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator.
    public init(seed: UInt64) { state = seed }

    /// Returns the next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Returns true with the probability 1 / `count`.
    ///
    /// - Precondition: `count` is positive.
    public mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// Returns 128 random bits, for an id.
    public mutating func bits128() -> UInt128 { UInt128(next()) << 64 | UInt128(next()) }

    /// Returns random bytes.
    ///
    /// Uses all eight bytes of each number, because `UInt8.random` is slow in debug builds.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            var word = next()
            for _ in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

/// The seeds of a property test.
public enum Seeds {
    /// Returns consecutive seeds from `first` on, or only the seed of `CHATJOURNAL_SEED`, if set.
    ///
    /// Use the seeds as the arguments of a parameterised test, which prints the seed of a failure.
    /// Set the environment variable to that seed to replay the failure.
    ///
    /// - Precondition: `count` is not negative, and the variable is a number of 64 bits, if it is
    ///   set.
    public static func seeds(_ count: Int, from first: UInt64 = 1) -> [UInt64] {
        if let text = ProcessInfo.processInfo.environment["CHATJOURNAL_SEED"] {
            guard let seed = UInt64(text) else { preconditionFailure("CHATJOURNAL_SEED is not a seed: \(text)") }
            return [seed]
        }
        return (0..<UInt64(count)).map { first + $0 }
    }
}
