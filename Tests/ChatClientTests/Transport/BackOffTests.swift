#if Client || canImport(SQLite3)
    import ChatClient
    import Foundation
    import TestSupport
    import Testing

    @Suite struct BackOffTests {
        /// Gives always the least or the greatest random number.
        private struct Extreme: RandomNumberGenerator {
            let value: UInt64
            func next() -> UInt64 { value }
        }

        @Test func boundsDoubleUpToAMinute() {
            var greatest = Extreme(value: .max)
            var least = Extreme(value: 0)
            let expected: [Double] = [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60]
            for (index, seconds) in expected.enumerated() {
                let wait = BackOff.wait(before: index + 1, using: &greatest)
                #expect(wait <= .seconds(seconds) && wait > .seconds(seconds * 0.99), "attempt \(index + 1): \(wait)")
                #expect(BackOff.wait(before: index + 1, using: &least) == .zero)
            }
            for attempt in [0, -1, .min, .max] {
                #expect(BackOff.wait(before: attempt, using: &greatest) <= BackOff.longest)
            }
        }

        @Test func waitsSpreadOverTheWholeRange() {
            var generator = SplitMix64(seed: Repetitions.seed)
            let waits = (0..<1_000).map { _ in BackOff.wait(before: 3, using: &generator) }
            #expect(waits.allSatisfy { $0 >= .zero && $0 <= .seconds(2) })
            for quarter in 0..<4 {
                let range = Duration.seconds(0.5 * Double(quarter))..<Duration.seconds(0.5 * Double(quarter + 1))
                #expect((150...350).contains(waits.count { range.contains($0) }), "seed \(Repetitions.seed)")
            }
        }

        @Test func retryAfterIsTheLeastWaitUpToAnHour() {
            var greatest = Extreme(value: .max)
            var least = Extreme(value: 0)
            #expect(BackOff.wait(before: 1, retryAfter: .seconds(30), using: &least) == .seconds(30))
            #expect(BackOff.wait(before: 1, retryAfter: .seconds(30), using: &greatest) <= .seconds(30.5))
            #expect(BackOff.wait(before: 9, retryAfter: .seconds(3_590), using: &greatest) == .seconds(3_600))
            #expect(BackOff.wait(before: 1, retryAfter: .seconds(86_400), using: &least) == .seconds(3_600))
            #expect(BackOff.wait(before: 1, retryAfter: .seconds(-5), using: &least) == .zero)
        }

        @Test(
            arguments: [
                ("120", 120), (" 5 ", 5), ("0", 0), ("99999999999999999999", 2_147_483_647),
                ("Sun, 06 Nov 1994 08:49:37 GMT", 60),
                ("Sunday, 06-Nov-94 08:49:37 GMT", 60), ("Sun Nov  6 08:49:37 1994", 60),
                ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
                ("", nil), ("soon", nil), ("-1", nil), ("1.5", nil), ("12 s", nil),
                (String(repeating: "1", count: 65), nil),
            ] as [(String, Int?)])
        func headerIsSecondsOrADate(text: String, seconds: Int?) {
            // 1994-11-06T08:48:37Z.
            #expect(
                RetryAfter.parse(text, now: Date(timeIntervalSince1970: 784_111_717)) == seconds.map { .seconds($0) })
        }
    }
#endif
