import EventJournal
import Locking
import Synchronization

/// The events whose content was erased while the store was open.
///
/// Copies of their content that were read before may still be on their way: in the batch of a
/// follower, in a cache, in a checkpoint that is being written. Each place compares the epoch before
/// it keeps or delivers what it has read.
final class Concealment: Sendable {
    private let positions = Lock(PositionSet())
    private let currentEpoch = Atomic<UInt64>(0)

    /// The number of changes; 0 before the first erasure.
    var epoch: UInt64 { currentEpoch.load(ordering: .acquiring) }

    /// Whether the content of an event was erased.
    func contains(_ position: Position) -> Bool { epoch > 0 && positions.withLock { $0.contains(position) } }

    func add(_ other: PositionSet) {
        positions.withLock { $0.formUnion(other) }
        currentEpoch.add(1, ordering: .acquiringAndReleasing)
    }

    /// Makes what was read before this call stale, once no state has the content any more.
    func advance() { currentEpoch.add(1, ordering: .acquiringAndReleasing) }

    /// Ends the concealment of events whose erasure was not ordered.
    func replace(by other: PositionSet) {
        positions.withLock { $0 = other }
        currentEpoch.add(1, ordering: .acquiringAndReleasing)
    }

    /// The events whose content was erased.
    var concealed: PositionSet { positions.withLock { $0 } }
}
