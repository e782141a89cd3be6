internal import Locking

/// Where a journal takes its random bytes from: its id, the framing salt of its segments, the salt of its records.
///
/// Replace it in tests to make a run the same to the byte. Record salt protects erased content from being guessed by its hash, so what
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

/// A deterministic source for tests: the same seed gives the same bytes.
///
/// The generator is SplitMix64 (Steele, Lea and Flood, 2014), each output stored little-endian. Not fit for secrets.
public final class SeededEntropy: EntropySource {
    private let state: Lock<UInt64>

    /// Starts the sequence of this seed.
    public init(seed: UInt64) {
        state = Lock(seed)
    }

    /// Fills the span with the next bytes of the sequence.
    public func fill(_ bytes: inout MutableRawSpan) {
        var offset = 0
        while offset < bytes.byteCount {
            var word = next()
            for _ in 0..<min(8, bytes.byteCount - offset) {
                bytes.storeByte(UInt8(truncatingIfNeeded: word), at: offset)
                word >>= 8
                offset += 1
            }
        }
    }

    private func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }
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
