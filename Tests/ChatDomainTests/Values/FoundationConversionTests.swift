import ChatDomain
import ChatTesting
import Foundation
import Testing

@Suite struct FoundationConversionTests {
    @Test func idsAndUUIDsShareTheirText() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<200 {
            let id = MessageID(bits: UInt128(random.next()) << 64 | UInt128(random.next()))
            #expect(id.uuid.uuidString.lowercased() == id.description)
            #expect(MessageID(id.uuid) == id)
        }
    }

    @Test func millisecondsOfFourDigitYearsRoundTripThroughDate() throws {
        var random = SeededRandom(seed: 2)
        let first = try #require(Timestamp("0000-01-01T00:00:00.000Z")).millisecondsSince1970
        let last = try #require(Timestamp("9999-12-31T23:59:59.999Z")).millisecondsSince1970
        for milliseconds in [first, -1, 0, 1, last]
            + (0..<5_000).map({ _ in Int64.random(in: first...last, using: &random) })
        {
            let time = Timestamp(millisecondsSince1970: milliseconds)
            #expect(Timestamp(time.date) == time)
        }
    }

    @Test func datesOutOfRangeAreClamped() {
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).millisecondsSince1970 == .max)
        #expect(Timestamp(Date(timeIntervalSince1970: -1e300)).millisecondsSince1970 == .min)
        #expect(Timestamp(Date(timeIntervalSince1970: .nan)).millisecondsSince1970 == 0)
    }
}
