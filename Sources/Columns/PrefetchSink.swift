import Synchronization

/// A sink for prefetched values, which keeps the compiler from removing the loads.
public enum PrefetchSink {
    private static let last = Atomic<UInt64>(0)

    /// Stores the sum of the prefetched values.
    ///
    /// Call it once per batch of loads, because all threads share the variable.
    public static func consume(_ sum: UInt64) { last.store(sum, ordering: .relaxed) }
}
