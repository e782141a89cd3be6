import Dispatch
import Locking
import Primitives
import Testing

@testable import EventJournal

@Suite struct EntropyTests {
    /// Random blocks are prefetched and shared among threads.
    ///
    /// Two threads with the same block would write the same salt.
    @Test func concurrentBlocksAreDistinct() {
        let source = SystemEntropy()
        let given = Lock<[[UInt8]]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for turn in 0..<200 {
                // Most requests have the prefetched size; one in ten has another.
                var block = [UInt8](repeating: 0, count: turn % 10 == 0 ? 48 : 4_096)
                block.withMutableBytes(0..<block.count) { source.fill(&$0) }
                given.withLock { $0.append(block) }
            }
        }
        let blocks = given.withLock { $0 }
        let salts = blocks.flatMap { block in
            stride(from: 0, to: block.count, by: 16).map { Array(block[$0..<$0 + 16]) }
        }
        #expect(salts.count == 8 * (180 * 256 + 20 * 3))
        #expect(Set(salts).count == salts.count)
    }
    @Test func poolNeverRepeatsBytes() {
        var pool = EntropyPool(SystemEntropy())
        var halves: [UInt64] = []
        for turn in 0..<2_000 {
            if turn % 3 == 0 {
                halves.append(pool.next())
            } else {
                let salt: RecordSalt = pool.next()
                halves += [UInt64(truncatingIfNeeded: salt), UInt64(truncatingIfNeeded: salt >> 64)]
            }
        }
        #expect(Set(halves).count == halves.count)
    }
}
