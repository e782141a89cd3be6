import Primitives

#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    import ForkedProcess
    import Testing

    @testable import EventJournal

    /// A process and its forks never receive the same random bytes.
    ///
    /// Each test runs in its own process, which forks. Unsafe: the child process receives an
    /// address.
    @Suite struct ForkTests {
        /// The sources of random bytes that parent and child share at the fork.
        final class Source {
            let reservoir = EntropyReservoir()
            var pool = EntropyPool(SystemEntropy())

            /// Draws numbers alternately from the pool of a journal and from whole blocks.
            func draw(_ numbers: inout [UInt64]) {
                for index in numbers.indices {
                    guard index % 4 == 3 else {
                        numbers[index] = pool.next()
                        continue
                    }
                    var block = [UInt8](repeating: 0, count: EntropyReservoir.blockSize)
                    block.withMutableBytes(0..<block.count) { reservoir.fill(&$0) }
                    numbers[index] = block.withBytes(0..<8) { $0.integer(at: 0) }
                }
            }

            /// Draws in a forked child.
            ///
            /// Returns nil if the child fails.
            func drawForked(_ way: Int32, _ count: Int) -> [UInt64]? {
                var numbers = [UInt64](repeating: 0, count: count)
                let status = unsafe numbers.withUnsafeMutableBufferPointer { buffer in
                    unsafe forked_draw(
                        way,
                        { context, numbers, count in
                            guard let context = unsafe context, let numbers = unsafe numbers else { return }
                            let source = unsafe Unmanaged<Source>.fromOpaque(context).takeUnretainedValue()
                            var drawn = [UInt64](repeating: 0, count: Int(count))
                            source.draw(&drawn)
                            for index in drawn.indices { unsafe numbers[index] = drawn[index] }
                        }, Unmanaged.passUnretained(self).toOpaque(), buffer.baseAddress, Int32(buffer.count))
                }
                return status == 0 ? numbers : nil
            }
        }

        /// Draws in two children and in the parent.
        ///
        /// Returns the count of values that any two of them share.
        static func repeated(_ way: Int32) -> Int? {
            let source = Source()
            var first = [UInt64](repeating: 0, count: 400)
            // Enough draws to make the reservoir prefetch: without prefetched bytes, no byte could
            // repeat.
            source.draw(&first)
            var patience = 10_000
            while source.reservoir.readyCount < 4 && patience > 0 {
                patience -= 1
                SystemCalls.pause(.milliseconds(1))
            }
            guard let one = source.drawForked(way, 40), let other = source.drawForked(way, 40) else { return nil }
            var own = [UInt64](repeating: 0, count: 40)
            source.draw(&own)
            let all = first + one + other + own
            return all.count - Set(all).count
        }

        @Test func forkRepeatsNoBytes() async {
            await #expect(processExitsWith: .success) { #expect(ForkTests.repeated(0) == 0) }
        }

        #if os(Linux)
            @Test func rawForkRepeatsNoBytes() async {
                await #expect(processExitsWith: .success) { #expect(ForkTests.repeated(1) == 0) }
            }
        #endif
    }
#endif
