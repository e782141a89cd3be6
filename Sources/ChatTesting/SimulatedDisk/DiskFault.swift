public import EventJournal

/// A failure that a ``SimulatedDisk`` is to bring about: when, where and what.
///
/// Interrupted and short system calls are no faults here: the ``JournalStorage`` protocol promises whole operations, and it is `FileStorage` that
/// has to repeat a call. What can be seen of them is that an operation that fails may have done a part of its work.
public struct DiskFault: Hashable, Sendable {
    /// When the fault happens.
    public enum Moment: Hashable, Sendable {
        /// At the operation with this number, counted over all from 1; see ``SimulatedDisk/operationCount``.
        case operation(Int)
        /// At the nth operation of this kind, from 1, on the fault's paths, counted from when the fault was injected.
        case occurrence(Int, of: StorageError.Operation)
        /// At any operation of these kinds, with this probability from 0 to 1, by the disk's seed.
        case chance(Double, of: Set<StorageError.Operation>)
    }

    /// What happens.
    public enum Effect: Hashable, Sendable {
        /// The operation throws an error of this kind.
        ///
        /// A failing write leaves a part of its bytes, which ends with a sector (file systems work by blocks) unless the disk tears sectors,
        /// and a failing reservation a part of the space, as the disk's seed has it; a failing ``StorageFile/sync()`` leaves the bytes
        /// readable and clean, and they are gone after a crash; anything else leaves all as it was.
        case fails(StorageError.Kind)
        /// A sync, of a file or of a directory, succeeds and does nothing: what it covered stays pending. No effect on other operations.
        ///
        /// No disk that does this is honest, and no journal can keep a promise on it. What can be asked is that it is detected or refused.
        case losesSync
    }

    /// When the fault happens.
    public var moment: Moment
    /// What happens.
    public var effect: Effect
    /// Only paths that end like this are concerned; the empty text concerns all.
    public var pathSuffix: String

    /// Makes a fault.
    public init(_ effect: Effect, at moment: Moment, pathSuffix: String = "") {
        self.moment = moment
        self.effect = effect
        self.pathSuffix = pathSuffix
    }
}

/// The moment at which a ``SimulatedDisk`` stops: that operation and every later one throw ``StorageError/Kind/failed``.
public struct PowerCut: Hashable, Sendable {
    /// Whether the operation still does its work.
    public enum Side: Hashable, Sendable {
        /// The operation does nothing.
        case before
        /// The operation does its work; its caller is told that it failed.
        case after
    }

    /// The number of the operation, counted over all from 1; see ``SimulatedDisk/operationCount``.
    public var operation: Int
    /// Whether the operation still does its work.
    public var side: Side

    /// Makes a power cut.
    public init(_ side: Side, operation: Int) {
        self.operation = operation
        self.side = side
    }
}

/// The faults of a disk and what has been counted for them.
struct FaultPlan: Sendable {
    private var faults: [(fault: DiskFault, count: Int)] = []

    mutating func add(_ fault: DiskFault) { faults.append((fault, 0)) }
    mutating func removeAll() { faults = [] }

    /// The effect on an operation: that of the first fault that applies.
    mutating func effect(
        on operation: StorageError.Operation, _ path: String, number: Int, _ random: inout SeededRandom
    ) -> DiskFault.Effect? {
        var effect: DiskFault.Effect?
        for index in faults.indices {
            let fault = faults[index].fault
            // An empty suffix is one of every path.
            guard path.hasSuffix(fault.pathSuffix) else { continue }
            let applies: Bool
            switch fault.moment {
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
