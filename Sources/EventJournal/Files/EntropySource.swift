internal import Dispatch
internal import Locking
import Primitives

/// The source of a journal's random bytes: its id, the segments' framing salt and the records'
/// salt.
///
/// Tests replace it (`SeededEntropy` of `ChatTesting`) to make a run reproducible to the byte. A
/// record's salt prevents erased content from being guessed by its hash; a store with real content
/// must use ``SystemEntropy``.
public protocol EntropySource: Sendable {
    /// Fills the whole span with fresh random bytes.
    ///
    /// One journal calls it from one thread at a time, in blocks of 4 KiB for the salt of records.
    func fill(_ bytes: inout MutableRawSpan)
}

/// The operating system's random generator (`getentropy`, `arc4random_buf`).
///
/// The process prefetches at most 64 KiB in the background, shared by all its journals that write
/// at a high rate. A forked child never uses its parent's prefetched bytes.
public struct SystemEntropy: EntropySource {
    private static let reservoir = EntropyReservoir()

    /// Creates the source.
    ///
    /// All instances are equivalent.
    public init() {}

    /// Fills the span with bytes from the operating system that no other caller receives.
    public func fill(_ bytes: inout MutableRawSpan) { Self.reservoir.fill(&bytes) }
}

/// The entropy of one journal, drawn from its source in blocks.
///
/// Blocks amortise the system call, which would cost more than a record if it was made for every 16
/// bytes.
package struct EntropyPool: Sendable {
    static let blockSize = EntropyReservoir.blockSize

    private let source: any EntropySource
    private var block: [UInt8]
    private var used: Int
    /// The process that drew the block.
    ///
    /// A forked child has a copy of the block and must not use it.
    private var process: UInt64 = 0

    /// Creates a pool that has drawn nothing yet.
    package init(_ source: any EntropySource) {
        self.source = source
        block = [UInt8](repeating: 0, count: Self.blockSize)
        used = Self.blockSize
    }

    /// Returns an integer made of fresh bytes in little-endian order.
    ///
    /// No byte is returned twice.
    package mutating func next<Number: FixedWidthInteger & BitwiseCopyable>() -> Number {
        let count = MemoryLayout<Number>.size
        let current = ForkMark.current
        if used + count > Self.blockSize || process != current {
            process = current
            block.withMutableBytes(0..<Self.blockSize) { [source] span in source.fill(&span) }
            used = 0
        }
        defer { used += count }
        return block.withBytes(used..<used + count) { $0.integer(at: 0) }
    }
}

/// Blocks of the operating system's random bytes, prefetched in the background.
///
/// The system call for one record's salt is a large part of the cost of an append, so a background
/// task prefetches blocks. The number of prefetched blocks doubles each time the reservoir runs
/// empty, so a process with few writes prefetches little.
final class EntropyReservoir: Sendable {
    static let blockSize = 4096
    /// The maximum number of ready blocks, enough for 4,096 records.
    private static let maximumReadyCount = 16

    private struct State {
        var ready: [[UInt8]] = []
        /// The number of blocks to keep ready.
        var wanted = 1
        var isRefilling = false
    }

    private let state = Lock(State())

    /// The number of ready blocks, for tests.
    var readyCount: Int { state.withLock { $0.ready.count } }

    private let process = ForkMark.current

    /// Fills the span with bytes that no other caller receives: a ready block or fresh bytes.
    ///
    /// A fork of the process that created the reservoir always receives fresh bytes: the parent has
    /// the same ready blocks, and the lock and the queue may have been in use by threads that do
    /// not exist in the child.
    func fill(_ bytes: inout MutableRawSpan) {
        guard bytes.byteCount == Self.blockSize, ForkMark.current == process else {
            return SystemCalls.fillWithEntropy(&bytes)
        }
        let (block, draws) = state.withLock { state -> ([UInt8]?, Bool) in
            let block = state.ready.popLast()
            if block == nil { state.wanted = min(2 * state.wanted, Self.maximumReadyCount) }
            let draws = !state.isRefilling && state.ready.count <= state.wanted / 2
            if draws { state.isRefilling = true }
            return (block, draws)
        }
        if draws { DispatchQueue.global(qos: .userInitiated).async { self.refill() } }
        if let block {
            block.withBytes(0..<Self.blockSize) { bytes.storeBytes($0, at: 0) }
        } else {
            SystemCalls.fillWithEntropy(&bytes)
        }
    }

    /// Draws blocks until the wanted number is ready.
    private func refill() {
        var drawn: [UInt8]?
        while true {
            let continues = state.withLock { state in
                if let drawn { state.ready.append(drawn) }
                state.isRefilling = state.ready.count < state.wanted
                return state.isRefilling
            }
            if !continues { return }
            var block = [UInt8](repeating: 0, count: Self.blockSize)
            block.withMutableBytes(0..<Self.blockSize) { SystemCalls.fillWithEntropy(&$0) }
            drawn = block
        }
    }
}
