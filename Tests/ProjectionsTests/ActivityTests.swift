import ChatDomain
import ChatTesting
import Testing

@testable import Projections

@Suite struct ActivityTests {
    /// Compares run-length counts per day with a plain list of all posts' days, as of every
    /// position in it.
    @Test(arguments: Seeds.seeds(6)) func runsEqualPlainList(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var runs = PostRuns()
        var days: [Int] = []
        while days.count < 1_500 {
            // Long runs of the server's own days, and an import with alternating days.
            let day = Int.random(in: 0..<12, using: &random)
            for _ in 0..<(random.oneIn(3) ? Int.random(in: 1...60, using: &random) : 1) {
                runs.append(days.count, on: day)
                days.append(day)
            }
        }
        for cut in 0...days.count where cut % 7 == 0 || cut == days.count {
            var expected = Array(repeating: 0, count: 13)
            for day in days[..<cut] { expected[day] += 1 }
            #expect((0..<13).map { runs.count(on: $0, ofFirst: cut) } == expected)
        }
        #expect(runs.count(on: 3, ofFirst: .max) == days.count { $0 == 3 })
    }

    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let thread = ThreadID(bits: 3)

    private func models(_ facts: [(milliseconds: Int64, sentAt: Int64?, details: EventDetails)]) -> ReadModels {
        var models = ReadModels()
        for (index, one) in facts.enumerated() {
            let origin: EventOrigin =
                one.sentAt.map { .imported(sentAt: Timestamp(millisecondsSince1970: $0)) } ?? .native
            models.apply(
                ChatEvent(
                    recordedAt: Timestamp(millisecondsSince1970: one.milliseconds), origin: origin, details: one.details
                ),
                at: Position(index + 1))
        }
        return models
    }

    private func message(_ number: UInt64) -> EventDetails {
        .init(
            .messagePosted, .message(thread: thread, number: number, message: MessageID(bits: UInt128(number)), by: ann)
        )
    }

    @Test func dayFollowsDisplayedTime() {
        let day: Int64 = 86_400_000
        let models = models([
            (3 * day - 1, nil, .init(.userRegistered, .user(ann))),
            (3 * day, -1, .init(.userRegistered, .user(bob))),
            (3 * day, nil, .init(.sessionStarted, .session(user: bob, session: SessionID(bits: 4)))),
            (3 * day, nil, message(1)), (3 * day, 0, message(2)), (3 * day, -day, message(3)),
            (3 * day, nil, message(4)),
            (4 * day, nil, .init(.sessionEnded, .session(user: bob, session: SessionID(bits: 4)))),
        ])
        let shown = models.activity(asOf: 8)
        #expect(shown.map(\.day.description) == ["1969-12-31", "1970-01-01", "1970-01-03", "1970-01-04"])
        #expect(shown.map(\.registrationCount) == [1, 0, 1, 0])
        #expect(shown.map(\.sessionCount) == [0, 0, 0, 1])
        #expect(shown.map(\.activeUserCount) == [2, 1, 1, 2])
        #expect(shown.map(\.messageCount) == [1, 1, 0, 2])
        #expect(models.activity(asOf: 3).map(\.activeUserCount) == [1, 1, 1])
        #expect(models.activity(asOf: 0) == [])
        let first = CalendarDay(daysSince1970: 0)
        #expect(models.activity(from: first, to: CalendarDay(daysSince1970: 2), asOf: 8).map(\.messageCount) == [1, 0])
        #expect(models.activity(from: first, to: CalendarDay(daysSince1970: -1), asOf: 8) == [])
    }

    /// A raw record can hold any time.
    @Test func timesBeyondCalendarHaveDays() {
        let models = models([(0, .min, message(1)), (0, .max, message(2))])
        let days = models.activity(asOf: 2).map(\.day)
        #expect(
            days == [
                CalendarDay(Timestamp(millisecondsSince1970: .min)),
                CalendarDay(Timestamp(millisecondsSince1970: .max)),
            ])
        #expect(days.map(\.description) == ["-292275055-05-16", "+292278994-08-17"])
        #expect(CalendarDay(daysSince1970: .min).description == "-292275055-05-16")
        #expect(CalendarDay(daysSince1970: .max).description == "+292278994-08-17")
    }

    /// The expected day is the time divided by the length of a day, rounded down.
    @Test(arguments: Seeds.seeds(2)) func timesBelongToTheirDay(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let day: Int64 = 86_400_000
        let some = (0..<200).map { _ in
            Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<40, using: &random)
        }
        for moment in some + [
            .min, .min + 1, .min + day, -day, -day - 1, -1, 0, 1, day - 1, day, .max - day, .max - 1, .max,
        ] {
            let number = moment >= 0 ? moment / day : (moment + 1) / day - 1
            #expect(CalendarDay(Timestamp(millisecondsSince1970: moment)).daysSince1970 == number)
        }
    }

    @Test func daysRoundTripAsText() {
        for text in ["1970-01-01", "1969-12-31", "2024-02-29", "0000-01-01", "9999-12-31"] {
            #expect(CalendarDay(text)?.description == text)
        }
        #expect(CalendarDay("1970-01-02") == CalendarDay(daysSince1970: 1))
        for text in ["", "2023-02-29", "2024-2-29", "2024-02-29T", "20240229", "2024-02-29 ", "٢٠٢٤-٠٢-٢٩"] {
            #expect(CalendarDay(text) == nil)
        }
    }
}
