internal import Dispatch
internal import Locking

/// Where a journal takes its random bytes from: its id, the framing salt of its segments, the salt of its records.
///
/// Replace it in tests (`SeededEntropy` of `ChatTesting`) to make a run the same to the byte. Record salt protects erased content from being guessed by its hash, so what
/// stores real content must use ``SystemEntropy``.
public protocol EntropySource: Sendable {
    /// Fills the whole span with fresh random bytes. Called by one thread at a time for one journal, in blocks of 4 KiB for record salt.
    func fill(_ bytes: inout MutableRawSpan)
}

/// The operating system's random generator (`getentropy`, `arc4random_buf`).
///
/// Up to 64 KiB are drawn ahead, in the background, for all journals of a process that write much. A process that is forked shares none of them with its parent: it draws its own.
public struct SystemEntropy: EntropySource {
    private static let reservoir = EntropyReservoir()

    /// Makes the source; all are alike.
    public init() {}

    /// Fills the span with bytes from the operating system that nobody else was given.
    public func fill(_ bytes: inout MutableRawSpan) { Self.reservoir.fill(&bytes) }
}

/// The entropy of one journal, drawn from its source in blocks, because a system call for every 16 bytes would cost more than the record.
struct EntropyPool {
    static let blockSize = EntropyReservoir.blockSize

    private let source: any EntropySource
    private var block: [UInt8]
    private var used: Int
    /// The process that drew the block: its forks have the block too, and must not use it.
    private var process: UInt64 = 0

    init(_ source: any EntropySource) {
        self.source = source
        block = [UInt8](repeating: 0, count: Self.blockSize)
        used = Self.blockSize
    }

    /// A number of fresh bytes, the lowest first; none is ever given out twice.
    mutating func next<Number: FixedWidthInteger & BitwiseCopyable>() -> Number {
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

/// Blocks of the operating system's random bytes, drawn before they are asked for.
///
/// The kernel takes 60 to 90 ns for the salt of one record, a third of what appending it takes in all: where many records are written one after another, another
/// processor draws for the next ones meanwhile. Whoever writes little hardly draws more than it uses: twice as much is drawn ahead each time that everything has
/// been used up.
final class EntropyReservoir: Sendable {
    static let blockSize = 4096
    /// So many blocks are ready at most, for some 4,096 records.
    private static let most = 16

    private struct State {
        var ready: [[UInt8]] = []
        /// How many blocks are to be ready.
        var wanted = 1
        var isDrawing = false
    }

    private let state = Lock(State())

    /// The number of blocks that are ready.
    var readyCount: Int { state.withLock { $0.ready.count } }

    private let process = ForkMark.current

    /// Fills a span with bytes that no other caller gets: a block that is ready, or fresh ones.
    ///
    /// In a fork of the process that made the reservoir they are always fresh ones: what is ready is ready in the parent as well, and the lock and the queue may have been
    /// in use by threads that the child does not have.
    func fill(_ bytes: inout MutableRawSpan) {
        guard bytes.byteCount == Self.blockSize, ForkMark.current == process else { return SystemCalls.fillWithEntropy(&bytes) }
        let (block, draws) = state.withLock { state -> ([UInt8]?, Bool) in
            let block = state.ready.popLast()
            if block == nil { state.wanted = min(2 * state.wanted, Self.most) }
            let draws = !state.isDrawing && state.ready.count <= state.wanted / 2
            if draws { state.isDrawing = true }
            return (block, draws)
        }
        if draws { DispatchQueue.global(qos: .userInitiated).async { self.draw() } }
        if let block { block.withBytes(0..<Self.blockSize) { bytes.copy($0, to: 0) } } else { SystemCalls.fillWithEntropy(&bytes) }
    }

    /// Draws blocks until there are enough.
    private func draw() {
        var drawn: [UInt8]?
        while true {
            let goesOn = state.withLock { state in
                if let drawn { state.ready.append(drawn) }
                state.isDrawing = state.ready.count < state.wanted
                return state.isDrawing
            }
            if !goesOn { return }
            var block = [UInt8](repeating: 0, count: Self.blockSize)
            block.withMutableBytes(0..<Self.blockSize) { SystemCalls.fillWithEntropy(&$0) }
            drawn = block
        }
    }
}
