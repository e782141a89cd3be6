import Synchronization

/// Where values go that were read only so that they are in a near cache when they are needed: a compiler would find the reading to be of no use otherwise.
public enum ReadAhead {
    private static let last = Atomic<UInt64>(0)

    /// Takes the sum of what was read; once for many reads, because threads share the place.
    public static func keep(_ sum: UInt64) { last.store(sum, ordering: .relaxed) }
}
