public import EventJournal
internal import Locking

/// A deterministic entropy source for tests: the same seed gives the same bytes.
///
/// Uses the generator of ``SeededRandom``, with each output stored little-endian. Not suitable for
/// secrets: the salt of a record prevents guessing erased content, so a journal of real content
/// needs `SystemEntropy`.
public final class SeededEntropy: EntropySource {
    private let random: Lock<SeededRandom>

    /// Creates the sequence of a seed.
    public init(seed: UInt64) {
        random = Lock(SeededRandom(seed: seed))
    }

    /// Fills the span with the next bytes of the sequence.
    public func fill(_ bytes: inout MutableRawSpan) {
        var offset = 0
        while offset < bytes.byteCount {
            var word = random.withLock { $0.next() }
            for _ in 0..<min(8, bytes.byteCount - offset) {
                bytes.storeBytes(of: UInt8(truncatingIfNeeded: word), toByteOffset: offset, as: UInt8.self)
                word >>= 8
                offset += 1
            }
        }
    }
}
