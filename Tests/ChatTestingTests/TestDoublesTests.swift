import Chat
import ChatDomain
import ChatTesting
import Testing

/// The manual clock and the seeded ids are deterministic.
struct TestDoublesTests {
    @Test func clockMovesOnlyOnRequest() {
        let clock = ManualClock(Timestamp(millisecondsSince1970: 100))
        #expect(clock.now() == clock.now())
        clock.advance(byMilliseconds: 50)
        #expect(clock.now().millisecondsSince1970 == 150)
        clock.advance(byMilliseconds: -150)
        #expect(clock.now().millisecondsSince1970 == 0)
    }

    @Test(arguments: Seeds.seeds(5)) func sameSeedGivesSameIDs(seed: UInt64) {
        let first = SeededIDs(seed: seed)
        let second = SeededIDs(seed: seed)
        let time = Timestamp.testStart
        let ids = (0..<100).map { _ in first.makeID(at: time) }
        #expect(ids == (0..<100).map { _ in second.makeID(at: time) })
        #expect(Set(ids).count == 100)
        for id in ids {
            #expect(id >> 80 == UInt128(time.millisecondsSince1970))
            #expect(id >> 76 & 0xF == 7)
            #expect(id >> 62 & 0x3 == 2)
        }
    }
}
