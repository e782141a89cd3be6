import ChatDomain
import ChatTesting
import EventJournal
import Testing

@testable import Chat

/// The clock of a store, and the look-up of times.
@Suite struct WrongClockTests {
    private static let day = ClockLife.day

    /// A clock that knows no time since the boot, as that of a program written before it was asked
    /// for.
    private struct PlainClock: WallClock {
        let clock: ManualClock
        func now() -> Timestamp { clock.now() }
    }

    @Test func stepIsNotNoticedWithoutElapsedTime() throws {
        let life = try ClockLife()
        var options = life.fixture.options
        options.clock = PlainClock(clock: life.clock)
        let store = try ChatStore.open(life.fixture.directory, options: options)
        #expect(try store.post(by: ClockLife.ann) == "posted")
        life.step(days: 390)
        #expect(try store.post(by: ClockLife.ann) == "posted")
        try store.close()
        life.step(days: 401)
        let again = try ChatStore.open(life.fixture.directory, options: options)
        #expect(try again.post(by: ClockLife.ann) == "clockStepped")
        try again.close()
    }

    /// Exactly a day, and exactly 400 days, are accepted.
    @Test(arguments: [(-day, true), (-day - 1, false), (400 * day, true), (400 * day + 1, false)] as [(Int64, Bool)])
    func openingComparesWithLastTime(step: Int64, isAccepted: Bool) throws {
        let life = try ClockLife()
        life.clock.step(byMilliseconds: step)
        let store = try life.open()
        #expect(try store.post(by: ClockLife.ann) == (isAccepted ? "posted" : "clockStepped"))
        #expect((store.clockStatus.rejection == nil) == isAccepted)
        try store.close()
    }

    @Test(arguments: [Int64.min, -1, 0, 1 << 47, .max]) func emptyLogHasNoLastTime(time: Int64) throws {
        let fixture = StoreFixture()
        var options = fixture.options
        options.clock = ManualClock(Timestamp(millisecondsSince1970: time))
        let store = try ChatStore.open(fixture.directory, options: options)
        #expect(store.clockStatus.lastRecordedAt == nil && !store.clockStatus.isAhead)
        try store.executeBlocking(.registerUser(id: ClockLife.ann, username: "Ann"))
        #expect(store.clockStatus.rejection == nil)
        try store.close()
    }

    @Test func systemClockCountsElapsedTime() {
        let clock = SystemClock()
        let start = clock.elapsed()
        #expect(start != nil && clock.elapsed() ?? .zero >= start ?? .zero)
    }

    @Test func correctionNeedsAStoreForWriting() throws {
        let life = try ClockLife()
        let reader = try ChatStore.openReadOnly(life.fixture.directory, options: life.fixture.options)
        expectError("readOnly") { try reader.correctClock() }
        #expect(reader.clockStatus.rejection == nil)
        let store = try life.open()
        #expect(try store.correctClock() == ClockCorrection(to: life.start, from: life.start))
        try store.close()
        expectError("closed") { try store.correctClock() }
    }

    /// A reader that follows sees the runs of the writer.
    @Test func refreshAppliesCorrection() throws {
        let life = try ClockLife()
        let store = try life.open()
        let reader = try ChatStore.openReadOnly(life.fixture.directory, options: life.fixture.options)
        life.clock.step(byMilliseconds: Self.day)
        #expect(try store.post(by: ClockLife.ann) == "posted")
        life.clock.step(byMilliseconds: -Self.day + 1)
        #expect(try store.correctClock().position == 10)
        #expect(try reader.refresh() == 10)
        #expect(try reader.lastPosition(at: life.time(days: 1)) == 10 && reader.lastPosition(at: life.start) == 8)
        #expect(reader.clockStatus.lastRecordedAt == store.clockStatus.lastRecordedAt)
        try store.close()
    }

    /// A viewer and a client see nothing of a correction.
    @Test func onlyTheHostSeesCorrections() throws {
        let life = try ClockLife()
        let store = try life.open()
        try store.executeBlocking(.grantOperator(user: ClockLife.eve))
        life.step(days: 1)
        #expect(try store.post(by: ClockLife.ann) == "posted")
        life.step(days: -1)
        #expect(try store.correctClock().position == 11)
        #expect(try store.allEvents().last?.event == ChatEvent(recordedAt: life.start, details: .init(.clockCorrected)))
        for viewer in [ClockLife.ann, ClockLife.bob, ClockLife.eve] {
            try store.forEachEvent(matching: EventFilter(as: .user(viewer))) { recorded, _ in
                #expect(recorded.kind != .clockCorrected)
            }
        }
        try store.close()
    }

    /// The definition, compared for every time around those of a random life: a time is looked up
    /// in the latest run that begins at or before it.
    @Test(arguments: Seeds.seeds(20)) func lookUpFollowsTheDefinition(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let fixture = StoreFixture(seed: seed)
        let store = try fixture.open()
        for number in 1...40 as ClosedRange<UInt128> {
            switch number % 5 {
            case 0:
                fixture.clock.step(byMilliseconds: Int64.random(in: -40...(-1), using: &random))
                try store.correctClock()
            default: fixture.clock.advance(byMilliseconds: Int64.random(in: 0...9, using: &random))
            }
            try store.executeBlocking(.registerUser(id: UserID(bits: number), username: "user\(number)"))
        }
        let events = try store.allEvents()
        let starts = events.filter { $0.kind == .clockCorrected }.map(\.position)
        #expect(starts.count > 0)
        func naive(_ condition: (Timestamp) -> Bool) -> Position {
            let run = ([1] + starts).last { start in condition(events[Int(start) - 1].recordedAt) }
            guard let run else { return 0 }
            let end = starts.first { $0 > run } ?? Position(events.count) + 1
            return (run..<end).last { condition(events[Int($0) - 1].recordedAt) } ?? 0
        }
        for (previous, next) in zip(events, events.dropFirst()) {
            #expect(next.recordedAt >= previous.recordedAt || next.kind == .clockCorrected)
        }
        for event in events {
            for offset in -1...1 as ClosedRange<Int64> {
                let time = Timestamp(millisecondsSince1970: event.recordedAt.millisecondsSince1970 + offset)
                #expect(try store.lastPosition(at: time) == naive { $0 <= time })
                #expect(try store.lastPosition(before: time) == naive { $0 < time })
            }
        }
        try store.close()
    }
}
