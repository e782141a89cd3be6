import ChatDomain
import ChatTesting
import TestSupport
import Testing

@testable import Projections

/// Compares ``VersionChains`` with plain arrays, one per chain.
@Suite struct VersionsTests {
    private struct Model {
        var versions = VersionChains<UInt64>()
        var newest: [VersionChains<UInt64>.Link]
        var chains: [[(position: Position, value: UInt64)]]
        var position: Position

        init(chains count: Int, after position: Position = 0) {
            newest = Array(repeating: 0, count: count)
            chains = Array(repeating: [], count: count)
            self.position = position
        }

        mutating func append(to chain: Int, _ random: inout SeededRandom) {
            // Some positions have two versions: an event that changes a value twice.
            position += UInt64.random(in: random.oneIn(20) ? 0...0 : 1...9, using: &random)
            let value = UInt64.random(in: 0...3, using: &random)
            versions.append(value, at: position, to: &newest[chain])
            chains[chain].append((position, value))
        }

        func expectEqual(_ chain: Int, asOf position: Position) {
            let seen = chains[chain].filter { $0.position <= position }
            let version = versions.version(newest[chain], asOf: position)
            #expect(version?.position == seen.last?.position)
            #expect(version?.value == seen.last?.value)
            #expect(Int(version?.rank ?? 0) == seen.count)
            #expect(versions.count(newest[chain], asOf: position) == seen.count)
        }

        func expectEqual(_ chain: Int, ranks: Range<Int>) {
            let those = versions.versions(newest[chain], ranks: ranks)
            let expected = chains[chain][ranks.lowerBound - 1..<ranks.upperBound - 1]
            #expect(those.map(\.position) == expected.map(\.position))
            #expect(those.map(\.value) == expected.map(\.value))
            #expect(those.map { Int($0.rank) } == Array(ranks))
        }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 6))) func chainsInOneColumnAreIndependent(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var model = Model(chains: 5, after: random.oneIn(2) ? 0 : 1 << 32 - 1_000)
        let start = model.position
        // Chains of very different lengths: the first has half of all versions, the last a
        // sixteenth.
        for _ in 0..<6_000 {
            model.append(to: min(4, UInt64.random(in: 0...UInt64.max, using: &random).leadingZeroBitCount), &random)
        }
        #expect(model.chains[0].count > 2_000 && model.chains.allSatisfy { !$0.isEmpty })
        for chain in model.chains.indices {
            for _ in 0..<120 {
                model.expectEqual(chain, asOf: UInt64.random(in: start...model.position + 2, using: &random))
            }
            for position in [0, start, model.position, .max] { model.expectEqual(chain, asOf: position) }
            let count = model.chains[chain].count
            for _ in 0..<60 {
                let lower = Int.random(in: 1...count, using: &random)
                let rank = Int.random(in: 1...count, using: &random)
                model.expectEqual(chain, ranks: lower..<Int.random(in: lower...count + 1, using: &random))
                #expect(
                    model.versions.position(model.newest[chain], rank: rank) == model.chains[chain][rank - 1].position)
            }
            model.expectEqual(chain, ranks: 1..<count + 1)
        }
    }

    /// Tests every length up to several hundred, because the length determines the jump pointers of
    /// a chain.
    @Test func everyChainLengthAnswersAtEveryPosition() {
        var versions = VersionChains<UInt64>()
        var newest: VersionChains<UInt64>.Link = 0
        for length in 1...300 {
            versions.append(UInt64(length), at: UInt64(2 * length), to: &newest)
            let ranks = (0...2 * length + 1).map { Int(versions.version(newest, asOf: Position($0))?.rank ?? 0) }
            #expect(ranks == (0...2 * length + 1).map { $0 / 2 })
        }
    }

    @Test func emptyChainHasNoVersions() {
        let versions = VersionChains<UInt32>()
        #expect(versions.version(0, asOf: .max) == nil)
        #expect(versions.count(0, asOf: .max) == 0)
        #expect(versions.versions(0, ranks: 1..<1).isEmpty)
    }
}
