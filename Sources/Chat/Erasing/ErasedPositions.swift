import EventJournal
import Locking
import Synchronization

/// The events whose content was erased while the store was open.
///
/// The batch of a follower, a cache or a checkpoint may hold content that was read before. Code
/// that keeps a copy compares ``epoch``; code that delivers an event tests ``contains(_:)``.
///
/// A superset of `ErasableLog.hiddenContent`: a position stays after its files are rewritten,
/// because copies in memory may be older.
final class ErasedPositions: Sendable {
    private let current = Lock(PositionSet())
    private let currentEpoch = Atomic<UInt64>(0)

    /// The number of changes; 0 before the first erasure.
    var epoch: UInt64 { currentEpoch.load(ordering: .acquiring) }

    /// Whether the content of an event was erased.
    func contains(_ position: Position) -> Bool { epoch > 0 && current.withLock { $0.contains(position) } }

    func add(_ other: PositionSet) {
        current.withLock { $0.formUnion(other) }
        currentEpoch.add(1, ordering: .acquiringAndReleasing)
    }

    /// Invalidates every copy made before this call.
    ///
    /// Called when the models have been rebuilt without the content.
    func advance() { currentEpoch.add(1, ordering: .acquiringAndReleasing) }

    /// Restores the former positions after an order that was not appended.
    func replace(by other: PositionSet) {
        current.withLock { $0 = other }
        currentEpoch.add(1, ordering: .acquiringAndReleasing)
    }

    /// The events whose content was erased.
    var positions: PositionSet { current.withLock { $0 } }
}
