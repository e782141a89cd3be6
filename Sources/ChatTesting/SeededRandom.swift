#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A random number generator whose whole sequence follows from its seed: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
///
/// For tests; not for anything that has to be hard to guess.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// True once in so many times.
    public mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// 128 bits, for an id.
    public mutating func bits128() -> UInt128 { UInt128(next()) << 64 | UInt128(next()) }

    /// Random bytes: eight of each number, because `UInt8.random` is slow in a debug build.
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

/// The seeds that a property is tried with.
public enum Seeds {
    /// So many seeds: those from `first` on, or the one of the environment variable `CHATJOURNAL_SEED` alone, to replay a failure.
    ///
    /// Use it as the arguments of a parameterised test, which prints the seed that failed.
    public static func seeds(_ count: Int, from first: UInt64 = 1) -> [UInt64] {
        if let text = ProcessInfo.processInfo.environment["CHATJOURNAL_SEED"], let seed = UInt64(text) { return [seed] }
        return (0..<UInt64(count)).map { first + $0 }
    }
}
