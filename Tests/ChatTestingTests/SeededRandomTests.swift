import ChatTesting
import Testing

/// The random number generator implements its documented algorithm.
struct SeededRandomTests {
    /// The first numbers that the authors' reference program prints for this seed.
    @Test func numbersMatchSplitMix64() {
        var random = SeededRandom(seed: 1_234_567)
        let numbers = (0..<5).map { _ in random.next() }
        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ])
    }

    @Test func bits128JoinsTwoNumbersHighFirst() {
        var random = SeededRandom(seed: 1_234_567)
        let bits = random.bits128()
        #expect(bits == UInt128(6_457_827_717_110_365_317) << 64 | 3_203_168_211_198_807_973)
    }

    @Test(arguments: Seeds.seeds(5)) func oneInHasExpectedFrequency(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = (0..<10_000).count { _ in random.oneIn(10) }
        // Six standard deviations of the binomial distribution.
        #expect((820...1_180).contains(count))
        let always = random.oneIn(1)
        #expect(always)
    }

    @Test func seedsStartAtRequestedNumber() {
        let seeds = Seeds.seeds(3, from: 40)
        // To replay a failure, the environment variable replaces all seeds with one.
        #expect(seeds == [40, 41, 42] || seeds.count == 1)
    }
}
