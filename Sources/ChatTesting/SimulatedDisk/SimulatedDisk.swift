public import EventJournal
internal import Locking

/// An in-memory disk for tests of power failures and disk faults, reproducible from a seed.
///
/// ```swift
/// let disk = SimulatedDisk(seed: 1)
/// var options = JournalOptions()
/// options.storage = disk
/// options.slotSyncDelay = nil  // no background work
/// let journal = try Journal.open("journal", options: options)
/// _ = try journal.append(draft, expecting: 0)
/// // At any moment, the disk after a power failure:
/// options.storage = disk.crash(.random(seed: 7))
/// let recovered = try Journal.open("journal", options: options)
/// ```
///
/// The disk keeps two images, the current one, which reads return, and the durable one. An image
/// contains the sectors of 512 bytes and the size of every file, and the names in every directory.
/// A write, truncation, reservation, creation, rename or removal is *pending* until the sync that
/// covers it: `StorageFile.sync()` covers the sectors and the size of the file,
/// `JournalStorage.syncDirectory(_:)` the names in the directory, and nothing else. ``crash(_:)``
/// creates a new disk from any combination of the pending changes.
///
/// This is harsher than any real file system. Changes are not ordered, a sector can keep any
/// version since the last sync, and a file is lost if its name was not synced, even if its content
/// was. The disk does keep the guarantees that all real file systems give:
///
/// - A sector is written completely or not at all, except with `tearsSectors`.
/// - A rename within a directory happens completely or not at all.
/// - New space reads as zeros.
/// - The size changes of one file happen in order, and bytes that were cut off do not return when
///   the file grows again.
///
/// Paths start at one root, with or without a leading slash. A lock belongs to the object that
/// holds it and ends with a crash. All methods can be called from any thread. The memory of a
/// removed file is kept as long as the disk.
public final class SimulatedDisk: Sendable {
    /// The maximum size of a file, in bytes; a larger write fails like on a full disk.
    public static let maximumFileSize = 1 << 32

    struct State {
        var image: DiskImage
        var random: SeededRandom
        var operations = 0
        var faults = FaultPlan()
        var powerCut: PowerCut?
        var hasPower = true
        var locks: [Int: ObjectIdentifier] = [:]
        var watch: (@Sendable (_ operation: Int, DiskImage) -> Void)?
    }

    /// Whether a ``CrashExplorer`` killed the process that used the disk, without a power failure.
    ///
    /// The data that such a disk returns need not be durable.
    public let processWasKilled: Bool

    let state: Lock<State>

    /// Creates an empty disk: an empty root directory.
    ///
    /// - Parameters:
    ///   - seed: The seed of faults with a probability, of partial effects and of torn sectors.
    ///   - tearsSectors: Whether a crash can also leave a sector that is part old, part new, split
    ///     at any byte. Real disks do not do this; a program can only be expected to detect the
    ///     damage.
    public convenience init(seed: UInt64 = 0, tearsSectors: Bool = false) {
        self.init(DiskImage(tearing: tearsSectors ? SectorTearing(seed: seed) : nil), seed: seed)
    }

    init(_ image: DiskImage, seed: UInt64, processWasKilled: Bool = false) {
        self.processWasKilled = processWasKilled
        state = Lock(State(image: image, random: SeededRandom(seed: seed)))
    }

    /// The number of calls of `JournalStorage` and `StorageFile` methods, including failed
    /// ones.
    public var operationCount: Int { state.withLock { $0.operations } }

    /// Adds a fault; if several faults apply to an operation, the one added first takes effect.
    public func inject(_ fault: DiskFault) { state.withLock { $0.faults.add(fault) } }

    /// Removes all faults.
    public func removeFaults() { state.withLock { $0.faults.removeAll() } }

    /// Schedules a power failure at a later operation; that operation and all later ones fail.
    ///
    /// Has no effect if that operation has already happened. ``crash(_:)`` returns the disk after
    /// the power failure.
    public func cutPower(_ cut: PowerCut) { state.withLock { $0.powerCut = cut } }

    /// Whether the power is still on.
    public var hasPower: Bool { state.withLock { $0.hasPower } }

    /// The choices of a crash at this moment, in a fixed order.
    public var pendingChoices: [PendingChoice] { state.withLock { $0.image }.pendingChoices }

    /// Returns the disk after a power failure at this moment.
    ///
    /// The new disk has power, and no locks or faults; all of its content is durable. This disk
    /// does not change, so many outcomes of one moment can be tried.
    ///
    /// - Precondition: The picks of ``CrashOutcome/picks(_:)``, or the index of an outcome, fit
    ///   the ``pendingChoices``.
    public func crash(_ outcome: CrashOutcome) -> SimulatedDisk {
        let (image, seed) = state.withLock { state in
            var random = state.random
            return (state.image, random.next())
        }
        let alternativeCounts = image.alternativeCounts
        let picks = outcome.picks(alternativeCounts)
        precondition(
            picks.count == alternativeCounts.count && zip(picks, alternativeCounts).allSatisfy { $0 >= 0 && $0 < $1 },
            "The picks do not fit the pending choices of this crash.")
        return SimulatedDisk(image.afterCrash(picks), seed: seed)
    }

    /// Inverts a bit of a stored file, like a decaying medium.
    ///
    /// A sector with pending writes is read unchanged and written completely by the next sync.
    ///
    /// - Precondition: `bit` is in 0...7, and the file has a byte at `offset`.
    /// - Throws: `StorageError` if no file exists at the path.
    public func flipBit(_ bit: Int, ofByteAt offset: Int, in path: String) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            let file = try state.image.fileNumber(at: path, .inspect)
            state.image.change(file) { file, _ in file.flip(bit, at: offset) }
        }
    }

    /// Calls the closure before every operation, with the operation's number and the disk's image.
    ///
    /// The closure must not use this disk.
    func watch(_ body: (@Sendable (_ operation: Int, DiskImage) -> Void)?) { state.withLock { $0.watch = body } }

    /// Runs an operation: counts it, applies a power failure, finds its fault, then runs the body.
    func perform<Result: Sendable>(
        _ operation: StorageError.Operation, _ path: String,
        _ body: (inout State, _ fault: DiskFault.Effect?) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try state.withLock { (state) throws(StorageError) in
            state.operations += 1
            let isCut = state.powerCut?.operation == state.operations
            if isCut && state.powerCut?.side == .before { state.hasPower = false }
            guard state.hasPower else { throw StorageError(.failed, operation, path: path, number: .inputOutput) }
            state.watch?(state.operations, state.image)
            let fault = state.faults.effect(on: operation, path, number: state.operations, &state.random)
            do throws(StorageError) {
                let result = try body(&state, fault)
                guard isCut else { return result }
            } catch {
                guard isCut else { throw error }
            }
            // Also after an operation that has failed by itself, such as opening a missing file.
            state.hasPower = false
            throw StorageError(.failed, operation, path: path, number: .inputOutput)
        }
    }
}
