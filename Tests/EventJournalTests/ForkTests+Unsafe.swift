#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    import ForkedProcess
    import Testing

    @testable import EventJournal

    /// A process and its forks are never given the same random bytes.
    ///
    /// Each runs in a process of its own, which forks; unsafe, because the child is given an address.
    @Suite struct ForkTests {
        /// What parent and child draw from, as it is at the fork.
        final class Source {
            let reservoir = EntropyReservoir()
            var pool = EntropyPool(SystemEntropy())

            /// Draws numbers: by turns from the pool of a journal and from whole blocks.
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

            /// Draws in the child of a fork; returns what came, nil if the child failed.
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

        /// Draws in two children of one process and in itself, and tells what any two had in common.
        static func repeated(_ way: Int32) -> Int? {
            let source = Source()
            var first = [UInt64](repeating: 0, count: 400)
            // As much as makes the reservoir draw ahead; until it has, there is nothing that could be given out twice.
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

        @Test func aForkRepeatsNothing() async {
            await #expect(processExitsWith: .success) { #expect(ForkTests.repeated(0) == 0) }
        }

        #if os(Linux)
            @Test func aForkThatTheCLibraryIsNotToldOfRepeatsNothing() async {
                await #expect(processExitsWith: .success) { #expect(ForkTests.repeated(1) == 0) }
            }
        #endif
    }
#endif
