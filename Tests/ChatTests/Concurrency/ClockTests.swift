@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Projections
import TestSupport
import Testing

/// A wrong clock affects the recorded times only.
@Suite struct ClockTests {
    /// The reading of a clock, given the true time.
    enum Skew: CaseIterable {
        case aDayAhead, aDayBehind, jumping, standing, backwards

        fileprivate func read(_ time: Int64, _ random: inout SeededRandom) -> Int64 {
            let day: Int64 = 86_400_000
            return switch self {
            case .aDayAhead: time + day
            case .aDayBehind: time - day
            // A jump is at most a day, which a store believes.
            case .jumping: time + Int64.random(in: -day / 2...day / 2, using: &random)
            case .standing: 1_584_921_600_000
            case .backwards: 2 * 1_584_921_600_000 - time
            }
        }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 6)), Skew.allCases)
    func wrongClockKeepsOrderCountsAndPages(seed: UInt64, skew: Skew) throws {
        let straight = try run(seed) { time, _ in time }
        let wrong = try run(seed) { skew.read($0, &$1) }
        #expect(wrong.answers == straight.answers)
        let (events, expected) = (try wrong.store.allEvents(), try straight.store.allEvents())
        #expect(events.map(untimed) == expected.map(untimed))
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.event.recordedAt <= $1.event.recordedAt })
        #expect(try views(of: wrong.store, events.count) == views(of: straight.store, events.count))
        #expect(events.count > 150)
    }

    /// The binary search for a time requires recorded times that never decrease.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 6))) func jumpingClockKeepsPositionsOfTimes(seed: UInt64) throws
    {
        let store = try run(seed) { Skew.jumping.read($0, &$1) }.store
        let events = try store.allEvents()
        for recorded in events {
            let time = recorded.event.recordedAt
            #expect(try store.lastPosition(at: time) == events.last { $0.event.recordedAt <= time }?.position ?? 0)
            #expect(try store.lastPosition(before: time) == events.last { $0.event.recordedAt < time }?.position ?? 0)
        }
    }

    /// Executes the commands of a seed under a clock that maps the true time.
    ///
    /// The commands are one second apart. The store closes and reopens after every 100 commands.
    ///
    /// - Parameter read: Maps the true time to the reading of the clock.
    private func run(
        _ seed: UInt64, _ read: (Int64, inout SeededRandom) -> Int64
    ) throws -> (store: ChatStore, answers: [[Position]?]) {
        let fixture = StoreFixture(seed: seed, segmentSize: 4_096)
        var store = try fixture.open()
        var generator = CommandGenerator(seed: seed)
        var random = SeededRandom(seed: seed)
        var answers: [[Position]?] = []
        for number in 0..<400 as Range<Int64> {
            let reading = read(1_584_921_600_000 + 1_000 * number, &random)
            fixture.clock.advance(byMilliseconds: reading - fixture.clock.now().millisecondsSince1970)
            let result = try answer(generator.nextRequest(), of: store)
            answers.append((try? result.get())?.events.map(\.position))
            if number % 100 == 99 {
                try store.close()
                store = try fixture.open()
            }
        }
        return (store, answers)
    }

    /// Returns the event with a recorded time of 0.
    private func untimed(_ recorded: RecordedEvent) -> RecordedEvent {
        var recorded = recorded
        recorded.event.recordedAt = Timestamp(millisecondsSince1970: 0)
        return recorded
    }

    /// Returns the views of a store without times, now and as of two earlier positions.
    private func views(of store: ChatStore, _ count: Int) throws -> [Views] {
        try [AsOf.now, .position(Position(count / 3)), .position(Position(count / 2))].map { moment in
            let threads = try store.reader(as: .host, asOf: moment).threads(page: .latest(.max))
            let facts = try store.allEvents().map(\.event.details)
            let users = facts.compactMap {
                if case (.userRegistered, .user(let itsUser)) = ($0.kind, $0.shape) { itsUser } else { nil }
            }
            return Views(
                threads: threads.map {
                    Views.Thread(id: $0.id, members: $0.memberCount, messages: $0.messageCount, last: $0.lastPosition)
                },
                timelines: try threads.map { try pages(of: $0.id, store, moment) },
                users: try users.filter { try store.isUser($0, asOf: moment) }.map {
                    try store.reader(as: .host, asOf: moment).user($0)
                }.map {
                    user in
                    user.threads.map { Views.Membership(thread: $0.id, unread: $0.unreadCount, readUpTo: $0.readUpTo) }
                })
        }
    }

    /// Returns the pages of a thread's messages, oldest first.
    private func pages(of thread: ThreadID, _ store: ChatStore, _ moment: AsOf) throws -> [[Views.Entry]] {
        var pages: [[Views.Entry]] = []
        var page = try store.reader(as: .host, asOf: moment).timeline(thread, page: .after(0, limit: 3))
        while let last = page.last {
            pages.append(
                page.map {
                    Views.Entry(position: $0.position, id: $0.message, body: $0.body, replyCount: $0.replyCount)
                })
            page = try store.reader(as: .host, asOf: moment).timeline(
                thread, page: .after(last.position, limit: 3))
        }
        return pages
    }
}

/// The views of a store without times.
private struct Views: Equatable {
    struct Thread: Equatable {
        var id: ThreadID
        var members: Int
        var messages: Int
        var last: Position
    }

    struct Entry: Equatable {
        var position: Position
        var id: MessageID
        var body: String?
        var replyCount: Int
    }

    struct Membership: Equatable {
        var thread: ThreadID
        var unread: Int
        var readUpTo: Position
    }

    var threads: [Thread]
    var timelines: [[[Entry]]]
    /// By user, in the order of registration.
    var users: [[Membership]]
}
