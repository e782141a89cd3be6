public import EventJournal

/// A fault of a ``SimulatedDisk``: when it occurs, on which paths, and its effect.
///
/// Interrupted and short system calls are not faults: the `JournalStorage` protocol guarantees
/// whole operations, and `FileStorage` repeats such calls. They are only visible in that a failed
/// operation may have done part of its work.
public struct DiskFault: Hashable, Sendable {
    /// The time at which the fault occurs.
    public enum Trigger: Hashable, Sendable {
        /// At the operation with this number, counted from 1; see ``SimulatedDisk/operationCount``.
        case operation(Int)
        /// At the nth operation of this kind on the fault's paths, counted from 1 since the
        /// injection.
        case occurrence(Int, of: StorageError.Operation)
        /// At any operation of these kinds with this probability (0...1), by the disk's seed.
        case chance(Double, of: Set<StorageError.Operation>)
    }

    /// The effect of a fault.
    public enum Effect: Hashable, Sendable {
        /// The operation throws an error of this kind.
        ///
        /// A failed write leaves part of its bytes, by the disk's seed; the part ends at a sector
        /// boundary unless the disk tears sectors. A failed reservation leaves part of the space.
        /// After a failed `StorageFile.sync()` the bytes stay readable and count as clean, but
        /// are lost in a crash. Any other failed operation changes nothing.
        case fails(StorageError.Kind)
        /// A sync of a file or a directory succeeds without effect: its changes stay pending.
        ///
        /// Other operations are not affected. No journal can be durable on such a disk; a program
        /// can only be expected to detect the loss.
        case losesSync
    }

    /// The time at which the fault occurs.
    public var trigger: Trigger
    /// The effect of the fault.
    public var effect: Effect
    /// The fault applies only to paths with this suffix; an empty suffix matches all paths.
    public var pathSuffix: String

    /// Creates a fault.
    public init(_ effect: Effect, at trigger: Trigger, pathSuffix: String = "") {
        self.trigger = trigger
        self.effect = effect
        self.pathSuffix = pathSuffix
    }
}

/// The moment of a power failure: that operation and all later ones throw
/// `StorageError.Kind.failed`.
public struct PowerCut: Hashable, Sendable {
    /// Whether the power fails before or after the operation takes effect.
    public enum Side: Hashable, Sendable {
        /// The operation has no effect.
        case before
        /// The operation takes effect, but throws an error.
        case after
    }

    /// The number of the operation, counted from 1; see ``SimulatedDisk/operationCount``.
    public var operation: Int
    /// Whether the operation still takes effect.
    public var side: Side

    /// Creates a power failure.
    public init(_ side: Side, operation: Int) {
        self.operation = operation
        self.side = side
    }
}

/// The faults of a disk, with their counters.
struct FaultPlan: Sendable {
    private var faults: [(fault: DiskFault, count: Int)] = []

    mutating func add(_ fault: DiskFault) { faults.append((fault, 0)) }
    mutating func removeAll() { faults = [] }

    /// Returns the effect of the first fault that applies to the operation.
    mutating func effect(
        on operation: StorageError.Operation, _ path: String, number: Int, _ random: inout SeededRandom
    ) -> DiskFault.Effect? {
        var effect: DiskFault.Effect?
        for index in faults.indices {
            let fault = faults[index].fault
            // `hasSuffix` is true for an empty suffix.
            guard path.hasSuffix(fault.pathSuffix) else { continue }
            let applies: Bool
            switch fault.trigger {
            case .operation(let wanted): applies = number == wanted
            case .occurrence(let wanted, let kind):
                if kind == operation { faults[index].count += 1 }
                applies = kind == operation && faults[index].count == wanted
            case .chance(let probability, let kinds):
                applies = kinds.contains(operation) && Double.random(in: 0..<1, using: &random) < probability
            }
            if applies && effect == nil { effect = fault.effect }
        }
        return effect
    }
}
