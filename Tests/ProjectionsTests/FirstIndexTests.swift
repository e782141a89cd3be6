import ChatDomain
import ChatTesting
import TestSupport
import Testing

@testable import Projections

/// The start of a page in a list, for any distribution of positions.
@Suite struct FirstIndexTests {
    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 12))) func firstIndexNeedsFewProbes(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for count in [0, 1, 2, 9, 10, 300, 5_000] {
            for spread in 0..<4 {
                var positions: [Position] = []
                var position: Position = 0
                for index in 0..<count {
                    switch spread {
                    case 0: position += 1
                    case 1: position += UInt64.random(in: 1...9, using: &random)
                    // Bursts, then lists that are the worst case of interpolation.
                    case 2: position += random.oneIn(50) ? UInt64.random(in: 1...1 << 40, using: &random) : 1
                    default: position = index < 40 ? 1 << UInt64(index) : position + 1
                    }
                    positions.append(position)
                }
                var bounds: [Position] = [0, 1, .max - 1, .max]
                for _ in 0..<100 { bounds.append(UInt64.random(in: 0...max(1, positions.last ?? 1), using: &random)) }
                for position in positions.suffix(50) + positions.prefix(50) {
                    bounds += [position - 1, position, position &+ 1]
                }
                var looks = 0
                for bound in bounds {
                    var most = 0
                    let found = firstIndex(of: count, from: bound) {
                        most += 1
                        return positions[$0]
                    }
                    #expect(found == positions.firstIndex { $0 >= bound } ?? count)
                    #expect(most <= 2 + 8 + 13)
                    looks += most
                }
                // Binary search needs twelve probes for the longest list.
                if spread < 2 && count == 5_000 { #expect(looks < bounds.count * 8) }
            }
        }
    }
}
