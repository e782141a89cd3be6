public import EventJournal
internal import Locking

/// A disk in memory that forgets, fails and lies on purpose, by its seed: for tests of what a program promises about power cuts and faults.
///
/// ```swift
/// let disk = SimulatedDisk(seed: 1)
/// var options = JournalOptions()
/// options.storage = disk
/// options.idleDelay = nil  // nothing happens but what the test does
/// let journal = try Journal.open("journal", options: options)
/// // ... append, and then, at any moment:
/// let afterwards = disk.crash(.random(seed: 7))
/// ```
///
/// It keeps two images of every file, by sectors of 512 bytes, of its size, and of the names in every directory: what a program reads, and
/// what is durable. What is written, truncated, reserved, created, renamed or removed is *pending* until the sync that covers it: a file's
/// ``StorageFile/sync()`` its sectors and size, ``JournalStorage/syncDirectory(_:)`` the names in that directory, and neither more. ``crash(_:)``
/// makes a new disk of any combination of what is pending.
///
/// That is crueler than any real file system: no change waits for another, sectors keep any of the versions that they have had since the
/// last sync, and a file whose name was not synced is lost though its content was. What all real ones promise, it promises as well: a
/// sector is written whole (but see ``init(seed:tearsSectors:)``), a rename within a directory happens or does not, new space reads as
/// zeros, changes of one file's size happen in order, and what is cut off a file does not come back when it grows again.
///
/// Paths are looked up from one root, with or without a leading slash. Locks belong to the object that holds them and vanish in a crash.
/// All methods may be called from any thread. The memory of a removed file is kept for as long as the disk.
public final class SimulatedDisk: Sendable {
    /// The longest file, in bytes; a write beyond fails as on a full disk.
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

    /// Whether a ``CrashExplorer`` has killed the process that used the disk, which kept its power: what is read need not be durable.
    public let processWasKilled: Bool

    let state: Lock<State>

    /// Makes an empty disk: a root directory with nothing in it.
    ///
    /// - Parameters:
    ///   - seed: What faults by chance, partial effects and torn sectors follow from.
    ///   - tearsSectors: Whether a crash may also leave a sector that is new up to some byte and old from there on, or the other way round.
    ///     Disks promise otherwise; what can be asked of a program on such a disk is that it detects it or refuses.
    public convenience init(seed: UInt64 = 0, tearsSectors: Bool = false) {
        self.init(DiskImage(tearing: tearsSectors ? SectorTearing(seed: seed) : nil), seed: seed)
    }

    init(_ image: DiskImage, seed: UInt64, processWasKilled: Bool = false) {
        self.processWasKilled = processWasKilled
        state = Lock(State(image: image, random: SeededRandom(seed: seed)))
    }

    /// The number of operations so far: calls of the methods of ``JournalStorage`` and ``StorageFile``, failed ones included.
    public var operationCount: Int { state.withLock { $0.operations } }

    /// Adds a fault; of several that apply to an operation, the first added has its effect.
    public func inject(_ fault: DiskFault) { state.withLock { $0.faults.add(fault) } }

    /// Takes all faults away.
    public func removeFaults() { state.withLock { $0.faults.removeAll() } }

    /// Cuts the power at a later operation, which then fails as all after it do; ``crash(_:)`` shows what is left.
    public func cutPower(_ cut: PowerCut) { state.withLock { $0.powerCut = cut } }

    /// Whether the power has not been cut.
    public var hasPower: Bool { state.withLock { $0.hasPower } }

    /// What a crash would decide now, in a fixed order.
    public var pendingChoices: [PendingChoice] { state.withLock { $0.image }.pendingChoices }

    /// What is on the disk after a power cut at this moment: a new disk on which all is durable, without locks and faults, with power.
    ///
    /// This disk stays as it is, so that one moment can be tried with many outcomes.
    ///
    /// - Precondition: The values of ``CrashOutcome/picks(_:)`` fit the ``pendingChoices``, as an index does.
    public func crash(_ outcome: CrashOutcome) -> SimulatedDisk {
        let (image, seed) = state.withLock { state in
            var random = state.random
            return (state.image, random.next())
        }
        let radices = image.radices
        let picks = outcome.picks(radices)
        precondition(
            picks.count == radices.count && zip(picks, radices).allSatisfy { $0 >= 0 && $0 < $1 }, "the picks are not those of this crash")
        return SimulatedDisk(image.crashed(picks), seed: seed)
    }

    /// Inverts a bit of a file at rest, as a decaying medium does.
    ///
    /// A sector that is still to be written is read as it was, and written whole when it is synced.
    ///
    /// - Precondition: `bit` is from 0 to 7, and the file has a byte at `offset`.
    /// - Throws: ``StorageError`` when there is no file at the path.
    public func flipBit(_ bit: Int, ofByteAt offset: Int, in path: String) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            let file = try state.image.fileNumber(at: path, .inspect)
            state.image.change(file) { file, _ in file.flip(bit, at: offset) }
        }
    }

    /// Calls the closure, which must not use this disk, before every operation that is carried out, with its number and the disk as it is.
    func watch(_ body: (@Sendable (_ operation: Int, DiskImage) -> Void)?) { state.withLock { $0.watch = body } }

    /// Runs an operation: counts it, cuts the power, finds its fault, and throws what the body has no say in.
    func perform<Result: Sendable>(
        _ operation: StorageError.Operation, _ path: String,
        _ body: (inout State, _ fault: DiskFault.Effect?) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try state.withLock { (state) throws(StorageError) in
            state.operations += 1
            let isCut = state.powerCut?.operation == state.operations
            if isCut && state.powerCut?.side == .before { state.hasPower = false }
            guard state.hasPower else { throw StorageError(.failed, operation, path: path, errno: 5) }
            state.watch?(state.operations, state.image)
            let fault = state.faults.effect(on: operation, path, number: state.operations, &state.random)
            let result = try body(&state, fault)
            if isCut {
                state.hasPower = false
                throw StorageError(.failed, operation, path: path, errno: 5)
            }
            return result
        }
    }
}
