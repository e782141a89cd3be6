import Primitives
import TestSupport
import Testing

@Suite struct LEB128Tests {
    /// The largest value of each length, and the values beside it.
    private static let edges: [UInt64] = {
        var edges: [UInt64] = [0, 1, .max - 1, .max]
        for length in 1...9 {
            let next = UInt64(1) << UInt64(7 * length)
            edges += [next - 1, next, next + 1]
        }
        return edges
    }()

    /// Returns random values of all lengths.
    private static func values(_ count: Int, _ random: inout SplitMix64) -> [UInt64] {
        (0..<count).map { _ in
            let bits = random.next()
            return bits >> UInt64.random(in: 0...63, using: &random)
        }
    }

    private func decode(_ bytes: [UInt8], limit: UInt64 = .max) -> LEB128.Decoding {
        bytes.withBytes { LEB128.decode($0, at: 0, limit: limit) }
    }

    @Test func shortestFormRoundTrips() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        for value in Self.edges + Self.values(200, &random) {
            var bytes: [UInt8] = []
            LEB128.append(value, to: &bytes)
            #expect(bytes.count == LEB128.size(value))
            var stored = [UInt8](repeating: 0xEE, count: bytes.count + 2)
            let end = stored.withMutableBytes(1..<stored.count) { LEB128.store(value, to: &$0, at: 0) }
            #expect(end == bytes.count && stored == [0xEE] + bytes + [0xEE])
            guard case .value(let found, let next) = decode(bytes) else {
                Issue.record("\(value) does not decode")
                continue
            }
            #expect(found == value && next == bytes.count)
            // Bytes after the value are ignored.
            guard case .value(value, next: bytes.count) = decode(bytes + [0x80]) else {
                Issue.record("\(value) does not decode before other bytes")
                continue
            }
            for count in 0..<bytes.count {
                guard case .incomplete = decode(Array(bytes.prefix(count))) else {
                    Issue.record("\(value) decodes from \(count) bytes")
                    continue
                }
            }
        }
    }

    @Test func longerFormsAreInvalid() {
        for value in Self.edges {
            var bytes: [UInt8] = []
            LEB128.append(value, to: &bytes)
            bytes[bytes.count - 1] |= 0x80
            guard case .invalid = decode(bytes + [0]) else {
                Issue.record("\(value) decodes with a byte too many")
                continue
            }
        }
    }

    @Test func bitsBeyond64AreInvalid() {
        let nine = [UInt8](repeating: 0xFF, count: 9)
        for last: [UInt8] in [[2], [3], [0x7F], [0x81], [0x81, 1], [0xFF]] {
            guard case .invalid = decode(nine + last) else {
                Issue.record("\(last) ends a value")
                continue
            }
        }
    }

    @Test func valuesBeyondLimitAreInvalid() {
        var random = SplitMix64(seed: Repetitions.seed)
        for limit: UInt64 in [0, 100, 127, 128, 16_383, 16_384, 65_535, 4_194_307, 1 << 28 - 1, 1 << 63] {
            for value in Self.edges + [limit, limit + 1] + Self.values(20, &random) {
                var bytes: [UInt8] = []
                LEB128.append(value, to: &bytes)
                switch decode(bytes, limit: limit) {
                case .value(let found, _): #expect(found == value && value <= limit, "limit \(limit)")
                case .invalid: #expect(value > limit, "limit \(limit)")
                case .incomplete: Issue.record("\(value) is incomplete")
                }
            }
        }
        // Needs no further byte: every continuation is beyond the limit.
        for bytes: [UInt8] in [[0xFF, 0xFF, 0xFF, 0xFF], [0x84, 0x80, 0x80, 0x82], [0x80, 0x80, 0x80, 0x80]] {
            guard case .invalid = decode(bytes, limit: 4_194_307) else {
                Issue.record("\(bytes) is not invalid")
                continue
            }
        }
    }
}
